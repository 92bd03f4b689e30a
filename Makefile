# Everything lives in .venv; nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin
PLACES := .github evalrun/scaffold/project/.github
WORKFLOWS = $(wildcard $(PLACES:%=%/workflows/*.yml))
ACTIONS = $(wildcard $(PLACES:%=%/actions/*/action.yml))

.PHONY: demo test lint types contracts workflows docs check bench clean

demo: .venv/done                ## set up everything and run ten of the shipped scenarios on the embedded defaults
	$(BIN)/evalrun run --tag demo

test: .venv/oracles             ## set up everything and pass the tests
	$(BIN)/python -m pytest -n 2

check: lint types contracts workflows ## what CI asks beside the tests

lint: .venv/done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/done
	$(BIN)/mypy

contracts: .venv/done
	$(BIN)/lint-imports

workflows: .venv/workflows      ## read the workflows for faults
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions $(ACTIONS)
	$(BIN)/zizmor --offline --quiet $(WORKFLOWS) $(ACTIONS)

docs: .venv/done                ## write the reference pages from the code
	$(BIN)/python scripts/write_reference.py

bench: .venv/done
	$(BIN)/python -m benchmarks.run

.venv/done: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	  || { echo "evalrun needs Python 3.11 to 3.13; set PYTHON=… (found $$($(PYTHON) --version 2>&1))"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m compileall -q evalrun
	$(BIN)/evalrun local fetch
	@touch $@

.venv/oracles: .venv/done constraints-oracles.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r constraints-oracles.txt
	@touch $@

.venv/workflows: .venv/done constraints-workflows.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r constraints-workflows.txt
	@touch $@

clean:
	rm -rf .venv .evalrun
