# Two commands do everything: `make demo` and `make test`; `make docs` builds the site. Each makes its
# own .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types docs clean

demo: .venv/demo
	$(BIN)/anonymizer demo --output demo-release --force

test: lint types
	$(BIN)/pytest -n 2

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev
	$(BIN)/mypy

docs: .venv/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

.venv/demo: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/dev: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ .venv/demo

.venv/docs: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ .venv/demo

clean:
	rm -rf .venv demo-release docs/_build
