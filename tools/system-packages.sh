#!/bin/sh
# Debian packages that the tests need: installed where we may, else the exact line to run.
set -eu
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need gcc gcc
need g++ g++
need make make
[ -e /usr/include/stdio.h ] || missing="$missing libc6-dev" # gcc only recommends it
need verilator verilator
need iverilog iverilog
need yosys yosys
need z3 z3
need sigrok-cli sigrok-cli
need tshark tshark
need vcd2fst gtkwave
[ -z "$missing" ] && exit 0
echo "Installing Debian packages:$missing"
if [ "$(id -u)" = 0 ]; then as_root=""
elif sudo -n true 2>/dev/null; then as_root="sudo -n"
else
    echo "make test needs Debian packages. Run this, then make test again:"
    echo "    sudo apt-get update && sudo apt-get install --no-install-recommends -y$missing"
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of packages
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
