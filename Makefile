# make help lists the targets. Everything happens in .venv; outside it only `make test` installs anything,
# the compilers' tools that tests/install-packages finds missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := $(wildcard models/*/*.[ch] models/*/*.inc) dvsim/core/build.py $(shell find emulator -type f -not -path "*/examples/*" -not -name "*.pyc")
SOURCE := setup.cfg setup.py pyproject.toml $(NATIVE) $(shell find dvsim models/cards scenarios -type f -not -name '*.pyc' -not -name '_core.*' -not -path '*/_emulator/*' 2>/dev/null)
DEMO   := build/demo
TOOLS  := build/tools
# without kept bytecode every process of the tests compiles dvsim anew, and every worker all tests
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check test-hostile lint claims bench fuzz soak coverage mutants docs dist lock install clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: $(VENV)/installed ## the paper's experiment, both transports, five sizes, full message counts; build/demo/report.html
	$(BIN)/dvsim run h3/published --replications 3 --out $(DEMO)/runs --report $(DEMO)/report.html --overwrite

test: ## linters, types and all tests; TESTS="FILE ..." for some of them
	tests/install-packages
	$(MAKE) $(VENV)/editable lint
	$(BIN)/python -m pytest -n 3 --durations 20 $(TESTS)

check: $(VENV)/editable lint ## before each commit, in a minute: linters, types, the tests nearest to the change
	$(BIN)/python tests/harness/check.py $(SINCE)

test-hostile: $(VENV)/editable ## every night: all tests in each way in which people run them; WAYS="nohup load"
	$(BIN)/python tests/harness/hostile.py $(WAYS) $(if $(TESTS),--tests "$(TESTS)")

lint: $(VENV)/editable ## ruff, mypy; the C compiler's warnings are errors in tests/model
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	for file in scenarios/*/claims.py; do $(BIN)/mypy $$file || exit 1; done

claims: $(VENV)/editable ## every published experiment in full: is docs/claims.md what it gives, byte for byte?
	tests/install-packages
	$(BIN)/python docs/claims.py build/claims.md
	cmp docs/claims.md build/claims.md

bench: $(VENV)/editable ## how fast, as ratios to a rival or a limit in the same run: build/bench/table.md; AGAINST=REV: to a revision
	tests/install-packages
	$(BIN)/python bench/$(if $(AGAINST),against.py $(AGAINST),table.py)

fuzz: $(VENV)/editable ## every reader and every peer's words, MINUTES=2 for each target: build/fuzz; then failing calls
	tests/install-packages fuzz
	$(BIN)/python tests/fuzz/run.py --minutes $(or $(MINUTES),2)
	$(BIN)/python tests/faults/run.py --plain --most $(or $(FAULTS),100)

soak: $(VENV)/editable ## all that takes part in an emulated run dies, again and again: MINUTES=10 SEED=1; HOSTS=yes: over several hosts; build/soak
	tests/install-packages
	$(BIN)/python tests/soak/soak.py --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) $(if $(HOSTS),--hosts)

coverage: $(VENV)/editable ## lines and branches that the tests run: C by gcovr, Python by coverage
	tests/install-packages
	$(BIN)/python tests/coverage/c.py
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n 2 --durations 20
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

mutants: $(VENV)/editable ## 330 small changes of models/ and the claims logic: which do the tests notice?
	$(BIN)/python tests/mutation/run.py

docs: $(VENV)/editable ## these pages as a site, and the notebooks: build/site, build/analysis
	$(BIN)/python analysis/run.py
	$(BIN)/python -m mkdocs build --strict

dist: $(TOOLS)/installed ## wheel and source distribution, checked and tried on Python 3.11 and the newest: dist
	$(TOOLS)/bin/python tests/dist/make.py

lock: $(TOOLS)/installed ## take the newest packages for make test and make dist: pinned, hashed
	$(TOOLS)/bin/python tests/dist/lock.py

install: $(VENV)/installed ## dvsim in .venv
	@echo "installed. Next: $(BIN)/dvsim run h3/whatif/bridges"

clean: ## remove .venv, build products and caches
	rm -rf $(VENV) build dist *.egg-info dvsim/core/_core.* dvsim/_emulator .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dvsim needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# Two ways to install, one at a time: a wheel for use, the checkout itself for work on it.
$(VENV)/installed: $(BIN)/python $(SOURCE)
	$(BIN)/pip install .
	rm -f $(VENV)/editable
	touch $@

$(VENV)/editable: $(BIN)/python tests/requirements.lock setup.cfg setup.py pyproject.toml $(NATIVE)
	$(BIN)/pip install --quiet --require-hashes --requirement tests/requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	rm -f $(VENV)/installed
	touch $@

$(TOOLS)/installed: tests/dist/tools.lock
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --require-hashes --requirement tests/dist/tools.lock
	touch $@
