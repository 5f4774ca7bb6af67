"""The lines about the sources: is it there, its link, its credit, its recorder and state machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.monitor import Monitor, Watched
from freezeframe.gui.dashboard.lines import Line
from freezeframe.gui.dashboard.numbers import age_text, rate_cell
from freezeframe.gui.dashboard.palette import ALARM, FAINT, PLAIN, SELECTED, WARN

if TYPE_CHECKING:
    from freezeframe.capture.recorder.state import (
        RecorderState,  # numpy, where no card may be watched
    )


_ERRORS = ("bad-header", "bad-payload", "bad-length", "bad-credit")
# Heading, width of the column. The link columns count words, the credit columns credits, a second.
_COLUMNS = (
    ("card", 5), ("recorder", 10), ("gen", 5), ("out/s", 7), ("in/s", 7), ("bad/s", 6),
    ("sent/s", 7), ("taken/s", 8), ("refused", 8), ("waits", 6),
)  # fmt: skip


def panel_lines(monitor: Monitor, selected: int, now_ns: int) -> list[Line]:
    """Return the lines of all sources; the selected one carries ``>``."""
    lines: list[Line] = []
    for number, watched in enumerate(monitor.sources):
        lines.append(_source_line(watched, number == selected, now_ns))
        if watched.recorders:
            lines += _card_lines(watched)
    return lines


def banner_text(monitor: Monitor) -> list[str]:
    """Return a line for every card that has frozen, or begun to; none is the normal case."""
    return [
        f"{state.state.upper()}  {state.device}: {', '.join(state.causes) or 'no cause'} "
        f"{watched.told or f'at bus cycle {state.cause_cycle:,}'}  {watched.url}"
        for watched in monitor.sources
        for state in _first_causes(watched.recorders)
    ]


def _first_causes(states: Iterable[RecorderState]) -> list[RecorderState]:
    """Return the cards with a cause of their own; those that only heard of it where there is none."""
    stopped = [state for state in states if state.state in ("triggered", "frozen")]
    return [state for state in stopped if state.causes != (state.peer_cause,)] or stopped


def _source_line(watched: Watched, selected: bool, now_ns: int) -> Line:
    mark = ("> " if selected else "  ", SELECTED)
    name = (watched.url, SELECTED)
    if not watched.stale and watched.sample is None:
        return mark, name, ("  waiting for the first answer", FAINT)
    if watched.stale:
        age = f", last read {age_text(now_ns - watched.sample.t_ns)} ago" if watched.sample else ""
        return (
            mark,
            (f" STALE{age} ", ALARM),
            (" ", PLAIN),
            name,
            (f"  {watched.reader.trouble or ''}", PLAIN),
        )
    words = [f"{value}" for key, value in watched.facts.items() if key == "link"]
    words += [f"{amount:.3g} {name}" for name, amount in watched.ratios().items()]
    pieces = [mark, name, ("  " + "  ".join(words), PLAIN)]
    if watched.broken:
        pieces.append((f"  {plural(len(watched.broken), 'broken law')}", WARN))
    if watched.ringing:
        pieces.append((f"  {plural(len(watched.ringing), 'alarm')}", WARN))
    return tuple(pieces)


def _card_lines(watched: Watched) -> list[Line]:
    if all(state.roles is None for state in watched.recorders):
        lines = _described_lines(watched)
    else:
        lines = _linked_lines(watched)
    for name, text in watched.facts.items():
        lines.append(((f"  {name}: ", FAINT), (text, PLAIN)))
    for name, text in watched.broken.items():
        lines.append(((f"  ! {name}: {text}", WARN),))
    return lines


def _described_lines(watched: Watched) -> list[Line]:
    """Return the cards of a source of which all are described by files; their counters are listed by name below."""
    widths = [width for _, width in _COLUMNS[:3]]
    heads = (
        "  card".ljust(2 + widths[0])
        + "recorder".ljust(widths[1])
        + "gen".rjust(widths[2])
        + "  clocks"
    )
    lines: list[Line] = [((heads, FAINT),)]
    for state in watched.recorders:
        stopped = state.state in ("triggered", "frozen")
        said = state.state.upper() if stopped else state.state
        pieces = [
            ("  " + state.device.ljust(widths[0]), SELECTED),
            (said.ljust(widths[1]), WARN if stopped else PLAIN),
            (f"{state.generation}".rjust(widths[2]) + " ", PLAIN),
        ]
        for name, clock in state.clocks.items():
            pieces.append(
                (
                    f" {name}" if clock.alive else f" {name} stands still",
                    PLAIN if clock.alive else WARN,
                )
            )
        lines.append(tuple(pieces))
    return lines


def _linked_lines(watched: Watched) -> list[Line]:
    heads = "  " + "".join(
        name.ljust(width) if n < 2 else name.rjust(width)
        for n, (name, width) in enumerate(_COLUMNS)
    )
    above = "link, words a second".rjust(44) + "credit, credits a second".rjust(30)
    lines: list[Line] = [
        ((above, FAINT),),
        ((heads, FAINT),),
    ]
    for state in watched.recorders:
        lines.append(_card_line(watched, state))
    return lines


def _card_line(watched: Watched, state: RecorderState) -> Line:
    def rate(counts: str, tap: str = "") -> float | None:
        return _rate(watched, state, counts, tap)

    bad = [rate(counts) for counts in _ERRORS]
    sent, received = _link_taps(state)
    bad_rate = None if None in bad else sum(amount for amount in bad if amount is not None)
    cells = [
        f"{state.generation}",
        rate_cell(rate("words", sent)),
        rate_cell(rate("words", received)),
        rate_cell(bad_rate),
        rate_cell(rate("credits-sent")),
        rate_cell(rate("credits-taken")),
        rate_cell(rate("credits-refused")),
        _wait_share(watched, state),
    ]
    text = "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS[2:], strict=True))
    stopped = state.state in ("triggered", "frozen")
    said = state.state.upper() if stopped else state.state
    return (
        ("  " + state.device.ljust(_COLUMNS[0][1]), SELECTED),
        (said.ljust(_COLUMNS[1][1]), WARN if stopped else PLAIN),
        (text, PLAIN),
    )


def _wait_share(watched: Watched, state: RecorderState) -> str:
    """Return how much of the link cycles that had something to send went by waiting for credit.

    Not of all cycles: an emulated card runs far below its clock, and says nothing on how far.
    """
    waited = _rate(watched, state, "blocked-cycles")
    sent = _rate(watched, state, "words", _link_taps(state)[0])
    if waited is None or sent is None:
        return "-"
    return "-" if waited + sent == 0 else f"{100 * waited / (waited + sent):.0f} %"


def _rate(watched: Watched, state: RecorderState, counts: str, tap: str = "") -> float | None:
    """Return how fast the counter of that meaning rises; None of a card that has none, or that is not known so."""
    counter = state.roles.counter(counts, tap) if state.roles is not None else ""
    return watched.rate(f"{state.device}.{counter}") if counter else None


def _link_taps(state: RecorderState) -> tuple[str, str]:
    """Return the taps before the link and behind it."""
    roles = state.roles
    return ("", "") if roles is None else (roles.tx.exit, roles.rx.entry)
