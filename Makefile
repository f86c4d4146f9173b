# A recipe for each task. `make serve` and `make test` need only git, make and Python 3.11 or later.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# The lock files are complete, so no dependencies are resolved. Python compiles modules when it imports them.
LOCKED := --require-hashes --no-deps --no-compile
# uv installs in a tenth of pip's time, but does not read pip's settings, such as a mirror. If uv fails, pip installs.
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
INSTALL_LOCKED = @$(UV) --require-hashes --no-deps $(1) 2>/dev/null || $(PIP) install $(LOCKED) $(1)
INSTALL_FLAGSTAFF = @$(UV) --no-deps --no-build-isolation --editable . 2>/dev/null \
	|| $(PIP) install --no-deps --no-build-isolation --editable .
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate

# Some machines and images set this variable. Then each process that a test starts compiles all packages, for 3 seconds.
unexport PYTHONDONTWRITEBYTECODE

# More processes than the two cores of CI, because tests wait for a fifth of their time.
PYTEST = $(BIN)/python -m pytest -n 3 --dist worksteal

# Recipes that do not depend on each other run at the same time.
ifeq (,$(filter clean format lock,$(MAKECMDGOALS)))
MAKEFLAGS += --jobs=3
endif

.PHONY: serve test test-pythons test-dashboard test-sdks test-clickhouse test-faults check-packages alerts coverage lint lint-python lint-dashboard format \
	bench dashboard dashboard-tools built wheel release notices screenshots openapi events permissions columns lock clean

serve: dashboard ## set up what is missing and serve on http://127.0.0.1:8000
	$(BIN)/flagstaff serve

# After `lint`, if both are goals: its errors are shown before the tests begin.
test: .venv/dev .venv/generators/installed built test-dashboard $(filter lint,$(MAKECMDGOALS)) ## run every test, on SQLite and on PostgreSQL, and in a browser where there is one
	$(PYTEST)

test-dashboard: dashboard-tools
	$(BIN)/python hatch_build.py test

# tests/sdks runs once more for each of these languages. Unleash Edge is built, too.
COMPILED = go java rust

test-sdks: .venv/dev .venv/node ## run released clients for Go, Java and Rust, and Unleash Edge, and compare with Unleash's server
	$(BIN)/python hatch_build.py clients
	$(BIN)/python hatch_build.py unleash-server
	$(BIN)/python -m tests.interop.build
	SDK_LANGUAGES="$(COMPILED)" $(PYTEST) -rsP tests/sdks/test_unleash.py tests/sdks/test_ofrep.py \
		tests/sdks/test_conformance.py tests/sdks/test_proxies.py tests/interop

# The interpreters run one after the other, because each uses both cores. `make test` runs the other tests.
test-pythons: .venv/dev built ## run the wheel with each installed Python, and unit and web tests with the oldest and the newest
	$(BIN)/python -m tests.pythons

# ClickHouse's engine is 180 MB, too large for every run of the tests.
test-clickhouse: .venv/dev ## test the copy of the history against ClickHouse's engine, which it installs
	test -x .venv/clickhouse/bin/python || python3 -m venv .venv/clickhouse
	.venv/clickhouse/bin/python -m pip install --quiet chdb-core==26.9.0
	$(PYTEST) tests/clickhouse

test-faults: .venv/dev .venv/node ## inject faults under load: each once, or at random for an hour with ARGS="--minutes 60 --seed 1"
	$(BIN)/python hatch_build.py clients
	$(BIN)/python -m tests.faults $(ARGS)
	WEBHOOK_KILLS=50 $(PYTEST) tests/processes/test_webhooks.py -k killed

check-packages: .venv/dev ## check packaging/ with helm, kubeconform, Caddy and others, which it builds with Go or installs
	$(BIN)/python -m tests.packages.tools
	$(BIN)/python -m tests.packages.engine
	$(BIN)/python -m pytest tests/packages

alerts: .venv/promtool ## check the alerts for Prometheus, and run their tests
	cd packaging/prometheus && ../../.venv/promtool check rules alerts.yaml && ../../.venv/promtool test rules alerts_test.yaml

# Measuring nearly doubles the time. It covers the tests' own processes, and not the servers that they start.
coverage: PYTEST += --cov --cov-report term --cov-fail-under 95
coverage: test ## run every test, and fail if the coverage of lines and branches is too low

lint: lint-python lint-dashboard ## style, types and import contracts

lint-python: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-dashboard: dashboard-tools
	$(BIN)/python hatch_build.py lint

format: .venv/dev .venv/node ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python hatch_build.py format

bench: .venv/dev ## compare with nginx and uvicorn; ARGS="--quick" measures less
	$(BIN)/python -m bench $(ARGS)

dashboard: .venv/run .venv/node ## build the dashboard, if its sources have changed
	@$(BIN)/python hatch_build.py

# The build uses packages that the installation of the tools replaces, so they do not run at the same time.
built: dashboard-tools
	@$(BIN)/python hatch_build.py

dashboard-tools: .venv/node
	@$(BIN)/python hatch_build.py tools
	@$(BIN)/python hatch_build.py clients

wheel: dashboard ## build the wheel with locked tools into dist/, with a list of the versions that it was tested with
	$(BIN)/python -m hatchling build -t wheel -d dist
	cp requirements/constraints.txt requirements/run.txt dist/

release: .venv/dev .venv/release ## build a release into dist/, twice, and compare: wheel, sdist, chart, list of packages, checksums
	$(BIN)/python packaging/release.py

notices: dashboard-tools ## renew dashboard/THIRD-PARTY-NOTICES.txt, the licenses of the packages that the dashboard contains
	$(BIN)/python hatch_build.py notices

screenshots: .venv/dev dashboard ## renew the screenshots in docs/images
	$(BIN)/python -m tests.e2e.screenshots

openapi: .venv/run .venv/node ## renew src/flagstaff/assembly/openapi.json and the dashboard's types
	$(BIN)/flagstaff openapi > src/flagstaff/assembly/openapi.json
	$(BIN)/python hatch_build.py types

events: .venv/dev ## renew docs/reference/events.json, which has a message of each type
	$(BIN)/python -m tests.support.events_page

permissions: .venv/dev ## renew the table of docs/reference/permissions.md
	$(BIN)/python -m tests.support.matrix_page

columns: .venv/dev ## renew the tables of docs/reference/history-columns.md
	$(BIN)/python -m tests.support.columns_page

# constraints.txt is run.txt without hashes: with them, pip would demand the hash of the wheel as well.
lock: .venv/dev .venv/node ## update the lock files within the bounds of pyproject.toml and package.json
	$(COMPILE) pyproject.toml --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --extra otel --constraint requirements/run.txt --output-file requirements/otel.txt
	$(COMPILE) --group build --constraint requirements/run.txt --output-file requirements/build.txt
	$(COMPILE) pyproject.toml --group dev --constraint requirements/otel.txt --constraint requirements/build.txt \
		--output-file requirements/dev.txt
	$(COMPILE) --group generators --output-file requirements/generators.txt
	$(COMPILE) --group node --output-file requirements/node.txt
	$(COMPILE) --group release --output-file requirements/release.txt
	sed -n '/^[a-z0-9]/s/ *\\$$//p' requirements/run.txt > requirements/constraints.txt
	$(BIN)/python hatch_build.py lock

clean: ## remove what the recipes made, but not your data in flagstaff-data
	rm -rf .venv build dist dashboard/node_modules tests/sdks/node/node_modules tests/interop/unleash_server/node_modules src/flagstaff/http/dashboard/static src/flagstaff/evaluation/*.so .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Flagstaff needs Python 3.11 or later; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python could not make a virtual environment; on Debian and Ubuntu install python3-venv."; exit 1; }

# The installation compiles the loops of evaluations, if there is a C compiler.
COMPILED_SOURCES = src/flagstaff/evaluation/_loops.c

.venv/run: .venv/bin/python requirements/run.txt requirements/build.txt pyproject.toml $(COMPILED_SOURCES)
	@echo "Setting up (once, under a minute) …"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.txt > .venv/uv.txt
	@$(PIP) install $(LOCKED) -r .venv/uv.txt
	$(call INSTALL_LOCKED,-r requirements/run.txt -r requirements/build.txt)
	$(INSTALL_FLAGSTAFF)
	@touch $@

# The dashboard is built with the machine's Node or, if there is none, with one from PyPI.
.venv/node: .venv/run requirements/node.txt
	@$(BIN)/python hatch_build.py --find-node || { echo "Bringing Node (once) …"; $(PIP) install $(LOCKED) -r requirements/node.txt; }
	@touch $@

# Its module has replace directives, so `go install` refuses it.
.venv/promtool:
	@echo "Building promtool (once, several minutes) …"
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && go mod init alerts && \
		go get github.com/prometheus/prometheus/cmd/promtool@v0.305.0 && \
		go build -o $(CURDIR)/$@ github.com/prometheus/prometheus/cmd/promtool

# In an environment of its own, because the generators demand other versions than Flagstaff does.
.venv/generators/installed: .venv/run requirements/generators.txt
	@echo "Bringing generators of clients (once) …"
	@$(BIN)/python -m venv .venv/generators
	$(subst $(BIN)/python,.venv/generators/bin/python,$(call INSTALL_LOCKED,-r requirements/generators.txt))
	@touch $@

.venv/release: .venv/run requirements/release.txt
	@echo "Bringing a C compiler (once) …"
	$(call INSTALL_LOCKED,-r requirements/release.txt)
	@touch $@

.venv/dev: .venv/run requirements/dev.txt pyproject.toml
	@echo "Setting up for development (once, under two minutes) …"
	$(call INSTALL_LOCKED,-r requirements/dev.txt)
	@touch $@
