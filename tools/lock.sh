#!/bin/sh
# Pins every dependency, with hashes: lock/run.txt for users, lock/dev.txt for the tests.
set -eu
uv=$1
pin() { "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links "$@"; }
printf 'hatchling>=1.27\neditables>=0.5\n' > lock/build.in
pin pyproject.toml lock/build.in -o lock/run.txt
pin pyproject.toml lock/build.in --extra dev --extra peers -c lock/run.txt -o lock/dev.txt
rm lock/build.in
