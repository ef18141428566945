# What can be done with ritbot. `make` alone lists it. Needs Python 3.11 or newer, and nothing else.

.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:

BIN := .venv/bin
READY := .venv/.ready
LIGHT := .venv/.ready-without-pytorch
MANUAL := build/manual/.built
LOCK := deploy/requirements.lock

# The first Python that is new enough; another one by `make PYTHON=/path/to/python3 demo`.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.14 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.PHONY: help demo play test check fast chaos bench-retrieval bench-extracts bench-words bench-parse bench-embed bench-events bench-cycle bench-scale cluster manual lock clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(LIGHT) $(MANUAL) ## Index ritbot's own manual, ask it four questions, then yours
	@$(BIN)/ritbot demo --manual build/manual

play: $(LIGHT) $(if $(FOLDER),,$(MANUAL)) ## Ask the whole bot in a browser, in a workspace on a local page, no account: FOLDER=your/html PORT=8484
	@$(BIN)/python -m tests.play $(if $(FOLDER),"$(FOLDER)") $(if $(PORT),--port $(PORT))

test: $(READY) $(MANUAL) ## All checks and all tests
	@$(MAKE) --no-print-directory check
	@echo "Testing, three parts side by side (some minutes)."
	@$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

check: $(READY) ## Lint, format and types
	@echo "Checking lint, format and types (a minute the first time)."
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

fast: $(READY) ## The quick tests only; stops at the first failure
	@$(BIN)/pytest -x -m "not slow" tests/unit tests/contract tests/test_layers.py

chaos: $(READY) ## Kill, freeze, stop, reorder; nothing may be lost: SECONDS=120 or ROUNDS=20 a column, SEED=7 COLUMN=cluster
	@$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(COLUMN),--column $(COLUMN))

bench-retrieval: $(READY) ## How often retrieval finds the gold section: HTML=folder QUESTIONS=file MODEL=folder
	@$(BIN)/python -m tests.bench.bench_retrieval

bench-extracts: $(READY) ## Whether extracts answer, on documentation sites of Debian: SITES=folder ONLY=git,sqlite SHOW=1
	@$(BIN)/python -m tests.bench.bench_extracts

bench-words: $(READY) ## Names, versions, compounds and mixed languages: what the search and the extracts find of each
	@$(BIN)/python -m tests.bench.bench_words

bench-parse: $(READY) ## Pages a second from HTML to tree
	@$(BIN)/python -m tests.bench.bench_parse

bench-embed: $(READY) ## The default embedding model with and without PyTorch: start, speed, memory, vectors: THREADS=1
	@$(BIN)/python -m tests.bench.bench_embed

bench-events: $(READY) ## Seconds from a changed page to a search that finds it, memory of each role: PAGES=100 EDITS=20
	@$(BIN)/python -m tests.bench.bench_events

bench-cycle: $(READY) ## Seconds and reads of a watch cycle with 100 pages due, of 1,000 and of 100,000: PAGES=100000 DUE=100
	@$(BIN)/python -m tests.bench.bench_cycle

bench-scale: $(READY) ## What a site of 1,000 and of 20,000 pages costs: index, again, an edit, a question, memory: PAGES=1000,20000
	@$(BIN)/python -m tests.bench.bench_scale

cluster: $(READY) ## Kafka, OpenSearch and a stand-in for Qdrant on this machine, until Ctrl-C
	@exec $(BIN)/python -m tests.servers.cluster

manual: $(MANUAL) ## Build the manual to build/manual

lock: ## Write the lock anew from what .venv holds
	@{ sed -n '/^#/p' $(LOCK); $(BIN)/pip freeze --all --exclude-editable \
		| grep -vE '^(nvidia-|cuda-|triton==|pip==)' | sed 's/+cpu$$//'; } > $(LOCK).new
	@mv $(LOCK).new $(LOCK)

clean: ## Remove what was built and all caches, but not .venv
	@rm -rf build .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find bot deploy ingest navigator tests -name __pycache__ -prune -exec rm -rf {} +

$(READY) $(LIGHT): pyproject.toml $(LOCK) deploy/pytorch.txt deploy/install.py
	@test -n "$(PYTHON)" || { echo "ritbot needs Python 3.11 or newer, and no python3 here is." \
		"Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@TMPDIR="$(CURDIR)/.cache/tmp" "$(PYTHON)" -m deploy.install $(if $(filter $(LIGHT),$@),--without-pytorch)

$(MANUAL): $(shell find deploy/manual 2>/dev/null) $(shell find ingest navigator bot deploy -name "*.py") | $(LIGHT)
	@echo "Building the manual (10 seconds)."
	@rm -rf build/manual
	@$(BIN)/sphinx-build -q -W --keep-going -b html -d build/manual-work deploy/manual build/manual
	@touch $@
