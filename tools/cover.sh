#!/bin/sh
# Which lines the tests run: one run as usual, one in which kernels are plain Python, taken together.
set -eu
bin=$1
mkdir -p out/coverage
"$bin/coverage" erase
"$bin/coverage" run -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder tests || echo "make cover: tests failed; the figures are of those that ran"
NUMBA_DISABLE_JIT=1 "$bin/coverage" run -m pytest -q -n 2 --dist loadfile -p no:cacheprovider \
    tests/capture tests/decoders tests/analyzers tests/gui/desktop/timeline ||
    echo "make cover: tests failed without compiling; the figures are of those that ran"
"$bin/coverage" combine --quiet
"$bin/coverage" json --quiet -o out/coverage/coverage.json
"$bin/python" tools/cover.py out/coverage/coverage.json
