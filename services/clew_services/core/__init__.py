"""Decisions: pure functions of values. No clock, no I/O, no async."""
