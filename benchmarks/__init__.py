"""Measurements. ``python -m benchmarks --help``; figures are ratios beside a baseline of the same run."""
