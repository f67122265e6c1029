# `make help` lists the commands. Everything happens in .venv; nothing outside this folder is changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-from-pyproject
CODE := providers actors host tests $(patsubst %/,%,$(sort $(dir $(wildcard examples/*.py benchmarks/*.py))))
# A file's servers start once, in one worker.
PARALLEL := --dist loadfile --inline-snapshot=disable

.DEFAULT_GOAL := help
.PHONY: help env demo check test test-slow bench
MAKEFLAGS += --no-print-directory

help:
	@echo "make demo       the environment, the local model, and three acts on files of this repository"
	@echo "make check      static: format, lint, types, imports, purity"
	@echo "make test       check, and all tests but the slow ones (under three minutes on two cores)"
	@echo "make test-slow  the long tests: thousands of seeds, kill loops, fuzzing"
	@echo "make bench      what things cost, as ratios to floors and peers"
	@echo "make env        only the environment, in $(VENV)"

env: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Callboard needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo missing)."; \
	  echo "Name another one: make PYTHON=python3.12 …"; exit 2; }
	@test -x $(BIN)/python || { echo "Making the environment in $(VENV)"; $(PYTHON) -m venv $(VENV); } || { \
	  rm -rf $(VENV); echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv"; exit 2; }
	@echo "Installing what pyproject.toml names (minutes, the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --editable '.[test,local]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/callboard model install
	@$(BIN)/callboard demo

check: $(STAMP)
	@$(BIN)/ruff format --quiet --check $(CODE) || { echo "format: run $(BIN)/ruff format"; exit 1; }
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/mypy --no-error-summary $(CODE)
	@out=$$($(BIN)/lint-imports 2>&1) || { echo "$$out"; exit 1; }
	@$(BIN)/pytest -q --no-header tests/test_purity.py >/dev/null || $(BIN)/pytest -q --no-header tests/test_purity.py
	@echo "check: format, lint, types, imports and purity are right"

# Three workers on two cores: many tests wait for processes.
test: check
	@$(BIN)/pytest -q --no-header -m "not slow" -n 3 $(PARALLEL)

# pytest ends with 5 when nothing is marked slow, which is no failure.
test-slow: $(STAMP)
	@$(BIN)/pytest -q --no-header -m slow -o faulthandler_timeout=1800 -n 2 $(PARALLEL) || { code=$$?; [ $$code -eq 5 ] || exit $$code; }

bench: $(STAMP)
	@if [ -d benchmarks ]; then $(BIN)/python -m benchmarks; else echo "bench: nothing is measured yet"; fi
