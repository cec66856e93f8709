# Each target creates the environment it needs if it is missing.
# PYTHON=python3.12 make test   chooses another Python (3.11 or newer).

PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Importing and collecting takes ten seconds per process, so more than four processes do not help.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile
BOOK := build/book
CHROMIUM ?= chromium
CORPORA := questions captions articles places relatedness topics

# scikit-learn's threads busy-wait for one another; on few cores that takes ten times as long as the work itself
export OMP_WAIT_POLICY := PASSIVE
# without cached bytecode, every process of a test run would compile its libraries again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help app lab book book-pdf docs docs-check test test-all test-weekly test-lowest check bench notebooks ablations \
	corpora runs clean
.DEFAULT_GOAL := help

help:
	@echo "make app        open the app; PORT=8502 uses another port than 8501"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make book       build the book as a static site in $(BOOK); make book-pdf CHAPTER=02 prints a chapter (needs Chromium)"
	@echo "make test       run the tests of formulas, contracts, pages, commands and exercises; takes minutes"
	@echo "make test-all   also test browsers, notebooks from a cold start, several processes, published data"
	@echo "make test-weekly  run slow tests that rarely fail (Ray, otter, long property tests), then make test-lowest"
	@echo "make test-lowest  run make test with the lowest versions that pyproject.toml allows, on Python 3.11; needs 7 GB in .venv-lowest"
	@echo "make check      run the linter, the formatter, the type checker, the import contracts and make docs-check"
	@echo "make docs       write the stored results into the tables of the docs; make docs-check compares them"
	@echo "make bench      measure speed and memory against other libraries"
	@echo "make notebooks  build the student and solution notebooks from their sources (the pictures need Chromium)"
	@echo "make ablations  compute the missing tables of the notebooks"
	@echo "make corpora    generate the bundled corpora and their data cards from their seeds"
	@echo "make runs       retrain the bundled runs and redraw their pictures"
	@echo "make clean      remove the environment and all generated files"

app: $(VENV)/.app
	$(BIN)/labkit app$(if $(PORT), --port $(PORT))

lab: $(VENV)/.notebooks
	$(BIN)/labkit lab

book: $(VENV)/.book
	rm -rf $(BOOK)
	$(BIN)/python -m sphinx -q -W --keep-going -E -c docs -d build/doctrees . $(BOOK)
	@echo "open $(BOOK)/index.html"

# chapters have the names of the notebooks; without CHAPTER, all are printed
book-pdf: book
	@for page in $(BOOK)/notebooks/solutions/$(CHAPTER)*.html; do \
		[ -f "$$page" ] || { echo "no chapter begins with $(CHAPTER): say 00, 01, ..."; exit 2; }; \
		$(CHROMIUM) --headless --log-level=3 --no-pdf-header-footer --window-size=760,1000 --virtual-time-budget=20000 \
			--print-to-pdf=$(BOOK)/$$(basename $$page .html).pdf "file://$(CURDIR)/$$page#print" || exit 1; \
	done

test: $(VENV)/.dev
	$(PYTEST) -m "not whole and not weekly"

test-all: $(VENV)/.dev
	$(PYTEST) -m "not weekly"

# all tests with @given have the mark `hypothesis`
test-weekly: $(VENV)/.dev
	$(PYTEST) -m "weekly or hypothesis" --hypothesis-profile weekly
	$(MAKE) test-lowest

test-lowest: $(LOWEST)/.made
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python .ci/lowest.py

check: docs-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.dev
	$(BIN)/python docs/measured.py

docs-check: $(VENV)/.dev
	$(BIN)/python docs/measured.py --check

bench: $(VENV)/.bench
	env -u OMP_WAIT_POLICY $(BIN)/python -m benchmarks

notebooks: $(VENV)/.dev
	$(BIN)/python -m labkit.course.notebooks

ablations: $(VENV)/.dev
	$(BIN)/python -m labkit.course.plans

corpora: $(VENV)/.dev
	for name in $(CORPORA); do \
		ending=csv; [ $$name = articles ] && ending=jsonl; \
		$(BIN)/labkit data make corpus $$name --out data/$$name.$$ending --force || exit 1; \
	done
	$(BIN)/python -c "from labkit.corpora.catalogue import DATA, generator; generator('truths').write(DATA)"
	$(BIN)/python -m labkit.shipped.making

runs: $(VENV)/.dev
	$(BIN)/labkit data make runs --force

clean:
	rm -rf $(VENV) $(LOWEST) build/book build/doctrees .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "labkit needs Python 3.11 or newer: PYTHON=python3.12 make ...")'
	@echo "Creating the environment in $(VENV). This takes a few minutes, once."
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "python3 has no venv; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.app $(VENV)/.notebooks $(VENV)/.book $(VENV)/.bench: $(VENV)/.%: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[$*]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	@touch $@

# the oldest Python, because the oldest versions have no wheels for newer ones
$(LOWEST)/.made: pyproject.toml .ci/lowest.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "the lowest versions are tried on Python 3.11: PYTHON=python3.11 make test-lowest")'
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python .ci/lowest.py bounds > $(LOWEST)/bounds.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(LOWEST)/bounds.txt --editable '.[bench,dev]'
	@touch $@
