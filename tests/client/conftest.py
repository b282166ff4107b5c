"""Logs of the client tests: quiet."""

from clew_services.runtime.observe import configure_logging

configure_logging("error")
