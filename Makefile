# `make demo` and `make test` set up what they need by themselves; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEEP := $(VENV)/.deep
WORKERS ?= 2
WELL_COVERED := */lpjt/core/*,*/lpjt/domains*,*/lpjt/_labels.py,*/lpjt/_matrices.py,*/lpjt/_stacks.py

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow test-deep test-matrix coverage lint wheel audit attack attack-page mutants mutants-page bench-report robust asking results conformance figures \
	screenshots docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

install: $(STAMP)  ## make .venv with the package and its development tools, once (PYTHON=... chooses the interpreter)

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (once; a few minutes at most)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lpjt needs Python 3.11 or newer; choose one with make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## transfer labels between two sets of digits and print the accuracy; a report in lpjt-demo.html
	@$(BIN)/lpjt demo

test: $(STAMP)  ## run the tests but the slow ones (LPJT_DATA=DIRECTORY for those on real data; ARGS='-k graphs' to choose)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not slow' $(ARGS)

# A file at a time, so that its tests share one cluster.
test-slow: $(STAMP)  ## run the tests that take more than a few seconds
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m slow $(ARGS)

# torch takes a gigabyte, so that neither `make install` nor `make test` asks for it; without it these tests are skipped.
test-deep: $(DEEP)  ## install torch, once, and run the tests of the deep methods
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/deep $(ARGS)

$(DEEP): $(STAMP)
	@echo "Adding torch to $(VENV) (once)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@touch $@

# A quarter of an hour or more on two cores for each of three environments, which are made in build/matrix.
test-matrix: $(STAMP)  ## the tests on the oldest and newest packages and Python (ARGS='oldest --rooms core fitting' for a part)
	$(BIN)/python tools/matrix.py $(ARGS)

coverage: $(STAMP)  ## branch coverage of the tests but the slow ones; at least 95 % of core and of the door
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not slow' -q --cov --cov-report= $(ARGS)
	$(BIN)/coverage report
	$(BIN)/coverage report --include='$(WELL_COVERED)' --fail-under=95

lint: $(STAMP)  ## style, types, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict tools
	$(BIN)/python tools/typed_names.py
	$(BIN)/lint-imports

wheel: $(STAMP)  ## the wheel, in dist; the same bytes every time (ARGS=--check builds it twice and compares)
	$(BIN)/python tools/wheel.py $(ARGS)

audit: $(STAMP)  ## known vulnerabilities of what the package needs, by pip-audit, if its service answers
	$(BIN)/python tools/audit.py

attack: $(STAMP)  ## adversarial fits, damaged files, kills, full disks, load; resumes (hours; ARGS='fits --cases 500')
	PYTHONPATH=tools $(BIN)/python -m attack $(ARGS)

attack-page: $(STAMP)  ## docs/reliability.md: counts of what make attack has stored, in results/attack/summary.json
	PYTHONPATH=tools $(BIN)/python -m attack --summary
	PYTHONPATH=tools $(BIN)/python -m attack.page $(ARGS)

# 300 faults: 15 to 40 minutes on two cores.
mutants: $(STAMP)  ## plant small faults in core, parameters and fitting; do the tests notice? (ARGS='src/lpjt/core --count 60')
	$(BIN)/python tools/mutants.py $(ARGS)

mutants-page: $(STAMP)  ## docs/reliability.md: the last run of make mutants, with the reasons of docs/survivors.toml
	$(BIN)/python tools/mutants_page.py $(ARGS)

# Hours on two cores, on a machine that does nothing else: most of them go into the dense transcription at 4,000 and
# 8,000 rows (two hours at most for each), then the million rows. Wants 12 GB; `lpjt bench quick` takes a minute.
bench-report: $(STAMP)  ## docs/performance.md: measures everything again (needs LPJT_DATA; hours), ARGS=--page writes only
ifneq ($(ARGS),--page)
	$(BIN)/lpjt bench quick --store
	$(BIN)/lpjt bench growth
	$(BIN)/lpjt bench visda
	$(BIN)/lpjt bench pie
	$(BIN)/lpjt bench neighbors --full
	$(BIN)/lpjt bench sample
	$(BIN)/lpjt bench search
	$(BIN)/lpjt bench small
	$(BIN)/lpjt bench predict
	$(BIN)/lpjt bench disk
	$(BIN)/lpjt bench floor
	$(BIN)/lpjt bench peers
endif
	$(BIN)/lpjt bench report --force

robust: $(STAMP)  ## docs/robustness.md: runs what is not stored yet (needs LPJT_DATA; hours), ARGS=--page writes only
	$(BIN)/lpjt bench robust --force --jobs $(WORKERS) $(ARGS)

asking: $(STAMP)  ## docs/asking.md: runs what is not stored yet (needs LPJT_DATA; an hour), ARGS=--page writes only
	$(BIN)/lpjt bench ask --force --jobs $(WORKERS) $(ARGS)

conformance: $(STAMP)  ## docs/conformance.md: the suite on what is installed of the peers, ARGS=--page writes only
	$(BIN)/python -m lpjt.study.pages.conformance $(ARGS)

results: $(STAMP)  ## docs/results.md: runs what is not stored yet (needs LPJT_DATA; hours for everything), ARGS=--page writes only
	$(BIN)/python -m lpjt.study.pages.results $(ARGS)

# Without fig-landmarks: its photographs belong to their data set.
figures: $(STAMP)  ## the paper's figures, in docs/figures (needs LPJT_DATA)
	$(BIN)/lpjt reproduce fig-sensitivity fig-convergence fig-embedding -o docs/figures --force --jobs 2

screenshots: $(STAMP)  ## pictures of reports, in docs/figures (needs Chromium; LPJT_DATA for amazon to webcam)
	$(BIN)/python tools/screenshots.py

docs: $(STAMP)  ## the documentation, in docs/_build; runs the examples (ARGS='-D plot_gallery=False' does not)
	$(BIN)/python -m sphinx -W -n -q $(ARGS) -b html docs docs/_build
	@! grep -rlE '<(script|link|img)[^>]+(src|href)="(https?:)?//' docs/_build --include='*.html' || { echo 'These pages need a network.'; false; }

clean:  ## remove what can be made again, .venv included
	rm -rf $(VENV) build dist docs/_build docs/examples docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
