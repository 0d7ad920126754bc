# Two commands matter: `make run` shows Ad Omnia at work, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# What has to be believed: the trusted core, whole folders, of which every branch is tested.
CORE   := */adomnia/errors.py,*/adomnia/privacy/*,*/adomnia/noise/*,*/adomnia/catalog/*,*/adomnia/mechanisms/*
CORE   := $(CORE),*/adomnia/engines/*,*/adomnia/ledger/*,*/adomnia/curator/*
# Tests of everything else, and long searches: with coverage they would take half as long again.
BEYOND := tests/accounting tests/cli tests/client tests/explaining tests/inspection tests/kit tests/plans tests/pricing tests/server tests/sql
BEYOND := $(BEYOND) tests/browser tests/figures tests/methods tests/statistics tests/wire $(wildcard tests/test_*.py) tests/contracts/test_sessions.py
BEYOND := $(BEYOND) tests/contracts/test_methods.py tests/contracts/test_statistics.py tests/curator/test_grammar.py tests/curator/test_neighbours.py
BEYOND := $(BEYOND) tests/curator/test_plain_questions.py tests/engines/duckdb/test_optimizers.py tests/mutants
BEYOND := $(BEYOND) $(addprefix tests/session/test_,answer.py display.py identities.py table.py)
# What takes long, or is about chance and processes: left to `make test` by the quick loop.
SLOW   := $(addprefix tests/,browser contracts curator engines/index engines/duckdb/test_optimizers.py kit ledger mechanisms mutants)
SLOW   := $(SLOW) $(addprefix tests/,noise pricing/test_effort.py server session/test_curator.py statistics)
EXAMPLE  := examples/hospital
QUESTION := SELECT region, COUNT(*) AS people, AVG(salary) AS pay FROM people JOIN cities USING (city) GROUP BY region
PINS   := pyproject.toml constraints.txt
COMMA  := ,
# Servers, commands and mutants start by the hundred; containers often forbid to keep what Python compiled of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: run test test-browser screenshots check bench editor soak clean help

run: $(VENV)/installed $(EXAMPLE)/people.parquet  ## install if needed, make the example data, ask a first question, open the console
	@echo 'A first question to 20,000 made-up people, paid with epsilon 0.5 (asked again, it is free):'
	@echo '  adomnia sql $(EXAMPLE) "$(QUESTION)" --epsilon 0.5'
	@echo
	@$(BIN)/adomnia sql $(EXAMPLE) "$(QUESTION)" --epsilon 0.5
	@echo
	@$(BIN)/adomnia console $(EXAMPLE)

test: $(VENV)/installed-dev  ## lint, types, all tests, full coverage of the trusted core, mutants
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -n auto --dist worksteal --cov --cov-report= --stage traced $(addprefix --ignore=,$(BEYOND))
	$(BIN)/coverage report --include='$(CORE)' --fail-under=100
	$(PYTEST) -n auto --dist worksteal --stage rest --beyond '$(BEYOND)' --ignore=tests/browser
	$(MAKE) test-browser

test-browser: $(VENV)/installed-dev $(VENV)/browser  ## the web console in a real browser (part of `make test`)
	$(PYTEST) -n auto --dist worksteal tests/browser

screenshots: $(VENV)/installed-dev $(VENV)/browser  ## pictures of all pages of the console, into docs/images/console
	$(BIN)/python tools/screenshots.py

check: $(VENV)/installed-dev  ## the fast part of `make test`: lint, types, quick tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -q -x -n auto --dist worksteal $(addprefix --ignore=,$(SLOW))

bench: $(VENV)/installed-bench  ## the benchmarks: each prints its ratio against a peer
	@for workload in benchmarks/*.py; do echo "== $$workload"; $(BIN)/python $$workload || exit 1; done

editor:  ## bundle the console's SQL editor once more (needs npm); the result is committed
	cd tools/editor && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	cd tools/editor && npm run --silent build

soak: $(VENV)/installed-dev  ## the long forms of the tests: more draws, fresh seeds
	HYPOTHESIS_PROFILE=fresh $(PYTEST) -n auto -m soak

clean:  ## remove the virtual environment and everything that was generated
	rm -rf $(VENV) $(EXAMPLE)/.adomnia $(EXAMPLE)/*.parquet $(EXAMPLE)/*.csv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* build dist tools/editor/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The data is the same every time; it is made once, and again only if its generator changes.
$(EXAMPLE)/people.parquet: $(EXAMPLE)/generate.py | $(VENV)/installed
	@$(BIN)/python $<

$(VENV)/installed: $(PINS) | $(BIN)/python
	@$(call install,.[plot])
	@touch $@

$(VENV)/installed-dev: $(PINS) | $(BIN)/python
	@$(call install,.[dev])
	@touch $(VENV)/installed $@

$(VENV)/installed-bench: $(PINS) | $(BIN)/python
	@$(call install,.[dev$(COMMA)bench])
	@touch $(VENV)/installed $(VENV)/installed-dev $@

# Browser tests use the system's Chromium, best without its windows; root may fetch it, everybody else is told how.
BROWSER := chromium-headless-shell
$(VENV)/browser: | $(BIN)/python
	@command -v $(BROWSER) > /dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo "Installing $(BROWSER) for the tests of the web console ..."; \
	    { apt-get update -q && apt-get install -q -y --no-install-recommends $(BROWSER); } > $(VENV)/browser.log 2>&1; \
	  fi; }
	@command -v $(BROWSER) > /dev/null || command -v chromium > /dev/null || { \
	  cat $(VENV)/browser.log 2> /dev/null; \
	  echo "Chromium is missing, with which the web console is tested. Install it (Debian: sudo apt-get install $(BROWSER))."; exit 1; }
	@touch $@

# pip's chatter goes to a log, which is shown only when something fails.
define install
echo "Installing Ad Omnia into $(VENV) (once; about a minute) ..."; \
$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '$(1)' > $(VENV)/install.log 2>&1 \
  || { cat $(VENV)/install.log; echo "Installing failed; the lines above say why."; exit 1; }
endef

# Debian ships Python without ensurepip; root may fetch it, everybody else is told how.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || { \
	  echo "Ad Omnia needs Python 3.11 or newer, and '$(PYTHON)' is older or missing."; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
	  package=python$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo "Installing $$package ..."; \
	    { apt-get update -q && apt-get install -q -y --no-install-recommends $$package; } > /dev/null; \
	  else \
	    echo "Python's venv module is missing. Install it (Debian, Ubuntu: sudo apt-get install $$package)."; exit 1; \
	  fi; }
	@$(PYTHON) -m venv $(VENV)
