"""``freezeframe selftest``: the stages one after the other, and what each found."""

from __future__ import annotations

import shlex
import sys
import textwrap
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from freezeframe.analyzers.bringup.ladder import StageResult, climb
from freezeframe.analyzers.bringup.switch import REPORT_S, Switch
from freezeframe.capture.console.port import open_console
from freezeframe.capture.console.switch import SwitchMonitor
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.output_place import refuse_dash
from freezeframe.capture.registers.access import Device
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.session import open_session
from freezeframe.gui.text import printable

_SOON_S = 3.0  # in which most monitors print


def selftest(
    target: str,
    log: Path | None,
    switch: str | None,
    ports: str | None,
    keep: Path | None,
    *,
    discard: bool,
    json: bool,
) -> bool:
    """Test a card and print each stage; return whether none failed.

    Args:
        switch: console of the monitor of the switch between the cards, which are at its ``ports``.
        keep: a folder for the recording that a stage fails by; it is made where it is not there.
    Raises:
        InputError: the console or the ports are not named right, or ``keep`` cannot be written.
        RecorderStateError: a card holds a recording that ``discard`` does not give up.
        TargetError: the console cannot be opened, or nothing of a switch's monitor comes from it.
    """

    def show(stage: str, line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{stage}: {printable(line)}"[:100], end="", file=sys.stderr, flush=True)

    places = _two_ports(ports or "0,1")
    if ports is not None and switch is None:
        raise InputError("--ports: of the switch that --switch names, and none is named")
    if switch == "-":
        raise InputError(
            "--switch -: standard input does not wait; name a serial port, or a file that grows"
        )
    if keep is not None:
        made = _folder(keep)
    with ExitStack() as stack:
        devices = stack.enter_context(open_session(target, log))
        between = None
        if switch is not None:
            monitor = SwitchMonitor(stack.enter_context(open_console(switch)), switch)
            _hear(monitor, devices)
            between = Switch(monitor, places)
        results = climb(devices, show, discard=discard, switch=between, keep=keep)
        url = devices[0].target.url
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    failed = [result for result in results if result.outcome == "failed"]
    if keep is not None and made and not any(keep.iterdir()):
        keep.rmdir()
    if json:
        emit_json(
            {
                "target": target,
                "passed": not failed,
                "stages": [result.to_json() for result in results],
            }
        )
    else:
        print("\n".join(_lines(number, result, url) for number, result in enumerate(results, 1)))
    return not failed


def _folder(keep: Path) -> bool:
    """Make a folder, and return whether it was not there."""
    refuse_dash(keep)
    made = not keep.exists()
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"-o {keep}: {error.strerror}; name a folder for recordings") from error
    return made


def _hear(monitor: SwitchMonitor, devices: Sequence[Device]) -> None:
    """Wait for the monitor before anything is written to a card: a port that is dead, or a file that nobody writes.

    Raises:
        TargetError: nothing of a monitor comes; in a file that is older than a report may be, within a moment.
    """
    name, first = monitor.name, devices[0]
    age_s = time.time() - Path(name).stat().st_mtime if Path(name).is_file() else None
    old = age_s is not None and age_s > REPORT_S

    def meanwhile() -> None:
        first.read("ctl.state")  # an emulated card goes on by being asked

    if monitor.hear(_SOON_S, meanwhile):
        return
    if not old:
        print(
            f"freezeframe: {printable(name)}: nothing of a switch's monitor in {_SOON_S:g} s; waiting for it up to "
            f"{REPORT_S:g} s",
            file=sys.stderr,
        )
        if monitor.hear(REPORT_S - _SOON_S, meanwhile):
            return
    what = (
        f"is a file that was last written {age_s:,.0f} s ago, and nothing comes into it"
        if old
        else f"nothing of a switch's monitor (ff_console_switch) in {REPORT_S:g} s"
    )
    raise TargetError(
        f"{name}: {what}; no stage was run. Whether a switch is between the cards is not known: name the port of its "
        "monitor, or leave out --switch where they are cabled"
    )


def _two_ports(text: str) -> tuple[int, int]:
    """Return the ports of both cards as the option gives them."""
    numbers = text.split(",")
    if len(numbers) != 2 or not all(n.isascii() and n.isdigit() for n in numbers):
        raise InputError(f"--ports {text}: write the ports of both cards, as 0,1")
    first, second = map(int, numbers)
    if first == second:
        raise InputError(f"--ports {text}: both cards cannot be at one port")
    return first, second


def _lines(number: int, result: StageResult, url: str) -> str:
    lines = [f"{number} {result.stage:<10} {result.outcome:<8} {result.doc}"]
    lines += [f"    {printable(line)}" for line in result.held]
    lead = "FAILED: " if result.outcome == "failed" else ""
    lines += _wrapped(lead + result.seen) if result.seen else []
    if result.capture is not None:
        lines.append(printable(f"    kept: freezeframe explain {shlex.quote(str(result.capture))}"))
    if result.standing:
        lines += _wrapped(_where_it_stands(result.standing, url))
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text), 100, initial_indent="    ", subsequent_indent="      ")


def _where_it_stands(standing: Sequence[str], url: str) -> str:
    """Say where the recording is that a stage failed by, and what keeps it."""
    if url.startswith("emu:"):
        return "its recording is gone with this emulated card, which ends here: say -o DIR"
    return where_it_stands(standing, [url])


def where_it_stands(standing: Sequence[str], urls: Sequence[str]) -> str:
    """Return in which cards a recording stands that nothing keeps yet, and what keeps it."""
    looped = any(" in loop-back" in each for each in standing)
    left = "; loop-back stays on until 'freezeframe loopback off' of each device" if looped else ""
    return (
        f"its recording stands in {' and '.join(standing)}; nothing was armed over it: freezeframe pull "
        f"{shlex.join(urls)} -o NAME.ff keeps it{left}"
    )
