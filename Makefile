# make demo   from a fault to an answer, on the emulated network card (needs Python 3.11 with venv, nothing else)
# make quick  lint, types and the quick tests, which neither compile nor start a program: a minute, the first time five
# make test   everything that must hold: lint, types, tests (sets the machine up itself)
# make help   the other targets

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.run-ready
DEV    := $(VENV)/.dev-ready
ROOM   :=
PROOFS := anew
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile # Python compiles what is imported
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder # in order of the folders: no long file comes last

# Many containers set it; without bytecode each process and each run of pytest compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help campaign-guard bench-guard demo demo-rtl quick test lint types tests pythons cover docs bench campaign campaign-open campaign-rtl campaign-pull campaign-disconnects campaign-taps campaign-oracles campaign-guess campaign-iwarp campaign-flips campaign-what-if campaign-journals soak fuzz-packets harden hostile campaign-reads campaign-cards campaign-livelock campaign-foreign timing area proofs pictures registers lock links system clean

help:
	@echo "make demo           a fault is injected, caught, pulled and explained"
	@echo "make demo-rtl       the same on the cards in Verilog, verilated"
	@echo "make quick          lint, types and the quick tests; ROOM=decoders: those of one room"
	@echo "make test           lint, types, docs and the whole test suite"
	@echo "make tests          the test suite alone; ROOM=decoders: one room's"
	@echo "make pythons        the quick tests on every other Python from 3.11 that is found"
	@echo "make cover          which lines the tests run, kernels too; a table by room (twice as long as make tests)"
	@echo "make docs           the documentation site, in out/docs"
	@echo "make bench          every speed, as a ratio measured in one run"
	@echo "make campaign       each fault x 100 seeds, and 500 clean runs (about 30 minutes)"
	@echo "make campaign-open  5,000 runs: listed faults, faults in no list, random geometries; each answer by its confidence (an hour)"
	@echo "make campaign-rtl   each fault x 20 seeds, 40 clean runs, and 36 unlisted faults x 10, on the simulated board"
	@echo "make campaign-pull  200 pulls through a bad network; campaign-disconnects: 500 pulls of each kind of target, which vanishes"
	@echo "make campaign-guard 200 schedules of two guards, an operator and power cycles on one card (six minutes)"
	@echo "make bench-guard    how long a guard is blind, and how fast the host freezes a card"
	@echo "make campaign-taps  a million random beats through each width of tap, and back (Verilator)"
	@echo "make campaign-cards  each general fault x 20 seeds on cards of 8, 64 and 512 bits, on 60 random cards, and clean runs (five minutes)"
	@echo "make campaign-livelock  receive livelock by adapters and hosts at random, 200 profiles (three minutes)"
	@echo "make campaign-foreign  each general fault x 20 seeds in LiteEth and LiteX's FIFOs, 600 clean runs, long ones (an hour)"
	@echo "make campaign-iwarp  ten million legal FPDUs, 1,000 captures beside tshark, each breach x 20 seeds, broken copies of the stack"
	@echo "make fuzz-packets   broken captures into the readers of packets, TCP and iWARP; N=20000 of them (ten minutes)"
	@echo "make campaign-what-if  200 random cards recorded, a change foretold from each capture and held against the truth (half an hour)"
	@echo "make campaign-flips   1,000 single bits flipped in captures: each found, all but its chunk read (five minutes)"
	@echo "make campaign-journals  recordings under 1,000 kill -9, 200 power cuts, failing disks, flipped bits (five minutes)"
	@echo "make soak           twenty cards read twenty times a second by serve --record for MINUTES=120: memory, descriptors, every sample"
	@echo "make harden         broken input into every parser and server, resumed where it stopped; N=40 seconds of the processor for each, N=asked: until all have what is asked for"
	@echo "make hostile        files that lie, read with 512 MiB of memory; the table in docs/reliability.md (two minutes)"
	@echo "make campaign-reads  every verb that reads on a card that counts: ten million words asked for, 0 written (minutes)"
	@echo "make campaign-oracles  every decoder on 200 generated captures, against sigrok or a bus model"
	@echo "make campaign-guess  what decode proposes for each labelled capture in FREEZEFRAME_CAPTURES/dumps: confusion and calibration"
	@echo "make timing         what a tap costs in time, placed and routed (apt-get install nextpnr-ice40)"
	@echo "make area           what the recorder costs in LUTs, flip-flops and block RAMs (about ten minutes)"
	@echo "make proofs         prove, synthesize and lint anew what tests/rtl/recorded.json holds (ten minutes); PROOFS=stale: only what no longer fits its sources"
	@echo "make pictures       the pictures in docs/images: desktop (a real window under Xvfb), dashboard, report"
	@echo "make registers      generate tables, headers, pages and Verilog from the register map"
	@echo "make lock           pin the newest versions of all dependencies"
	@echo "make clean          remove the virtual environments and caches"

demo: $(RUN)
	@$(BIN)/freezeframe demo -o out/demo --force

demo-rtl: system $(RUN)
	@$(BIN)/freezeframe demo --board -o out/demo-rtl --force

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Freezeframe needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Say: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "The venv module is missing: apt-get install python3-venv"; exit 1; }

$(RUN): lock/run.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) (once; a minute or two)"
	@$(PIP) --require-hashes -r lock/run.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(RUN)

$(DEV): lock/dev.txt $(RUN)
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP) --require-hashes -r lock/dev.txt
	@touch $(DEV)

system:
	@sh tools/system-packages.sh

# An unpacked source archive has no links; static tools follow them.
links:
	@cd src/freezeframe && for room in capture decoders analyzers emulator gui; do [ -e $$room ] || ln -s ../../$$room $$room; done

# Two at a time: Debian's packages beside Python's, the type check (one process) beside the first tests.
test:
	@$(MAKE) --no-print-directory -j 2 system $(DEV) links
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 2 types docs tests

quick: $(DEV) links
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(PYTEST) --quick -r fE tests/$(ROOM)

lint: $(DEV)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/python firmware-hooks/registers/generate.py --check
	@$(BIN)/deptry .
	@if [ -d .git ] || [ -f .git ]; then $(BIN)/reuse lint --lines; fi # it asks git which files are ours

types: $(DEV) links
	@$(BIN)/mypy && $(BIN)/mypy firmware-hooks/registers/generate.py

tests: $(DEV)
	@$(PYTEST) tests/$(ROOM)

pythons: $(DEV)
	@sh tools/pythons.sh $(BIN)/python

cover: system $(DEV)
	@sh tools/cover.sh $(BIN)

docs: $(DEV) links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

bench: $(DEV)
	@$(BIN)/python -m tests.bench

campaign: $(DEV)
	@$(BIN)/python -m tests.campaign.diagnosis

campaign-open: $(DEV)
	@$(BIN)/python -m tests.campaign.open_world.run --write
	@$(BIN)/python -m tests.campaign.open_world.next --write

campaign-rtl: system $(DEV)
	@$(BIN)/python -m tests.campaign.diagnosis --board
	@$(BIN)/python -m tests.campaign.open_world.board --write

campaign-guard: $(DEV)
	@$(BIN)/python -m tests.capture.custody.schedules 200

bench-guard: $(DEV)
	@$(BIN)/python -m tests.bench.bench_guard

campaign-taps: system $(DEV)
	@$(BIN)/python -m tests.rtl.card.random_beats

campaign-pull: $(DEV)
	@$(BIN)/python -m tests.campaign.pulls

campaign-disconnects: $(DEV)
	@$(BIN)/python -m tests.campaign.disconnects

campaign-cards: $(DEV)
	@$(BIN)/python -m tests.campaign.cards

campaign-livelock: $(DEV)
	@$(BIN)/python -m tests.campaign.livelock

campaign-foreign: system $(DEV)
	@$(BIN)/python -m tests.campaign.foreign

campaign-iwarp: $(DEV)
	@$(BIN)/python -m tests.campaign.iwarp

fuzz-packets: $(DEV)
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=out/checked-kernels $(BIN)/python -m tests.campaign.fuzz_packets --write --executions $(or $(N),20000)

campaign-what-if: $(DEV)
	@$(BIN)/python -m tests.campaign.what_if --write

campaign-flips: $(DEV)
	@$(BIN)/python -m tests.campaign.bit_flips

campaign-journals: $(DEV)
	@$(BIN)/python -m tests.campaign.journals

soak: $(DEV)
	@$(BIN)/python -m tests.campaign.soak --write --minutes $(or $(MINUTES),120)

campaign-oracles: $(DEV)
	@$(BIN)/python -m tests.campaign.oracles --write

campaign-guess: $(DEV)
	@$(BIN)/python -m tests.campaign.guess

harden: $(DEV)
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=out/checked-kernels $(BIN)/python -m tests.campaign.harden --write $(if $(filter asked,$(N)),--asked,--seconds $(or $(N),40))

hostile: $(DEV)
	@$(BIN)/python -m tests.campaign.hostile --write

campaign-reads: $(DEV)
	@$(BIN)/python -m tests.campaign.stray_writes $(or $(N),10000000)

timing: $(DEV)
	@$(BIN)/python -m tests.rtl.timing --write
	@$(BIN)/python -m tests.rtl.tap_timing --write

area: system $(DEV)
	@FREEZEFRAME_PROOFS=anew $(BIN)/python -m tests.rtl.area

proofs: system $(DEV)
	@FREEZEFRAME_PROOFS=$(PROOFS) $(BIN)/pytest tests/rtl/test_formal.py tests/rtl/test_area.py tests/rtl/test_recorder_area.py tests/rtl/test_lint.py \
		tests/rtl/test_lint_recorder.py tests/rtl/card/test_card_device.py tests/rtl/card/test_card_constraints.py tests/rtl/card/test_card_sdc.py \
		tests/rtl/test_equivalence.py tests/registers/test_register_file.py

pictures: system $(DEV)
	@xvfb-run -a -s '-screen 0 1600x900x24' $(BIN)/python -m tests.gui.desktop.screenshot docs/images
	@for size in 1280x720 1920x1080; do xvfb-run -a -s "-screen 0 $${size}x24" $(BIN)/python -m tests.gui.desktop.first_screens docs/images/first; done
	@QT_SCALE_FACTOR=2 xvfb-run -a -s '-screen 0 3840x2160x24' $(BIN)/python -m tests.gui.desktop.first_screens docs/images/first
	@$(BIN)/python -m tests.gui.dashboard.screenshot docs/images
	@$(BIN)/python -m tests.gui.report_screenshot docs/images

registers: $(DEV)
	@$(BIN)/python firmware-hooks/registers/generate.py

lock: $(DEV)
	@$(BIN)/python -m pip install --quiet uv
	@sh tools/lock.sh $(BIN)/uv

clean:
	@rm -rf $(VENV) $(VENV)-3.* .mypy_cache .pytest_cache .ruff_cache out
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
