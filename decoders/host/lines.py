"""Lines of a kernel's trace as rows: trace-cmd report, the ftrace file, mmiotrace, and dmesg.

A line that is none of these becomes a row of kind ``error`` with the line as it stands; nothing is dropped.
Which events were lost between two lines is stated where the tracer says it.

Source: Linux, Documentation/trace/ftrace.rst ("Output format") and mmiotrace.rst ("Trace Log Format");
trace events ``irq`` and ``rwmmio``; dmesg(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.timebase import PS_PER_S


class HostLine(NamedTuple):
    """One event of the host.

    Attributes:
        line: number of the line, from 1.
        kind: the event's name; ``message`` (dmesg), ``read`` and ``write`` (a register of a card),
            ``lost`` (value: events, -1 where the tracer does not say) or ``error``.
        own_ps: the host's clock, the earliest instant that the text allows; -1 without a time.
        unc_ps: the instant lies in ``[own_ps, own_ps + unc_ps]``: what the digits leave open.
        cpu, pid, irq, width: -1 where there is none.
        address, value: 64 bits as int64 bit patterns, -1 where there is none.
    """

    line: int
    kind: str
    own_ps: int
    unc_ps: int
    text: str
    cpu: int = -1
    task: str = ""
    pid: int = -1
    irq: int = -1
    width: int = -1
    address: int = -1
    value: int = -1


_EVENT = re.compile(
    r"\s*(?P<task>\S.*?)-(?P<pid>\d{1,10})\s+(?:\([\s\d-]+\)\s+)?\[(?P<cpu>\d{1,6})\]\s+"
    r"(?:(?P<flags>[\w.#]{4,8})\s+)?(?P<s>\d{1,12})\.(?P<f>\d{3,9}):\s+(?P<kind>[\w:.-]+):\s?(?P<text>.*)"
)
_MMIO = re.compile(
    r"(?P<op>[RW])\s+(?P<width>\d{1,2})\s+(?P<s>\d{1,12})\.(?P<f>\d{3,9})\s+\d+\s+0x(?P<address>[0-9a-fA-F]+)\s+"
    r"0x(?P<value>[0-9a-fA-F]+)\s+0x[0-9a-fA-F]+\s+(?P<pid>\d{1,10})\s*"
)
_MMIO_OTHER = re.compile(
    r"(?:VERSION|PCIDEV|LSPCI|MAP|UNMAP|MARK|UNKNOWN)\b(?:\s+(?P<s>\d{1,12})\.(?P<f>\d{3,9}))?.*"
)
# With -x a facility and a level stand before the time, with -d the time since the line before after it.
_DMESG = re.compile(
    r"(?:<\d+>|\w+\s*:\w+\s*:\s)?"
    r"\[\s*(?P<s>\d{1,12})\.(?P<f>\d{3,9})(?:\s+<\s*\d+\.\d+>)?\]\s?(?P<text>.*)"
)
# A calendar's time (dmesg -T, -e, --time-format iso; journalctl): it is set and corrected while the machine
# runs, and -T is wrong after a suspend, so it is no instant of the clock the other lines are on.
_DATED = re.compile(
    r"(?:<\d+>|\w+\s*:\w+\s*:\s)?(?:"
    r"\[(?:\w{3} )?\w{3}\s+\d{1,2} \d\d:\d\d(?::\d\d(?: \d{4})?)?\]"
    r"|\[\s*\+\d+\.\d+\]"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\w{3}\s+\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
    r")\s(?P<text>.*)"
)
_LOST = re.compile(
    r"(?:CPU:?\s*(?P<cpu>\d{1,6})\s*)?\[LOST (?:(?P<count>\d{1,18}) )?EVENTS\].*", re.I
)
_HEAD = re.compile(r"#.*|cpus=\d+|version\s*=.*|trace-cmd version.*|CPU \d+ is empty|\s*")
_FIELD = re.compile(r"\b(irq|vec|width|val|addr)=(0[xX][0-9a-fA-F]+|\d+)\b")
_ACCESS = {
    "rwmmio_write": "write",
    "rwmmio_post_read": "read",
}
_MOST_TEXT = 4096
_LOOKED_AT_B = 1 << 16


def read_lines(text: bytes) -> Iterator[HostLine]:
    """Yield every line of a trace that says something, in its order.

    Bytes that are no UTF-8 are shown as escapes. A line longer than 4,096 characters is cut in its text.
    """
    for number, raw in enumerate(text.split(b"\n"), 1):
        line = raw.decode("utf-8", "backslashreplace").rstrip("\r")
        if len(line) > _MOST_TEXT:
            line = line[:_MOST_TEXT]
        if not _HEAD.fullmatch(line):
            yield _read(number, line)


def is_host_trace(path: Path) -> bool:
    """Return whether a file is a trace of a host: most lines of its beginning are, and two of them have a time."""
    try:
        with path.open("rb") as file:
            head = file.read(_LOOKED_AT_B)
    except OSError:
        return False
    if b"\0" in head:
        return False
    lines = list(read_lines(head.rpartition(b"\n")[0] or head))
    timed = sum(line.own_ps >= 0 for line in lines)
    return timed >= min(2, len(lines)) > 0 and 5 * timed >= 4 * len(lines)


def _read(number: int, line: str) -> HostLine:
    if found := _EVENT.fullmatch(line):
        return _event(number, found)
    if found := _MMIO.fullmatch(line):
        own_ps, unc_ps = _time(found["s"], found["f"])
        return HostLine(
            number, "read" if found["op"] == "R" else "write", own_ps, unc_ps, line,
            pid=int(found["pid"]), width=8 * int(found["width"]),
            address=_signed(found["address"]), value=_signed(found["value"]),
        )  # fmt: skip
    if found := _DMESG.fullmatch(line):
        own_ps, unc_ps = _time(found["s"], found["f"])
        return HostLine(number, "message", own_ps, unc_ps, found["text"])
    if _DATED.fullmatch(line):
        return HostLine(number, "message", -1, 0, line)
    if found := _LOST.fullmatch(line.strip()):
        cpu = int(found["cpu"]) if found["cpu"] else -1
        count = int(found["count"]) if found["count"] else -1
        return HostLine(number, "lost", -1, 0, line.strip(), cpu=cpu, value=count)
    if found := _MMIO_OTHER.fullmatch(line):
        own_ps, unc_ps = _time(found["s"], found["f"]) if found["s"] else (-1, 0)
        return HostLine(number, "message", own_ps, unc_ps, line)
    return HostLine(number, "error", -1, 0, line)


def _event(number: int, found: re.Match[str]) -> HostLine:
    own_ps, unc_ps = _time(found["s"], found["f"])
    kind = found["kind"].rpartition(":")[2]
    fields = {
        name: _signed(value[2:]) if value[:2] in ("0x", "0X") else int(value[:18])
        for name, value in _FIELD.findall(found["text"])
    }
    access = _ACCESS.get(kind)
    irq = fields.get("irq", -1) if kind.startswith("irq_handler") else -1
    return HostLine(
        number, access or kind, own_ps, unc_ps, found["text"].strip(),
        cpu=int(found["cpu"]), task=found["task"], pid=int(found["pid"]), irq=irq,
        width=fields.get("width", -1) if access else -1,
        address=fields.get("addr", -1) if access else -1,
        value=fields.get("val", -1) if access else -1,
    )  # fmt: skip


def _signed(digits: str) -> int:
    """Return the lower 64 bits of a number in hex as an int64 bit pattern."""
    word = int(digits[-16:], 16)
    return word - (1 << 64) if word >> 63 else word


def _time(seconds: str, fraction: str) -> tuple[int, int]:
    """Return picoseconds, and what the digits that are not there leave open."""
    step = 10 ** (12 - len(fraction))
    return int(seconds) * PS_PER_S + int(fraction) * step, step - 1
