# `make run` and `make test` are all a newcomer needs: they install what is missing, below .cupel and .venv only.

# The uv that `ready` installs if needed takes precedence. The AWS account of the caller is never used.
export PATH := $(CURDIR)/.cupel/uv/bin:$(PATH)
export SAM_CLI_TELEMETRY := 0
unexport VIRTUAL_ENV UV_PROJECT_ENVIRONMENT PYTHONPATH PYTHONHOME
# Each process would compile all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
MODELS := sim/steady,sim/bold,sim/contrarian

.DEFAULT_GOAL := help
.PHONY: help ready run down test test-model test-web test-all check check-types check-rules check-page fmt bench bench-web bench-million faults hostile statistics soak mutations simulate build connectors docs models screenshots structure

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# A uv on PATH may be a shim that does not run, or too old for the lock file; then another is installed below .cupel.
ready:
	@uv sync --locked --quiet 2>/dev/null || { \
	  echo 'installing uv and the requirements below .cupel and .venv' >&2; \
	  { uv --version || python3.13 -m venv .cupel/uv || python3 -m venv .cupel/uv; } >/dev/null 2>&1; \
	  test ! -x .cupel/uv/bin/pip || .cupel/uv/bin/pip install --quiet --disable-pip-version-check 'uv>=0.9'; \
	  uv sync --locked --quiet; }
	@$(BIN)/python -m tools.generate

run: ready ## evaluate the sample definition with simulated models on this machine; leave the stack running
	@$(BIN)/cupel up
	@$(BIN)/cupel run samples/value-dilemma.yaml --models $(MODELS) --watch

down: ready ## stop the stack; its data is kept for the next start
	@$(BIN)/cupel down

# Four processes for two cores, because the two that have a stack mostly wait. Meanwhile the tests are compiled, which
# each process would do otherwise.
test: ready ## run the test suite; starts a stack of its own
	@$(BIN)/pytest --collect-only -n 0 >/dev/null 2>&1 &
	@$(BIN)/python -m tests.interop.tools
	@$(BIN)/python web/build.py test
	@$(BIN)/python web/build.py build >/dev/null
	@$(BIN)/python -m tests.web.tools
	@$(BIN)/pytest -n 4

test-all: export HYPOTHESIS_PROFILE = searching
test-all: test faults hostile statistics connectors test-model mutations simulate ## run every test: adds the fault matrix, hostile inputs, simulated statistics, third-party agent servers, a real model, injected bugs, more simulations, and new examples of properties

check: ready ## check lint, formatting, types, import rules, the template, docstrings, the links of the documentation, and the web page
	@$(MAKE) --no-print-directory --output-sync=target -j 2 check-types check-rules check-page

check-types:
	@$(BIN)/mypy

check-rules:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@PYTHONPATH=functions:shared $(BIN)/lint-imports
	@AWS_DEFAULT_REGION=us-east-1 $(BIN)/sam validate --lint
	@$(BIN)/python -m tools.docs_site
	@$(BIN)/python -m tools.docstrings
	@$(BIN)/cfn-lint deploy/edge.yaml --regions us-east-1

check-page:
	@$(BIN)/python web/build.py check

fmt: ready ## format, and fix what ruff can fix
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/python web/build.py format

bench: ready ## measure runs through the embedded cloud with a local model server, imports, requests per probe, estimates, reports, budgets, and hostile input
	@$(BIN)/python -m bench.run
	@$(BIN)/python -m bench.reads
	@$(BIN)/python -m bench.chats
	@$(BIN)/python -m bench.waiting
	@$(BIN)/python -m bench.imports
	@$(BIN)/python -m bench.units
	@$(BIN)/python -m bench.analysis
	@$(BIN)/python -m bench.tabulation --probes 100000
	@$(BIN)/python -m bench.estimates
	@$(BIN)/python -m bench.reports
	@$(BIN)/python -m bench.budgets
	@$(BIN)/python -m bench.hostile

bench-web: ready ## measure the page in Chromium with a run of 100,000 probes, beside its limits
	@$(BIN)/python web/build.py build
	@$(BIN)/python -m tests.web.tools
	@PYTHONPATH=functions:shared $(BIN)/python -m bench.web

bench-million: ready ## run 1,000,000 simulated probes on the local stack, beside 10,000; takes about half an hour
	@$(BIN)/cupel up
	@$(BIN)/python -m bench.million
	@$(BIN)/python -m bench.tabulation

test-web: ready ## test all of the web page in Chromium (CUPEL_CHROMIUM names another one)
	@$(BIN)/python web/build.py build
	@$(BIN)/python -m tests.web.tools
	@$(BIN)/pytest tests/web

faults: ready ## fail every AWS call of a run, one at a time; restart the cloud in a run; kill it 50 times; analyze a run of 10,000 probes; starts a stack of its own
	@$(BIN)/pytest tests/faults

hostile: ready ## call a failing provider; run everything a workspace may write to stop a worker, beside another workspace
	@$(BIN)/pytest tests/hostile

statistics: ready ## simulate comparisons: how often tests are wrong and intervals miss; prints the figures
	@$(BIN)/pytest -n 2 -rP tests/statistics

mutations: ready ## inject each known bug into the run protocol and chats, and check that the simulation finds it
	@$(BIN)/pytest -n 2 tests/simulation/test_mutations.py tests/simulation/test_chat_mutations.py

test-model: ready ## evaluate a small real model behind llama.cpp's server, and LiteLLM's proxy; installs them below .cupel
	@$(BIN)/pytest tests/model

connectors: ready ## test third-party agent servers; installs them below .cupel/connectors
	@$(BIN)/pytest tests/connectors

soak: ready ## control 50 runs at random for SOAK_MINUTES (10) on the local stack, and check the guarantees at the end
	@$(BIN)/cupel up
	@$(BIN)/python -m bench.soak --minutes $(or $(SOAK_MINUTES),10)

models: ready ## refresh what is known of models (context length, kinds of input, parameters) from LiteLLM's list
	@uv pip install --quiet --upgrade --no-deps --target .cupel/litellm litellm
	@PYTHONPATH=shared:. $(BIN)/python -m tools.refresh.model_list .cupel/litellm

screenshots: ready ## take the pictures of README and docs from the page, in Chromium
	@$(BIN)/python web/build.py build
	@$(BIN)/python -m tests.web.tools
	@$(BIN)/pytest tests/web/screenshots.py

structure: ready ## print packages, the imports between them, import cycles, and the sizes of files
	@$(BIN)/python -m tools.structure

docs: ready ## build the documentation site in .site; broken links are errors
	@$(BIN)/python -m tools.docs_site

build: ready ## build for AWS into .aws-sam (ARCHITECTURE=arm64 or x86_64)
	@$(BIN)/sam build

simulate: ready ## simulate the run protocol, or chats with CHATS=1: SCHEDULES=100000, or SEED=17 to replay one [MUTATION=name injects a bug]
	@$(BIN)/python -m tests.simulation $(if $(CHATS),--chats) $(if $(MUTATION),--mutation $(MUTATION)) \
	  $(if $(SEED),--seed $(SEED),--schedules $(or $(SCHEDULES),2000))
