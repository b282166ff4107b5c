"""Hypothesis profiles: ``default`` explores a little anew on each run, ``ci`` is the same every time and looks harder."""

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("default", max_examples=25, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
