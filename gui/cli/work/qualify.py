"""``freezeframe qualify``: the measurement, its file, and what it found, printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.qualify import qualify
from freezeframe.capture.errors import InputError
from freezeframe.capture.output_place import refuse_dash
from freezeframe.capture.qualification import (
    CHECKS,
    Qualification,
    place_of_qualification,
    write_qualification,
)
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.selftest import where_it_stands
from freezeframe.gui.cli.work.session import open_session
from freezeframe.gui.text import printable

_SUMMED = ("pointer", "law")  # of which a line each says nothing where all hold


def show_qualification(
    targets: Sequence[str],
    output: Path | None,
    log: Path | None,
    *,
    seconds: float,
    discard: bool,
    force: bool,
    json: bool,
) -> bool:
    """Qualify the cards of one or two targets, write it down and print it; return whether everything holds.

    Raises:
        RecorderStateError: a card holds a recording that ``discard`` does not give up.
        InputError: something stands at ``output``, and is not to be replaced.
    """
    if output is not None:
        refuse_dash(output)
        if os.path.lexists(output) and not force:
            raise InputError(
                f"{output}: exists already; choose another name, or ask for it to be replaced (--force)"
            )

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{printable(line)}"[:100], end="", file=sys.stderr, flush=True)

    try:
        with ExitStack() as stack:
            sessions = [stack.enter_context(open_session(target, log)) for target in targets]
            found = qualify(sessions, seconds=seconds, discard=discard, tell=tell)
    except Failure as error:
        _clear()
        if json:
            standing = list(error.standing)
            emit_json({"targets": list(targets), "failed": str(error), "standing": standing})
        else:
            print(f"NOT QUALIFIED, nothing was written: {printable(str(error))}")
            if error.standing and not all(target.startswith("emu:") for target in targets):
                print(printable(where_it_stands(error.standing, targets)))
        return False
    _clear()
    place = place_of_qualification(found.source, found.devices)
    write_qualification(found, place, overwrite=True)
    if output is not None:
        write_qualification(found, output, overwrite=force)
    found = replace(found, path=output or place)
    if json:
        emit_json({**found.to_json(), "file": str(found.path)})
    else:
        print("\n".join(printable(line) for line in _lines(found)))
    return not found.failed


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)


def _lines(found: Qualification) -> Iterator[str]:
    names = ", ".join(device.name for device in found.devices)
    fine = len(found.checks) - len(found.failed)
    yield f"{found.source} {names}: {fine} of {len(found.checks)} hold; written to {found.path}"
    for what, doc in CHECKS.items():
        checks = [check for check in found.checks if check.what == what]
        bad = [check for check in checks if not check.holds]
        if not checks:
            continue
        yield f"{what}: {doc}" + (f": {len(checks)} hold" if what in _SUMMED and not bad else "")
        for check in bad if what in _SUMMED else checks:
            yield f"  {'holds' if check.holds else 'NOT'}  {check.text}"
    if found.clocks:
        yield "clocks"
        for rate in found.clocks:
            yield f"  {rate.device}.{rate.clock} {rate.crystal.text} by {rate.by}"
    if found.not_measured:
        yield "not measured"
        yield from (f"  {line}" for line in found.not_measured)
