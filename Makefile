# Commands of fewlabel. `make` alone lists them; a line with ## after a target is its description.
# Settings: PYTHON=python3.12 make build    the interpreter that .venv is made with
#           FUZZTIME=1m make fuzz           time for each fuzz target; CALLS, SEED, MUTATIONS, FITS, FAULTS for make stress
#           FEWLABEL_DATA=folder make test  also the tests on the real data sets (without it they are skipped, visibly)
#           FEWLABEL_SOAK_SECONDS=3600 make test PYTEST="-k many_fits"   fits for an hour, to see whether memory grows
#           make test PYTEST="-k switching" further arguments for pytest; BENCH likewise
#           make bench BENCH="quality --sets comp --labels 20"  one of the benchmarks, a part of it
#           make bench BENCH="paired FOLDER --tasks comp,text1" against another checkout that is built, some of the tasks

PYTHON ?= python3
GO ?= go
FUZZTIME ?= 10s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

VENV := .venv
BIN := $(VENV)/bin
PYTHON_CODE := python examples $(wildcard docs)
ifeq ($(shell uname -s),Darwin)
LIBRARY := python/fewlabel/libfewlabel.dylib
else
LIBRARY := python/fewlabel/libfewlabel.so
endif

# What the library is made of; tests are not part of it.
ENGINE := $(shell find capi engine include -type f \( -name '*.go' -o -name '*.[chsS]' -o -name '*.map' \) \
	! -name '*_test.go' ! -path '*/testdata/*' ! -path '*/tests/*')

# The C programs: examples, linked with the package's library, and tests, linked with one that can be made to panic.
C_EXAMPLES := $(basename $(notdir $(wildcard examples/c/*.c)))
C_TESTS := $(basename $(notdir $(wildcard capi/tests/*.c)))
C_FLAGS := -std=c99 -g -O1 -Wall -Wextra -Wpedantic -Werror -Iinclude
C_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
PANICKING := build/panicking/$(notdir $(LIBRARY))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help build demo test test-go test-python ctest bench check fuzz wheel docs release clean \
	check-go check-c check-python stress sdist wheel-any wheel-cross dist-c examples html

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(VENV)/installed $(LIBRARY) ## build the library and put the package, editable, into .venv

demo: build ## what 30 answers are worth, on real text (set-up included)
	$(BIN)/python -m fewlabel

test: build test-go test-python ctest ## run every test: Go, Python, C (set-up included)

test-go: ## run the Go tests
	$(GO) test ./...

test-python: build ## run the Python tests
	COLUMNS=120 $(BIN)/python -m pytest -q -n 2 --dist loadfile $(PYTEST)

ctest: build $(addprefix ctest-,$(C_EXAMPLES) $(C_TESTS)) ## build and run the C programs: plain, sanitizers, valgrind
	@test -n "$(C_EXAMPLES)" || { echo "ctest: there is no examples/c/*.c" >&2; exit 1; }

bench: build ## measure: BENCH=name, and what it takes; without a name, list what there is
	$(BIN)/python -m benchmarks $(BENCH)

# A known defect of Go before 1.27: a target without faults can end with "context deadline exceeded" as time is up.
# That message is let pass if no failing input was written down.
fuzz: ## run every Go fuzz target for FUZZTIME (10s)
	@mkdir -p build; set -e; targets=$$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' engine capi) || \
		{ echo "fuzz: there is no fuzz target" >&2; exit 1; }; \
	for target in $$(echo "$$targets" | sed -E 's/:[0-9]+:func /:/'); do \
		folder=$$(dirname "$${target%%:*}"); name=$${target##*:}; \
		echo "== $$folder $$name"; \
		$(GO) test "./$$folder" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) 2>&1 | tee build/fuzz.log; \
		if grep -q '^ok' build/fuzz.log; then continue; fi; \
		if grep -q 'Failing input written' build/fuzz.log; then exit 1; fi; \
		grep -q 'context deadline exceeded' build/fuzz.log || exit 1; \
		echo "(the time was up; no input failed)"; \
	done

# Another SEED is another sequence of calls; a status that a call must not have is reported with the seed. Signals come
# 0.3 ms apart, with three handlers on three kinds of stack.
CALLS ?= 200000
SEED ?= 1
MUTATIONS ?= 10000
FITS ?= 200
FAULTS ?= 100
stress: build ctest-calls ctest-signals # random calls of the C interface, signals in fits, damaged model files, killed sessions, faults of Dask's workers
	cd build/ctest/calls && ./sanitized $(CALLS) $(SEED)
	cd build/ctest/signals && ./plain $(FITS)
	FEWLABEL_MUTATIONS=$(MUTATIONS) FEWLABEL_SEED=$(SEED) $(BIN)/python -m pytest -s -q \
		python/tests/test_model_file_mutations.py
	FEWLABEL_KILLS=$(FAULTS) FEWLABEL_SEED=$(SEED) $(BIN)/python -m pytest -s -q -k is_killed python/tests/test_labeling.py
	FEWLABEL_FAULTS=$(FAULTS) FEWLABEL_SEED=$(SEED) $(BIN)/python -m pytest -s -q python/tests/test_dask_faults.py

wheel-any: $(VENV)/developer # build the wheel without a library, which loads models and predicts, into dist/any and check it
	rm -rf dist/any
	FEWLABEL_TARGET=any $(PACK) -t wheel -d dist/any
	$(BIN)/python python/check_archive.py dist/any/*.whl

wheel: $(VENV)/developer ## build a wheel into dist/, twice, check it, install and import it in a fresh environment
	rm -rf build/wheel dist/*.whl
	$(PACK) -t wheel -d dist
	GOCACHE='$(CURDIR)/build/wheel/cache' $(PACK) -t wheel -d build/wheel/again
	cmp dist/*.whl build/wheel/again/*.whl && sha256sum dist/*.whl
	$(BIN)/python -m auditwheel show dist/*.whl
	$(BIN)/python python/check_archive.py dist/*.whl
	$(BIN)/python python/try_archive.py import dist/*.whl

sdist: $(VENV)/developer # build the source archive into dist/, check it and build a wheel from it without a network
	rm -rf build/sdist dist/*.tar.gz
	$(PACK) -t sdist -d dist
	$(BIN)/python python/check_archive.py dist/*.tar.gz
	$(BIN)/python python/try_archive.py source dist/*.tar.gz

# Wheels for other machines are not in dist/ itself: `pip install dist/*.whl` has to find one that fits. A C program runs
# with the library for ARM under qemu, all that need nothing of POSIX with that for Windows under Wine; macOS is not run.
OTHERS := aarch64 windows macos-arm64 macos-x86_64
wheel-cross: $(VENV)/cross # build the wheels for ARM, Windows and macOS and check them
	$(call need,qemu-aarch64,qemu-user)
	rm -rf build/aarch64 $(addprefix dist/,$(OTHERS))
	set -e; for target in $(OTHERS); do $(BIN)/python python/build_library.py --target $$target --check-tools; \
		FEWLABEL_TARGET=$$target $(PACK) -t wheel -d dist/$$target; \
		$(BIN)/python python/check_archive.py dist/$$target/*.whl; done
	$(BIN)/python -m zipfile -e dist/aarch64/*.whl build/aarch64
	aarch64-linux-gnu-gcc $(C_FLAGS) examples/c/train.c -o build/aarch64/train -Lbuild/aarch64/fewlabel -lfewlabel -lm
	cd build/aarch64 && qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=fewlabel ./train
	$(BIN)/python python/try_archive.py windows dist/windows/*.whl

# In a folder of its own: other commands take every .tar.gz in dist/ for a source archive.
dist-c: $(VENV)/installed # build the C kit into dist/c, unpack it elsewhere, build and run its examples
	rm -rf dist/c
	$(BIN)/python python/build_c_kit.py dist/c
	$(BIN)/python python/try_archive.py kit dist/c/*.tar.gz

release: ## run what a release must pass beyond `make test check`: races, pages, wheels, faults, longer fuzzing
	$(GO) test -race -timeout 40m ./...
	$(MAKE) docs wheel sdist wheel-any wheel-cross dist-c
	$(BIN)/python python/try_archive.py test dist/*.whl
	$(MAKE) stress fuzz FUZZTIME=60s

docs: examples html ## build the pages into build/docs/html; run every example

examples: build # what `make test check` runs of it
	$(BIN)/python -m pytest -q -n 2 --dist loadfile python/tests/test_docs.py python/tests/test_docstrings.py
	$(BIN)/python python/check_pages.py

html: build $(VENV)/docs # the rest: the notebook, the gallery, the pages
	$(BIN)/python examples/build_notebook.py --check
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -d build/docs/doctrees docs build/docs/html
	@echo build/docs/html/index.html

check: check-go check-c check-python ## format, vet, lint, types, C compilers, exports

clean: ## remove everything that these commands make
	rm -rf $(VENV) build dist docs/gallery docs/generated docs/sg_execution_times.rst bench-results \
		python/benchmarks/.cache python/fewlabel/libfewlabel.* \
		.pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python examples -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up ---------------------------------------------------------------------------------------------------------

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACK := $(BIN)/hatchling build

# $(call need,command,package of Debian)
need = @command -v $(1) >/dev/null || { echo 'missing: $(1) (Debian, Ubuntu: apt-get install $(2))' >&2; exit 1; }

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "fewlabel needs Python 3.10 or newer; \
	PYTHON=... names another than %s" % sys.executable)'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The editable install builds the library as well; the rule below renews it when only the engine has changed.
$(VENV)/installed: pyproject.toml python/hatch_build.py python/build_library.py | $(BIN)/python
	@$(BIN)/python python/build_library.py --check-tools
	$(PIP_INSTALL) --upgrade 'pip>=25.1' # dependency groups
	$(PIP_INSTALL) --group test --editable '.[plot,progress]'
	@touch $@

$(LIBRARY): $(ENGINE) go.mod go.sum | $(VENV)/installed
	$(BIN)/python python/build_library.py

$(VENV)/docs: pyproject.toml | $(VENV)/installed
	$(PIP_INSTALL) --group docs
	@touch $@

$(VENV)/developer: pyproject.toml | $(VENV)/installed
	$(PIP_INSTALL) --group dev
	@touch $@

$(VENV)/cross: pyproject.toml | $(VENV)/developer
	$(PIP_INSTALL) --group cross
	@touch $@

# --- C programs -----------------------------------------------------------------------------------------------------

# $(call c_program,NAME,folder of the library,VARIANT,flags): compile $< and run it, in a folder of its own because it
# writes files, without arguments. $(call quietly,NAME,VARIANT,command) shows what a command prints only where it fails.
quietly = @printf ' %s' '$(2)'; cd build/ctest/$(1); $(3) > $(2).log 2>&1 || { echo ' failed:'; cat $(2).log; exit 1; }
define c_program
	@mkdir -p build/ctest/$(1)
	@$(CC) $(C_FLAGS) $(4) $< -o build/ctest/$(1)/$(3) -L$(2) -lfewlabel -Wl,-rpath,'$(CURDIR)/$(2)' -pthread -ldl -lm
	$(call quietly,$(1),$(3),./$(3))
endef

# Memcheck on the examples that are short under it; the tests pass bad pointers on purpose. It looks for addresses
# that are not the program's and for leaks. What is defined it cannot tell here: Go's moves between stacks make it take
# results of the library for undefined, now and then.
MEMCHECKED := train stream
define c_memcheck
	$(if $(shell command -v valgrind),$(call quietly,$(1),valgrind,valgrind --quiet --error-exitcode=1 \
		--undef-value-errors=no --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--suppressions='$(CURDIR)/capi/valgrind.supp' ./plain),@printf ' (no valgrind here)')
endef

$(addprefix ctest-,$(C_EXAMPLES)): ctest-%: examples/c/%.c $(wildcard examples/c/*.h) include/fewlabel.h $(LIBRARY)
	@printf '%s:' $*
	$(call c_program,$*,python/fewlabel,plain,)
	$(call c_program,$*,python/fewlabel,sanitized,$(C_SANITIZE))
	$(if $(filter $*,$(MEMCHECKED)),$(call c_memcheck,$*))
	@echo

$(addprefix ctest-,$(C_TESTS)): ctest-%: capi/tests/%.c $(wildcard capi/tests/*.h) include/fewlabel.h $(PANICKING)
	@printf '%s:' $*
	$(call c_program,$*,$(dir $(PANICKING)),plain,)
	$(call c_program,$*,$(dir $(PANICKING)),sanitized,$(C_SANITIZE))
	@echo

$(PANICKING): $(LIBRARY)
	$(BIN)/python python/build_library.py --tags provoke --output $(dir $@)

# --- checks ---------------------------------------------------------------------------------------------------------

# $(call forbid,pattern,files,reason): fail where a line of the files matches.
forbid = @! LC_ALL=C.UTF-8 grep -nE '$(1)' $(2) /dev/null || { echo 'check: $(3)' >&2; exit 1; }
GO_CODE := $(shell find engine capi -name '*.go' ! -name '*_test.go')
ENGINE_CODE := $(filter engine/%,$(GO_CODE))
C_CODE := $(wildcard include/*.h capi/*.h capi/*.c examples/c/*.h examples/c/*.c capi/tests/*.h capi/tests/*.c)
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Status 3 of govulncheck: some were found. Without its database the check is skipped, and says so.
check-go:
	@files=$$(gofmt -l engine capi); test -z "$$files" || { echo "gofmt these: $$files" >&2; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(call forbid,^[[:space:]]*go[[:space:]]+[A-Za-z_],$(filter-out engine/work/%,$(GO_CODE)),a bare go statement; \
	work.Go keeps a panic from ending the process)
	$(call forbid,^(import )?[[:space:]]*"os/signal",$(GO_CODE),signals belong to the host process)
	$(call forbid,os\.(Getenv|LookupEnv|Environ|ExpandEnv),$(GO_CODE),settings are arguments and not environment)
	$(call forbid,^(import )?[[:space:]]*"C"$$,$(ENGINE_CODE),only capi imports "C")
	$(call forbid,.{121},$(GO_CODE) $(C_CODE),a line has more than 120 columns)
	@mkdir -p build; $(GO) install $(GOVULNCHECK); \
	$$($(GO) env GOPATH)/bin/govulncheck ./... > build/vulnerabilities.log 2>&1; status=$$?; \
	if grep -q 'fetching vulnerabilities:' build/vulnerabilities.log; then \
		echo "SKIPPED: govulncheck: $$(tail -n 1 build/vulnerabilities.log)"; \
	else cat build/vulnerabilities.log; exit $$status; fi

# The header alone and the examples, with every compiler and as both languages. Compiled to the end (-S): some warnings
# need the optimizer.
C_COMPILERS ?= gcc clang
check-c: build
	@set -e; mkdir -p build; echo '#include "fewlabel.h"' > build/header.c; \
	for compiler in $(C_COMPILERS); do \
		if ! command -v $$compiler >/dev/null; then echo "SKIPPED: no $$compiler here to compile the C code"; continue; fi; \
		for language in 'c -std=c99' 'c++ -std=c++17'; do \
			echo "$$compiler -x $$language: fewlabel.h and $(notdir $(wildcard examples/c/*.c))"; \
			for file in build/header.c examples/c/*.c; do \
				$$compiler -x $$language -O1 -Wall -Wextra -Wpedantic -Werror -Iinclude -S -o build/checked.s $$file; \
			done; \
		done; \
	done
ifeq ($(shell uname -s),Linux)
	$(BIN)/python python/check_library.py $(LIBRARY)
endif

check-python: $(VENV)/developer
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/mypy
	$(BIN)/python python/check_pages.py
