"""Logs of the flow tests: quiet, and never rich tracebacks with locals."""

from clew_services.runtime.observe import configure_logging

configure_logging("error")
