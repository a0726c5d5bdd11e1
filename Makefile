# make help lists the targets. Everything happens in .venv; outside it only `make test` installs anything,
# the compilers' tools that tests/install-packages finds missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := $(wildcard models/*/*.[ch] models/*/*.inc) dvsim/core/build.py $(shell find emulator -type f -not -path "*/examples/*" -not -name "*.pyc")
SOURCE := setup.cfg setup.py pyproject.toml $(NATIVE) $(shell find dvsim models/cards scenarios -type f -not -name '*.pyc' -not -name '_core.*' -not -path '*/_emulator/*' 2>/dev/null)
DEMO   := build/demo

.PHONY: help demo test lint bench docs man install clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(VENV)/installed ## the paper's experiment, both transports, five sizes, full message counts; build/demo/report.html
	$(BIN)/dvsim run h3/published --replications 3 --out $(DEMO)/runs --report $(DEMO)/report.html

test: $(VENV)/editable lint ## linters, types and all tests
	tests/install-packages
	$(BIN)/python -m pytest -n 2 --no-loadscope-reorder

lint: $(VENV)/editable ## ruff, mypy; the C compiler's warnings are errors in tests/model
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/editable ## how fast: campaign, command line, switch, networks, cards, messages, sweeps, reports; as ratios
	$(BIN)/python bench/table1.py
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/switch.py
	$(BIN)/python bench/network.py
	$(BIN)/python bench/emulator.py
	$(BIN)/python bench/message.py
	$(BIN)/python bench/bridge.py
	$(BIN)/python bench/closing_loop.py
	$(BIN)/python bench/sweep.py
	$(BIN)/python bench/report.py

docs: $(VENV)/editable ## these pages as a site, and the notebooks: build/site, build/analysis
	$(BIN)/python analysis/run.py
	$(BIN)/python -m mkdocs build --strict

man: $(VENV)/editable ## manual pages: build/man
	$(BIN)/python -m dvsim.cli.manual build/man
	cp emulator/bridge/vicbridge.1 build/man

install: $(VENV)/installed ## dvsim in .venv

clean: ## remove .venv, build products and caches
	rm -rf $(VENV) build dist *.egg-info dvsim/core/_core.* dvsim/_emulator .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dvsim needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# Two ways to install, one at a time: a wheel for use, the checkout itself for work on it.
$(VENV)/installed: $(BIN)/python $(SOURCE)
	$(BIN)/pip install --quiet .
	rm -f $(VENV)/editable
	touch $@

$(VENV)/editable: $(BIN)/python setup.cfg setup.py pyproject.toml $(NATIVE)
	$(BIN)/pip install --quiet --editable '.[test]'
	rm -f $(VENV)/installed
	touch $@
