#!/bin/sh
# The quick tests on every other Python from 3.11 that is found: on the path, or of pyenv.
# Each has an environment of its own, .venv-3.N, made once.
set -eu
ours=$("$1" -c 'import sys; print("3.%d" % sys.version_info[1])')
found=""
for minor in 11 12 13 14 15; do
    [ "3.$minor" = "$ours" ] && continue
    for python in "$(command -v "python3.$minor" || true)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3; do
        # A command of pyenv's may stand for a version that is switched off: it must say its number.
        [ -n "$python" ] && [ "$("$python" -c 'import sys; print(sys.version_info[1])' 2>/dev/null)" = "$minor" ] || continue
        "$python" -c 'import venv, ensurepip' 2>/dev/null || continue
        found="$found 3.$minor=$python"
        break
    done
done
echo "make pythons: Python $ours is the one of .venv; others found:${found:- none}"
for item in $found; do
    version=${item%%=*}
    venv=.venv-$version
    if [ ! -e "$venv/.ready" ] || [ lock/dev.txt -nt "$venv/.ready" ]; then
        echo "Installing the locked dependencies into $venv (once; a minute or two)"
        "${item#*=}" -m venv "$venv"
        for lock in run dev; do
            "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r "lock/$lock.txt"
        done
        # Decoders, targets and analyses are found by the entry points of what is installed.
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation -e .
        touch "$venv/.ready"
    fi
    echo "Python $version:"
    "$venv/bin/python" -m pytest -q -n 2 --dist loadfile -o cache_dir="$venv/.pytest_cache" --quick tests
done
