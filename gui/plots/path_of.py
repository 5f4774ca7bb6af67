"""The way of a finding's packets as a picture: what each tap counted, what lies between, and what is broken.

Of a described card all comes from its file: paths, taps, stretches, counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.credits.ledger import FlowAccount, account_of
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.tables import Stretch
from freezeframe.capture.count_text import plural
from freezeframe.gui.plots.card_path import Part, Tap, Way, path_sheet
from freezeframe.gui.plots.figures import Drawing

_UNSEEN = "this end is not in the capture"
_CREDITS = ("credit-lost", "credit-corrupted", "credit-too-coarse")
_ALLOWED = ("credit-start-too-large", "credit-too-optimistic", "wrap-unhandled")
_COUNTED = "header-miscounted"
_HOST = ("interrupt-storm", "interrupt-lost")


def path_drawing(view: CaptureView, finding: Finding, name: str) -> Drawing:
    """Return the way of a finding's direction through both cards, as it stood at the freeze."""
    sender, receiver = direction_of(view, finding)
    return _drawing(name, finding, [_way(view, finding, sender, receiver)])


def card_path_drawing(card: CardView, finding: Finding, name: str) -> Drawing | None:
    """Return the paths of a described card on which a finding lies, all of them where it lies on none; None without."""
    paths = card.recording.card.said.path
    mine = {path for path, said in paths.items() if set(_named(finding)) & set(said.taps)}
    ways = [
        _card_way(card, finding, path, said.taps, said.stretch)
        for path, said in paths.items()
        if path in mine or not mine
    ]
    return _drawing(name, finding, ways) if ways else None


def direction_of(view: CaptureView, finding: Finding) -> tuple[str, str]:
    """Return sender and receiver of what a finding is about; of its device's own traffic where it does not say."""
    sender, arrow, receiver = (finding.direction or "").partition("->")
    if arrow and (sender, receiver) in view.directions:
        return sender, receiver
    own = [pair for pair in view.directions if pair[0] == finding.device]
    return (own or list(view.directions))[0]


def flow_account(view: CaptureView, finding: Finding) -> FlowAccount | None:
    """Return the books of a finding's flow; None for a finding of no flow."""
    if finding.flow is None:
        return None
    return account_of(view, *direction_of(view, finding), finding.flow)


def _drawing(name: str, finding: Finding, ways: list[Way]) -> Drawing:
    title = f"Where {finding.diagnosis} is"
    broken = [
        part.name
        for way in ways
        for part in (*way.parts, *way.taps, way.back)
        if part and part.broken
    ]
    caption = "Counts since power-up, levels at the freeze. "
    caption += f"Red: {', '.join(broken)}." if broken else "Nothing on it is known to be broken."
    sheet = path_sheet(name, ways, title=title, desc=caption)
    return Drawing(name, title, caption, sheet.render(), sheet=sheet, still=True)


def _way(view: CaptureView, finding: Finding, sender: str, receiver: str) -> Way:
    path = view.path(sender, receiver)
    tx, rx = view.roles.ways
    (a0, a1), (b0, b1) = path[:2], path[2:]
    at = _broken_part(view, finding, path)
    parts = (
        _part(view, f"{sender}'s host", sender, at == 0),
        _fifo(view, a0, a1, tx.level, tx.capacity, at == 1),
        Part("link", tuple(_difference(view, a1, b0)), at == 2, line=True),
        _fifo(view, b0, b1, rx.level, rx.capacity, at == 3),
        _part(view, f"{receiver}'s host", receiver, at == len(path)),
    )
    taps = tuple(_tap(view, finding, *place) for place in path)
    title = f"{sender} → {receiver}"
    if finding.packet is not None:
        title += f": packet {finding.packet}"
    return Way(title, taps, parts, _back(view, finding))


def _broken_part(
    view: CaptureView, finding: Finding, path: tuple[tuple[str, str], ...]
) -> int | None:
    """Return the number of the part that a finding says is broken; None where it is none of them."""
    if finding.diagnosis in _HOST:
        return len(path)
    if finding.diagnosis == "short-transfers":
        return 0
    if finding.diagnosis == "recorder-suspect":
        return None  # the memory of a tap, not the way
    here = (finding.device or "", finding.tap or "")
    return path.index(here) if here in path else None


def _part(view: CaptureView, name: str, device: str, broken: bool) -> Part:
    return Part(name, broken=broken, unseen="" if view.device(device) else _UNSEEN)


def _fifo(
    view: CaptureView,
    entry: tuple[str, str],
    leave: tuple[str, str],
    level: str,
    capacity: str,
    broken: bool,
) -> Part:
    device = entry[0]
    capture = view.device(device)
    way = view.roles.way_of(entry[1])
    name = f"{device}'s {'outgoing' if way is view.roles.tx else 'incoming'} FIFO"
    if capture is None:
        return Part(name, broken=broken, unseen=_UNSEEN)
    words = view.value(device, f"frozen.{level}") if level else None
    depth = getattr(capture.identity, capacity, None) if capacity else None
    lines = []
    if words is not None:
        lines.append(f"level {words:,}" + (f" of {depth:,} words" if depth else " words"))
    counted = (view.count(*entry[:1], "words", entry[1]), view.count(*leave[:1], "words", leave[1]))
    if words is not None and None not in counted:
        missing = (counted[0] or 0) - (counted[1] or 0) - words
        lost = view.count(device, "overflow", way.entry) if way is view.roles.rx else 0
        if missing:
            fewer = "fewer" if missing > 0 else "more"
            lines.append(f"{plural(abs(missing), 'word')} {fewer} out than in")
        if lost:
            lines.append(f"{plural(lost, 'word')} lost: it was full")
    share = None if words is None or not depth else words / depth
    return Part(name, tuple(lines), broken, share)


def _difference(view: CaptureView, entry: tuple[str, str], leave: tuple[str, str]) -> Iterator[str]:
    """Yield how the counts at both ends of the link differ: each is of its own card's freeze, so that it is no loss."""
    first, second = (view.count(device, "words", tap) for device, tap in (entry, leave))
    if first is not None and second is not None:
        apart = plural(abs(first - second), "word")
        yield (
            "as many words in as out"
            if first == second
            else f"{apart} apart, each at its own freeze"
        )


def _tap(view: CaptureView, finding: Finding, device: str, tap: str) -> Tap:
    name = f"{device}.{tap}"
    words, packets = (view.count(device, what, tap) for what in ("words", "packets"))
    bad = view.count(device, "bad", tap)
    lines = [f"{words:,} words"] if words is not None else []
    lines += [f"{packets:,} packets"] if packets is not None else []
    lines += [f"{bad:,} bad"] if bad else []
    suspect = finding.diagnosis == "recorder-suspect" and (device, tap) == (
        finding.device,
        finding.tap,
    )
    return Tap(name, tuple(lines) if view.device(device) else ("not in the capture",), suspect)


def _back(view: CaptureView, finding: Finding) -> Part | None:
    """Return what the books of the finding's flow say at the freeze; None for a finding of no flow."""
    account = flow_account(view, finding)
    if account is None:
        return None
    told = _said(account.receiver, freed=account.freed, told=account.reported)
    may = (
        None
        if account.limit is None or account.credited is None
        else account.credited + account.limit
    )
    taken = _said(account.sender, credited=account.credited, sent=account.sent)
    if may is not None:
        taken += f", may have sent {may:,}"
    lines = [f"{taken}  ←  {told}"]
    if finding.diagnosis == _COUNTED or finding.diagnosis in _ALLOWED:
        lines += _counted(view, account)
    broken = finding.diagnosis in (*_CREDITS, *_ALLOWED, _COUNTED)
    what = f"credits of flow {account.flow}, in words"
    if broken:
        what += f": {finding.diagnosis} at {finding.device}"
    return Part(what, tuple(lines), broken)


def _counted(view: CaptureView, account: FlowAccount) -> Iterator[str]:
    """Yield what both ends counted of the flow's words since power-up, beside each other."""
    sent = view.value(account.sender, "frozen_flow.words_sent", account.flow)
    received = view.value(account.receiver, "frozen_flow.words_received", account.flow)
    if sent is not None and received is not None:
        yield (
            f"{account.sender} counted {sent:,} words sent, {account.receiver} {received:,} received: "
            f"{sent - received:+,}"
        )


def _said(device: str, **counts: int | None) -> str:
    known = [f"{what} {count:,}" for what, count in counts.items() if count is not None]
    return f"{device}: {', '.join(known) or 'not in the capture'}"


def _named(finding: Finding) -> list[str]:
    """Return the taps that a finding on a described card names."""
    of_way = (finding.direction or "").split(" -> ")
    return [name for name in (*of_way, finding.tap or "") if name]


def _card_way(
    card: CardView, finding: Finding, path: str, names: list[str], stretches: list[Stretch]
) -> Way:
    between = (finding.direction or "").split(" -> ")
    recording = card.recording
    counters = recording.card.said.counter
    taps = []
    for name in names:
        lines = [
            f"{recording.counters[counter]:,} {said.counts} {said.unit}".rstrip()
            if said.unit != said.counts
            else f"{recording.counters[counter]:,} {said.counts}"
            for counter, said in counters.items()
            if said.tap == name and recording.counters.get(counter) is not None and said.counts
        ]
        lone = name == finding.tap and len(between) < 2
        unseen = "" if name in card.streams else "its memory was not read"
        taps.append(Tap(name, tuple(lines[:4]) or ((unseen,) if unseen else ()), lone))
    parts = [Part("in", line=True)]
    for at, (first, second) in enumerate(pairwise(names)):
        said = stretches[at] if at < len(stretches) else Stretch()
        level = recording.bank.get(said.level) if said.level else None
        size = said.capacity_words
        lines = (
            [f"level {level:,}" + (f" of {size:,} words" if size else "")]
            if level is not None
            else []
        )
        if said.drops is not None:
            dropped = recording.counters.get(said.drops.counter)
            lines.append(
                "may drop packets" if dropped is None else f"{dropped:,} dropped, as counted"
            )
        broken = [first, second] == between
        share = level / size if level is not None and size else None
        parts.append(Part(f"{first} → {second}", tuple(lines), broken, share))
    parts.append(Part("out", line=True))
    return Way(f"{card.device}, path {path}", tuple(taps), tuple(parts))
