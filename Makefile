# Clew: every target calls what it needs, so each works on a fresh clone.
# Only Python 3.11 or newer is needed, and for the real servers Java, Maven and PostgreSQL as well.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DISTRIBUTIONS := schema translators services
PACKAGES := schema/clew_schema translators/clew_translators services/clew_services
UV_VERSION := 0.13.9

.DEFAULT_GOAL := help
.PHONY: help setup demo test check test-servers servers-up servers-down simulate soak fuzz bench bench-decisions eval docs lock format clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with everything in it (does nothing when nothing changed)

$(STAMP): requirements.lock $(DISTRIBUTIONS:=/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Clew needs Python 3.11 or newer; choose one with make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(DISTRIBUTIONS:%=-e ./%)
	@touch $@

demo: $(STAMP) ## Answer questions about the sample documents, on the embedded stack
	$(BIN)/clew demo

# Most tests wait for a broker, a process or a clock, so more of them than there are cores run at a time.
PYTEST = $(BIN)/python -m pytest -m "not servers" -n 4 --dist loadfile

test: $(STAMP) ## Run the tests that need nothing but Python
	$(PYTEST)

check: $(STAMP) ## Formatting, lint and types, then the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict $(PACKAGES) tests benchmarks
	$(PYTEST)

test-servers: $(STAMP) ## Start real Pulsar, Milvus, PostgreSQL, Oxigraph and Fuseki, test against them, stop them
	$(BIN)/python -m tests.servers run -- $(BIN)/python -m pytest -m servers -p tests.servers.no_skips

servers-up: $(STAMP) ## Start the real servers and print the variables that lead tests to them
	@$(BIN)/python -m tests.servers up

servers-down: $(STAMP) ## Stop the real servers
	@$(BIN)/python -m tests.servers down

# Each seed is a run of all consumers with faults of its own; a failing one is named, and replays exactly.
simulate: $(STAMP) ## Play SEEDS=20000 simulated runs with faults against the promise
	$(BIN)/python -m tests.simulate --seeds $(or $(SEEDS),20000)

soak: $(STAMP) ## Ask one process REQUESTS=100000 times and see whether anything grows
	$(BIN)/python -m tests.soak --requests $(or $(REQUESTS),100000)

fuzz: $(STAMP) ## Try spoilt messages and files on every reader of them for SECONDS=600
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600)

bench: bench-decisions ## Measure latency, throughput and processor time
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.explaining
	$(BIN)/python -m benchmarks.traces

# NEW=1 writes what is measured as the new baseline, when the old one was outgrown for a good reason.
bench-decisions: $(STAMP) ## Measure deciding alone, and fail where it costs more than the baseline allows
	$(BIN)/python -m pytest benchmarks/test_decisions.py -q -rP \
		--benchmark-columns=min,median,iqr,rounds --benchmark-sort=name $(if $(NEW),--new-baseline)

# QUICK=1 asks a fifth of the questions; DATA=FOLDER adds public sets, which docs/quality.md says where to get.
eval: $(STAMP) ## Measure the quality of retrieval and answers on labelled questions
	$(BIN)/python -m benchmarks.quality $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)")

docs: $(STAMP) ## Write the generated reference, the examples in pages, and deploy/asyncapi.yaml
	$(BIN)/python docs/generate.py

format: $(STAMP) ## Format the code and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## Resolve requirements.in and the pyprojects anew into requirements.lock
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv "$$scratch/venv" && \
	"$$scratch/venv/bin/pip" install --quiet --disable-pip-version-check uv==$(UV_VERSION) && \
	TMPDIR="$$scratch" "$$scratch/venv/bin/uv" --cache-dir "$$scratch/cache" pip compile requirements.in --output-file requirements.lock --upgrade --quiet \
		--python-version 3.11 --python-platform x86_64-manylinux_2_28 \
		--generate-hashes --no-emit-index-url --no-emit-find-links \
		$(DISTRIBUTIONS:%=--no-emit-package clew-%) --custom-compile-command "make lock"

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist htmlcov .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
