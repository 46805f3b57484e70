# make demo: run the main job · make evolve-demo: a small evolution on real teams · make evolution TIP=FOLDER: a larger one on TIP problems · make test: run the tests · make test-clients: the same with the real Codex and Claude Code · make check: everything that CI runs
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SPREAD := -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: demo test-slow evolve-demo evolution test test-clients check format lint types contracts packaging clean

$(VENV)/run.stamp: pyproject.toml lean.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "adapter-server needs Python 3.11 or newer; set PYTHON=python3.11"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement lean.lock
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(VENV)/run.stamp
	$(BIN)/adapter-server demo

evolve-demo: $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --editable '.[knobs,plots]'
	$(BIN)/python -P benchmarks/evolution.py demo --fresh

evolution: $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --editable '.[knobs,plots]'
	$(BIN)/python -P benchmarks/evolution.py tip --tip $(TIP)

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest $(SPREAD)

test-slow: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -m slow

test-clients: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q tests/clients_real --run-clients $(SPREAD)

check: lint types contracts test packaging

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/dev.stamp
	$(BIN)/pyright

contracts: $(VENV)/dev.stamp
	$(BIN)/lint-imports
	$(BIN)/deptry .

packaging: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q tests/architecture/test_wheel.py --run-wheel

clean:
	rm -rf $(VENV) dist runs .pytest_cache .ruff_cache
