# Everything a newcomer types: `make demo` and `make test`. Each makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
RENDERED := tests/test_site.py tests/test_docs.py tests/plot tests/report tests/paper/test_reproduction.py $(addprefix tests/cli/test_,plot.py report.py reproduce.py)
CAMPAIGNS := tests/fuzz tests/test_compiled.py tests/test_guard.py tests/coverage/test_goals_beside_lloyd.py tests/vehicles/test_mavlink.py tests/fleet/test_together.py tests/fleet/test_flight.py tests/fleet/test_piloted.py tests/cli/test_fleet.py tests/simulation/test_campaigns.py tests/simulation/test_store_order.py tests/certificates/test_forged.py $(wildcard tests/*/test_*_campaign.py)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

TYPESCRIPT := 5.9.3
TSC := .venv-scripts/node_modules/.bin/tsc

.PHONY: demo test rendered campaigns namespaces browser fuzz check lint types scripts contracts site bench performance lock clean
.DELETE_ON_ERROR:

demo: .venv/.run
	@$(BIN)/tricover reproduce -o out/paper

test: .venv/.dev
	@$(BIN)/python -m pytest --ignore tests/browser $(addprefix --ignore ,$(RENDERED) $(CAMPAIGNS)) --numprocesses auto --maxprocesses 4 --dist loadfile
	@echo "Left to make check: figures, films, pages, the site and what the documentation shows ($(RENDERED)), the report and the studio in a real browser (tests/browser),"
	@echo "  campaigns of broken files, stores, logs and crowded teams, fleets of real processes, autopilots, kernels compiled anew ($(CAMPAIGNS))"

# What draws, films and builds pages takes long, and is seldom what a change is about.
rendered: .venv/.dev
	@$(BIN)/python -m pytest $(RENDERED) --numprocesses auto --maxprocesses 2 --dist loadfile

# Thousands of broken files, damaged and killed stores, forged logs, crowded teams, fleets of processes; each has a count for more.
campaigns: .venv/.dev
	@$(BIN)/python -m pytest $(CAMPAIGNS) --numprocesses auto --maxprocesses 2

# A fleet over a real network that is cut, in network namespaces of its own. Needs root, ip and nft, and says so.
namespaces: .venv/.dev
	@$(BIN)/python -m tests.fleet.namespaces --repeats 1 --cuts 2 --only "partition of"

# Needs Debian's chromium and chromium-driver, and installs them where they are missing and it may.
browser: .venv/.dev
	@tests/browser/chromium.sh
	@$(BIN)/python -m pytest tests/browser

# Broken files for every reader and command, for as long as you like: FUZZ="--seconds 600 --seed 7" or "--cases 100000".
fuzz: .venv/.dev
	@$(BIN)/python -m tests.fuzz $(FUZZ)

check: lint types scripts contracts site test rendered campaigns namespaces browser

lint: .venv/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: .venv/.dev
	@$(BIN)/mypy

# The types of pages' scripts, as their comments say them. TypeScript only reads: pages are as they are in the tree.
scripts:
	@if command -v npm > /dev/null && $(MAKE) --silent $(TSC); then $(TSC) --project .; \
	else echo "Left out, as npm is not there or has no TypeScript: the types of pages' scripts (make scripts)"; fi

$(TSC): Makefile
	@npm install --silent --no-audit --no-fund --no-save --prefix .venv-scripts typescript@$(TYPESCRIPT)
	@touch $@

contracts: .venv/.dev
	@$(BIN)/lint-imports

# The documentation as a site, in site/index.html. Not --quiet: that would make --strict blind to warnings.
site: .venv/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# BENCH="--quick" or BENCH="network mdp" for less; `make performance` then rewrites docs/performance.md from the result.
bench: .venv/.bench .venv-peers/.installed
	@$(BIN)/python -m benchmarks --json out/bench.json $(BENCH)

performance: .venv/.bench
	@$(BIN)/python -m benchmarks.page out/bench.json

# The demo flies no fleet and opens no studio.
.venv/.run: EXTRA := mcap,notebook,raster,rl,vehicles,video
.venv/.dev: EXTRA := dev
.venv/.bench: EXTRA := bench
.venv/.run .venv/.dev .venv/.bench: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing Tricover into .venv (first time: about a minute)"
	@$(PIP) --editable ".[$(EXTRA)]"
# QuantEcon caches kernels when it is first imported. Two processes that do that at the same time may spoil its cache.
	@test $(EXTRA) != dev || $(BIN)/python -W ignore -c "import quantecon"
	@touch $@

# What the benchmarks compare with, kept apart from ours.
.venv-peers/.installed: benchmarks/peers.txt
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@echo "Installing the peers into .venv-peers"
	@.venv-peers/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --requirement benchmarks/peers.txt
	@touch $@

# New versions: resolve afresh in an empty environment and pin what came out.
lock:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet --editable ".[dev,bench]"
	@.venv-lock/bin/python -m pip freeze --exclude-editable > constraints.txt && rm -rf .venv-lock

clean:
	@rm -rf .venv .venv-lock .venv-peers .venv-scripts out site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
