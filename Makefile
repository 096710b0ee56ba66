# Front doors: `make` sets up and runs, `make test` sets up and tests, `make test-all` tests what takes longer too.
SHELL := /bin/bash
VENV := .venv
PRESET ?= quick
SNAKEMAKE := $(VENV)/bin/snakemake --config preset=$(PRESET)
# uv does not read pip's setting of where wheels lie.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)

# A worker takes whole files of tests, the longest first; workers share one run of the workflow.
WORKERS ?= 2
PARALLEL := -n $(WORKERS) --dist loadscope --no-loadscope-reorder
PYTEST := $(VENV)/bin/python -m pytest $(PARALLEL)

.PHONY: run setup cluster test test-all compatibility faults stress format schema site manual bench pins clean
.DEFAULT_GOAL := run

run: setup
	@rm -f .snakemake/failed; $(SNAKEMAKE); status=$$?; \
	if [ -e .snakemake/failed ]; then \
	  $(SNAKEMAKE) partial=true --allowed-rules ledger -- results/$(PRESET)/index.html >/dev/null 2>&1; page=$$?; \
	else page=$$status; fi; \
	if [ $$status -ne 0 ] && [ $$page -eq 0 ]; then echo "The page is results/$(PRESET)/index.html"; fi; \
	exit $$status

setup: $(VENV)/.installed

# $(call install,...): what pip is told to install, by uv where there is one. Quiet twice, pip tells errors alone: it warns once
# a package of every place that it was told to look in and that is not there.
define install
	@if command -v uv >/dev/null; then \
	  VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode $(1); \
	else \
	  $(VENV)/bin/pip install --quiet --quiet --disable-pip-version-check $(1); \
	fi
endef

$(VENV)/.installed: envs/requirements.txt $(wildcard pyproject.toml)
	@command -v python3 >/dev/null || { echo "error: no python3 on the PATH; expected Python 3.11 or later"; exit 1; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: python3 is $$(python3 --version 2>&1); expected Python 3.11 or later"; exit 1; }
	@if command -v uv >/dev/null; then \
	  uv venv --quiet --allow-existing --python python3 $(VENV); \
	else \
	  python3 -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "error: python3 has no venv module; install it (Debian and Ubuntu: the package python3-venv)"; exit 1; }; \
	  python3 -m venv $(VENV); \
	fi
	$(call install,-r envs/requirements.txt)
	$(call install,--no-build-isolation --no-deps --editable .)
	@touch $@

$(VENV)/.installed-%: envs/requirements-%.txt $(VENV)/.installed
	$(call install,-r $<)
	@touch $@

# What profiles/slurm needs besides: Snakemake's plugin for Slurm.
cluster: $(VENV)/.installed-cluster

test: $(VENV)/.installed-test
	@STRESS_SEED=$${STRESS_SEED:-1} $(PYTEST) -m "not slow" tests

# And every study, a real Slurm, 400 broken files of every kind, more kills, long simulations, and the arithmetic of other
# processors. (All 170 000 broken files, HIERLEARN_FUZZ=0, take hours.)
test-all: $(VENV)/.installed-test
	@HIERLEARN_FUZZ=$${HIERLEARN_FUZZ:-400} STRESS_SEED=$${STRESS_SEED:-1} STRESS_KILLS=$${STRESS_KILLS:-12} $(PYTEST) tests; tests=$$?; \
	$(VENV)/bin/python tests/processors.py $(PARALLEL) && exit $$tests

# A small study at every released Snakemake from the floor on, which `make test-all` runs at the floor alone: a line each.
compatibility: $(VENV)/.installed-test
	@$(VENV)/bin/python tests/workflow/compatibility.py

# Each planted fault in a copy, until a test of `make test` fails: an hour.
faults: $(VENV)/.installed-test
	@$(VENV)/bin/python tests/planted_faults.py

# A hundred kills, half of them with Snakemake's records in a database, and more of the other faults that `make test` tries a
# few of, drawn with a seed that is printed: about half an hour.
stress: $(VENV)/.installed-test
	@STRESS_KILLS=$${STRESS_KILLS:-100} STRESS_SEED=$${STRESS_SEED:-$$RANDOM} $(VENV)/bin/python -m pytest tests/stress

format: $(VENV)/.installed-test
	$(VENV)/bin/ruff check --fix --quiet workflow tests benchmarks envs docs examples
	$(VENV)/bin/ruff format --quiet workflow tests benchmarks envs docs examples
	$(VENV)/bin/snakefmt Snakefile workflow

# What editors check study files with, after a component's parameters have changed.
schema: setup
	@$(VENV)/bin/python -m hierlearn.pipeline.command.study_schema > workflow/hierlearn/pipeline/schemas/study.schema.json

# Manual, gallery and ledger as one site in build/site; a link that leads nowhere is an error. The gallery's programs run where
# they have changed.
site: $(VENV)/.installed-documentation
	@$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going docs build/site && echo "The site is build/site/index.html"

# The same without the gallery's pictures, in half a minute: for who writes pages.
manual: $(VENV)/.installed-documentation
	@$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going -D plot_gallery=0 docs build/manual && \
	  echo "The manual is build/manual/index.html"

bench: $(VENV)/.installed-test
	@PYTHONPATH=workflow $(VENV)/bin/python benchmarks/table.py

# The pins again from the extras and groups of pyproject.toml, in a fresh environment: those of `make`, and what each other group
# adds; local version suffixes name one machine's build. The conda environment has those of `make` too, since Snakemake
# copies that file alone.
pins:
	rm -rf $(VENV)-pins && python3 -m venv $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet --upgrade pip
	: > envs/requirements.txt; set -e; for group in run cluster documentation test; do \
	  $(VENV)-pins/bin/pip install --quiet '.[torch,workflow]' --group $$group; \
	  $(VENV)-pins/bin/pip freeze --exclude hierlearn --exclude pip --exclude setuptools | sed 's/+cpu$$//' | \
	    grep -vxFf envs/requirements.txt > envs/requirements-$$group.txt; \
	  [ $$group != run ] || mv envs/requirements-run.txt envs/requirements.txt; \
	done
	grep -vxFf envs/requirements-cluster.txt envs/requirements-documentation.txt > envs/documentation.part && \
	  mv envs/documentation.part envs/requirements-documentation.txt
	sed '/^      - /d' envs/environment.yaml > envs/environment.part && \
	  sed 's/^/      - /' envs/requirements.txt >> envs/environment.part && mv envs/environment.part envs/environment.yaml
	$(VENV)-pins/bin/python envs/licences.py
	rm -rf $(VENV)-pins

clean:
	rm -rf results .snakemake build
