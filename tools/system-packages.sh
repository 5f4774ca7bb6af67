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
[ -e /usr/include/json-c/json.h ] || missing="$missing libjson-c-dev" # LiteX's simulation is built with these two
[ -e /usr/include/event2/event.h ] || missing="$missing libevent-dev"
need ccache ccache # one and the same C++ of Verilator is compiled once
need iverilog iverilog
need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf # the C hooks as they run on a card's processor; 40 MB to load, 205 MB on the disk
need yosys yosys
need sta opensta # reads the constraints of a card's device
need tclsh tcl
need ghdl ghdl
need z3 z3
need sigrok-cli sigrok-cli
need tshark tshark
need vcd2fst gtkwave
need Xvfb xvfb
need xauth xauth # xvfb-run calls it
need chromium chromium # the report is shown in it, headless
# What Qt's wheels do not bring (gui/desktop/start.py has the same list).
need_library() { ldconfig -p | grep -q "$1" || missing="$missing $2"; }
need_library libEGL.so.1 libegl1
need_library libGL.so.1 libgl1
need_library libglib-2.0.so.0 libglib2.0-0
need_library libfontconfig.so.1 libfontconfig1
need_library libdbus-1.so.3 libdbus-1-3
need_library libxkbcommon.so.0 libxkbcommon0
need_library libxcb-cursor.so.0 libxcb-cursor0
need_library libxcb-icccm.so.4 libxcb-icccm4
need_library libxcb-image.so.0 libxcb-image0
need_library libxcb-keysyms.so.1 libxcb-keysyms1
need_library libxcb-render-util.so.0 libxcb-render-util0
need_library libxcb-xkb.so.1 libxcb-xkb1
need_library libxcb-shape.so.0 libxcb-shape0
need_library libxkbcommon-x11.so.0 libxkbcommon-x11-0
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf ] || missing="$missing fonts-dejavu-core" # pictures with letters
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
