"""How the time lines of several targets in one capture relate: from the link's own packets and credits, or given pairs.

A packet that left one card at tx_deq cannot have reached the other's rx_enq before, nor a credit. Which packet
is which shows in its header words, address and tail word, a credit by its flow and count, and only those that
occur once at either end count. A freeze that came over a wire from the other card came after its cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from freezeframe.capture.clock_relation import Bound, Relation, relate
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, Domain
from freezeframe.capture.timebase import UNKNOWN_PS, TimeBase
from freezeframe.decoders.trace.events import events_table
from freezeframe.decoders.trace.memory import Reading
from freezeframe.decoders.trace.schema import Places
from freezeframe.decoders.trace.views import credits
from freezeframe.decoders.trace.words import words_and_packets

_KEY = ("w0", "w1", "tail")


def relate_targets(
    folder: CaptureFolder,
    devices: Sequence[DeviceCapture],
    readings: Sequence[Reading],
    peers: Mapping[str, str],
) -> tuple[dict[int, Relation | None], list[str]]:
    """Return how each further target's time line stands to that of the first, and notes of how it is known.

    Pairs of instants that were given with the pull win over packets; a target that neither relates has None.
    """
    targets = sorted({device.target for device in devices})
    if len(targets) < 2:
        return {}, []
    relations: dict[int, Relation | None] = {}
    notes: list[str] = []
    times = {
        target: TimeBase.from_devices([d for d in devices if d.target == target])
        for target in targets
    }
    owner = {device.name: device.target for device in devices}
    reference = targets[0]
    for target in targets[1:]:
        given = list(_given(folder, times, owner, target, reference))
        seen = [
            *_packets(times, owner, readings, peers, target, reference),
            *_crossed(times, devices, target, reference),
        ]
        where = f"{_names(owner, target)} to {_names(owner, reference)}"
        relation, note = _related(given, seen, where)
        notes.append(note)
        relations[target] = relation
    return relations, notes


def _related(given: list[Bound], seen: list[Bound], where: str) -> tuple[Relation | None, str]:
    """Return the relation by the given pairs, checked against what crossed the link, or by that alone."""
    crossed = "packets and credits that crossed the link"
    if given:
        try:
            relation = relate([*given, *seen])
        except ValueError as error:
            try:
                relation = relate(seen)
            except ValueError:
                relation = None
            return relation, (
                f"{where}: the instants given as one (--same-time) contradict the {crossed}, something would have "
                f"arrived before it was sent: {error}; the given instants are not used"
                + ("" if relation is not None else ", and the time lines are not related")
            )
        checked = f", checked against {len(seen)} bounds of {crossed}" if seen else ""
        return relation, _how_known(relation, given, where, f"instants given as one{checked}")
    try:
        relation = relate(seen)
    except ValueError as error:
        return None, (
            f"{where}: the time lines could not be related by {crossed}: {error}; their times are not comparable"
        )
    return relation, _how_known(relation, seen, where, crossed)


def _how_known(relation: Relation | None, bounds: list[Bound], where: str, how: str) -> str:
    if relation is not None:
        return (
            f"{where}: time lines related by {how} ({relation.bounds} bounds), within "
            f"{relation.offset_unc_ps / 1000:.0f} ns and {relation.drift_unc_ppt / 10**6:.1f} ppm; "
            f"the clocks differ by {-relation.drift_ppt / 10**6:+.1f} ppm"
        )
    if bounds:
        return (
            f"{where}: packets and credits of one direction only were seen at both ends ({len(bounds)}); that bounds "
            "the relation of the time lines from one side: times are not comparable"
        )
    return (
        f"{where}: no packet and no credit was seen at both ends and no pair was given (pull --same-time): the time "
        "lines are not related, times are not comparable"
    )


def _names(owner: Mapping[str, int], target: int) -> str:
    return " and ".join(name for name, of in owner.items() if of == target)


def _given(
    folder: CaptureFolder,
    times: Mapping[int, TimeBase],
    owner: Mapping[str, int],
    target: int,
    reference: int,
) -> Iterator[Bound]:
    for pair in folder.manifest.get("time_pairs", []):
        at = {}
        for device, domain, cycle in (pair["a"], pair["b"]):
            if device in owner:
                at[owner[device]] = times[owner[device]].instant_ps(device, domain, cycle)
        if set(at) == {target, reference}:
            unc_ps = int(pair["unc_ps"])
            yield Bound(at[target], at[reference] + unc_ps, at_most=True)
            yield Bound(at[target], at[reference] - unc_ps, at_most=False)


def _packets(
    times: Mapping[int, TimeBase],
    owner: Mapping[str, int],
    readings: Sequence[Reading],
    peers: Mapping[str, str],
    target: int,
    reference: int,
) -> Iterator[Bound]:
    for device, own in owner.items():
        peer = peers.get(device)
        if own != target or peer is None or owner.get(peer) != reference:
            continue
        for sender, receiver in ((device, peer), (peer, device)):
            for sent_ps, heard_ps in _seen_twice(
                times[owner[sender]], times[owner[receiver]], readings, sender, receiver
            ):
                if sender == device:
                    yield Bound(sent_ps, heard_ps, at_most=True)
                else:
                    yield Bound(heard_ps, sent_ps, at_most=False)


def _crossed(
    times: Mapping[int, TimeBase], devices: Sequence[DeviceCapture], target: int, reference: int
) -> Iterator[Bound]:
    """Yield that a card frozen by the others' wire froze after the card that had a cause of its own."""
    frozen = []
    for device in devices:
        causes = device.registers.value("ctl.causes")
        cycle = device.registers.value64("ctl.cause_cycle_")
        if causes and cycle:
            by_peer = device.found.card.peer_cause
            names = device.found.card.cause_names(causes)
            own, other = by_peer not in names, names == [by_peer]
            at_ps = times[device.target].instant_ps(device.name, DOMAIN_NAMES[Domain.BUS], cycle)
            frozen.append((device.target, own, other, at_ps))
    for owner, own, _, own_ps in frozen:
        for later, _, crossed, later_ps in frozen:
            if not (own and crossed) or {owner, later} != {target, reference}:
                continue
            if owner == target:
                yield Bound(own_ps, later_ps, at_most=True)
            else:
                yield Bound(later_ps, own_ps, at_most=False)


def _seen_twice(
    here: TimeBase, there: TimeBase, readings: Sequence[Reading], sender: str, receiver: str
) -> Iterator[tuple[int, int]]:
    """Yield when each packet or credit left one card, and when it was at the other."""
    for left, right, key in (
        (
            _crossing(here, readings, sender, sends=True),
            _crossing(there, readings, receiver, sends=False),
            _KEY,
        ),
        (
            _credits(here, readings, sender, "sent", -1),
            _credits(there, readings, receiver, "taken", 1),
            ("flow", "freed"),
        ),
    ):
        both = left.merge(right, on=list(key), suffixes=("_sent", "_heard"))
        yield from zip(both["t_sent"].tolist(), both["t_heard"].tolist(), strict=True)


def _credits(
    timebase: TimeBase, readings: Sequence[Reading], device: str, code: str, loose: int
) -> pd.DataFrame:
    """Return the credits sent or taken by a device whose count stands once in its log."""
    mine = [r for r in readings if r.device == device and r.is_log]
    events = events_table(mine, [[]] * len(mine), timebase, _places(mine, device))
    table = credits(events)
    table = table[(table["code"] == code) & (table["t_unc_ps"] != UNKNOWN_PS)]
    table = table.assign(t=table["t_ps"] + loose * table["t_unc_ps"])[["flow", "freed", "t"]]
    return table.drop_duplicates(["flow", "freed"], keep=False)


def _places(readings: Sequence[Reading], device: str) -> Places:
    return Places((device,), tuple(reading.memory for reading in readings))


def _crossing(
    timebase: TimeBase, readings: Sequence[Reading], device: str, *, sends: bool
) -> pd.DataFrame:
    """Return the packets before the link, or behind it, that can be recognized.

    With the earliest or the latest time of their first word.
    """
    mine = [
        r
        for r in readings
        if r.device == device and r.memory == (r.roles.tx.exit if sends else r.roles.rx.entry)
    ]
    words, packets = words_and_packets(mine, timebase, _places(mine, device), {})
    whole = packets[packets["whole"].to_numpy() & (packets["t_unc_ps"].to_numpy() != UNKNOWN_PS)]
    first = whole["first_row"].to_numpy().astype(np.int64)
    last = whole["end_row"].to_numpy().astype(np.int64) - 1
    data = words["data"].to_numpy()
    # The looser end of each time, so that a bound never says more than is known.
    loose = whole["t_unc_ps"].to_numpy() * (-1 if sends else 1)
    table = pd.DataFrame(
        {"w0": data[first], "w1": data[np.minimum(first + 1, last)], "tail": data[last]}
    )
    table["t"] = whole["t_ps"].to_numpy() + loose
    return table.drop_duplicates(list(_KEY), keep=False)
