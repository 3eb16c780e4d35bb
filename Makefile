# Two commands need nothing but this repository: `make serve` and `make test`.
PYTHON ?= $(shell tools/find-python)
VENV ?= .venv
BIN = $(VENV)/bin
SERVE_READY = $(VENV)/.serve-ready
TEST_READY = $(VENV)/.test-ready
ARGS ?=

.PHONY: serve test check format suite ci-suite sim bench differential compile wheel clean

serve: $(SERVE_READY)
	@exec $(BIN)/headrace serve $(ARGS)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(SERVE_READY): $(BIN)/python requirements/serve.txt pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/serve.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(TEST_READY): $(SERVE_READY) requirements/test.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/test.txt
	@touch $@

check: $(TEST_READY)
	$(BIN)/ruff format --check src tests sim bench tools
	$(BIN)/ruff check src tests sim bench tools
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 tests/unit

format: $(TEST_READY)
	$(BIN)/ruff format src tests sim bench tools
	$(BIN)/ruff check --fix src tests sim bench tools

test: $(TEST_READY)
	$(BIN)/python -m pytest -n 2 tests

# Optional: the hot modules as extensions beside their sources. `make compile ARGS=--clean` takes them away.
compile: $(TEST_READY)
	$(BIN)/python tools/compile.py $(ARGS)

# One outside suite (see ../shared/suites/README.md): make suite NAME=kafka-python
suite: $(TEST_READY)
	@tools/suite $(NAME) $(ARGS)

ci-suite: $(TEST_READY)
	@$(BIN)/python tools/ci_suite.py $(NAME) $(ARGS)

# The simulator: make sim SEED=42
SEED ?= 1
sim: $(TEST_READY)
	@$(BIN)/python -m sim --seed $(SEED) $(ARGS)

# Headrace and Apache Kafka side by side: make bench ARGS=--quick
bench: $(TEST_READY)
	@$(BIN)/python -m bench $(ARGS)

# The same requests to Headrace and Apache Kafka, every field compared; needs java, and mvn once
differential: $(TEST_READY)
	@$(BIN)/python -m pytest -n 0 -rs tests/differential $(ARGS)

wheel: $(TEST_READY)
	$(BIN)/python -m build --no-isolation --wheel

clean:
	rm -rf $(VENV) build dist
