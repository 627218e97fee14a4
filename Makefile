# Two commands do everything: `make demo` and `make test`; `make docs` builds the site. Each makes its
# own .venv first. What stands apart has suites of its own: `make test-explorer`, `make test-papers`,
# `make test-docs`, `make test-benchmarks`.
# `make quick` runs the tests of what differs from main, `make long` all at full length, `make frozen`
# compares what is released and said with what was recorded.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := anonymizer/kernels/native/kernels.so
APART := explorer papers docs benchmarks

.PHONY: kernels demo test suite test-explorer test-papers test-docs test-benchmarks quick long frozen lint types docs clean

demo: .venv/demo
	$(BIN)/anonymizer demo --output demo-release --force

# Types are checked while the first tests run. Three workers: on two cores a tenth of their time is waited.
test: lint
	$(MAKE) --no-print-directory --jobs=2 types suite

suite: kernels
	$(BIN)/pytest -n 3 $(addprefix --ignore=tests/,$(APART))

$(addprefix test-,$(APART)): test-%: kernels
	$(BIN)/pytest -n 2 tests/$*

quick: kernels
	$(BIN)/python tests/quick.py

long: lint types kernels
	$(BIN)/python tests/long.py

frozen: kernels
	$(BIN)/python -m tests.frozen

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
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[dev]'
	touch $@ .venv/demo

kernels: $(KERNELS)

# The installation compiles the kernels; here they are compiled anew when their sources change.
$(KERNELS): $(wildcard anonymizer/kernels/native/*.[ch]pp anonymizer/kernels/native/*.py) | .venv/dev
	$(BIN)/python anonymizer/kernels/native/build.py

.venv/docs: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ .venv/demo

clean:
	rm -rf .venv demo-release docs/_build
