"""A pytest plugin for runs that have everything: a test that skips has failed (`-p tests.servers.no_skips`)."""

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, though the servers are up: {report.longrepr}"
    return report
