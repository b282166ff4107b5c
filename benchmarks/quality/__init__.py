"""Quality of retrieval and answers on labelled questions: `python -m benchmarks.quality`, or `make eval`."""
