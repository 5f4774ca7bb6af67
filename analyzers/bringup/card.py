"""Stages 2 to 4: pattern packets followed word by word through DMA, FIFOs and link.

The words of a pattern packet follow from seed, packet and index alone (docs/formats.md section 3), so each tap is held
against what must be there and not against another tap. The registers do not reach host memory: what a card has written
there is seen as what left the incoming FIFO.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.recording import (
    PATTERN_WORDS,
    Recording,
    pattern_seed,
    record,
    under_traffic,
)
from freezeframe.capture.count_text import plural
from freezeframe.capture.registers.access import Device
from freezeframe.capture.registers.layouts import PacketFlag
from freezeframe.decoders.trace.encode import pattern_payload

_LEAST = 1  # pattern packets that a tap must show whole
_NUMBERS = 1 << 14  # packet numbers that are looked for
_ERRORS = (
    "bad-header", "bad-payload", "bad-length", "bad-credit", "dropped", "credits-refused", "overflow",
)  # fmt: skip


def host_dma(devices: Sequence[Device], arms: Evidence, *, loop: bool = False) -> Iterator[str]:
    """Yield what holds of the words that the transmit DMA put into the outgoing FIFO; with ``loop`` each card is looped
    back, so that what is between the cards has no part in it.
    """
    with under_traffic(devices, arms, loop=loop):
        first = devices[0].roles.tx.entry
        recording = record(devices, arms, first)
        for device in recording.devices:
            yield _patterns(recording, device.name, first, device.index)
            yield _messages(recording, device.name, first)
            moved, owned = map(device.roles.counter, ("bus-data-cycles", "bus-cycles"))
            data, busy = recording.growth(device, moved), recording.growth(device, owned)
            if not data:
                raise Failure(f"{device.name}: no bus cycle moved data (counter {moved})")
            yield f"{device.name}: {data:,} of {busy:,} bus cycles moved data"


def loopback(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    """Yield what holds at all four taps of each card while it hears itself."""
    with under_traffic(devices, arms, loop=True):
        for tap, recording in _tap_by_tap(devices, arms):
            for device in recording.devices:
                yield _patterns(recording, device.name, tap, device.index)
        yield _no_errors(recording)


def pair(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    """Yield what holds at all four taps of both cards; what one sends the other must hear."""
    with under_traffic(devices, arms, loop=False):
        yield from both_ways(devices, arms)


def both_ways(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    """Yield what holds at each tap of both cards under traffic, and that no error was counted."""
    for tap, recording in _tap_by_tap(devices, arms):
        for device in recording.devices:
            sender = device.index if tap in device.roles.tx.taps else 1 - device.index
            yield _patterns(recording, device.name, tap, sender)
    yield _no_errors(recording)


def _tap_by_tap(devices: Sequence[Device], arms: Evidence) -> Iterator[tuple[str, Recording]]:
    """Yield every tap with a recording that holds it: one for all, or one each in cards with a single memory."""
    recording = None
    taps = devices[0].roles.taps
    for tap in taps:
        if recording is None or any(tap not in device.memories for device in recording.devices):
            recording = record(devices, arms, taps[-1] if recording is None else tap)
        yield tap, recording


def _patterns(recording: Recording, device: str, tap: str, sender: int) -> str:
    """Hold every whole pattern packet at a tap against the words that its seed and number give."""
    words, packets = recording.trace.words, recording.trace.packets
    here = packets[(packets["source"] == f"{device}.{tap}") & packets["whole"]]
    sent = here[(here["flags"] & int(PacketFlag.PATTERN)) != 0]
    if len(sent) < _LEAST:
        raise Failure(
            f"{device}.{tap}: {plural(len(sent), 'whole pattern packet')} among {plural(len(here), 'packet')}; at "
            f"least {_LEAST} were to be seen"
        )
    data = words["data"].to_numpy().view(np.uint64)
    seed = pattern_seed(sender)
    previous = None
    spans = zip(
        sent["first_row"].tolist(), sent["end_row"].tolist(), sent["seq"].tolist(), strict=True
    )
    for first, end, seq in spans:
        body = data[first + 2 : end - 1]
        number = _number(seed, body, f"{device}.{tap}: pattern packet {seq}")
        want = np.array(pattern_payload(seed, number, PATTERN_WORDS), dtype=np.uint64)
        if len(body) != len(want) or (body != want).any():
            raise Failure(f"{device}.{tap}: pattern packet {number} {_difference(body, want)}")
        if previous is not None and number != previous + 1:
            raise Failure(f"{device}.{tap}: pattern packet {number} follows {previous}")
        previous = number
    return f"{device}.{tap}: {len(sent)} pattern packets in order, every word right"


def _number(seed: int, body: npt.NDArray[np.uint64], what: str) -> int:
    """Return the number of a pattern packet by the first of its words that belongs to one."""
    for index, word in enumerate(body.tolist()):
        matches = np.flatnonzero(_all_words(seed, index) == np.uint64(word))
        if len(matches):
            return int(matches[0])
    raise Failure(f"{what}: none of its {len(body)} words is of the pattern that is sent")


def _all_words(seed: int, index: int) -> npt.NDArray[np.uint64]:
    """Return word ``index`` of the first pattern packets: `splitmix64` of many states at once."""
    numbers = np.arange(_NUMBERS, dtype=np.uint64) << np.uint64(10)
    z = (numbers ^ np.uint64(seed << 32 | index)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def _difference(body: npt.NDArray[np.uint64], want: npt.NDArray[np.uint64]) -> str:
    if len(body) != len(want):
        return f"has {plural(len(body), 'word')} and should have {len(want)}"
    at = int(np.flatnonzero(body != want)[0])
    read, expected = int(body[at]), int(want[at])
    return (
        f"word {at} is {read:#018x} and should be {expected:#018x} (bits {read ^ expected:#018x} "
        f"differ; {int((body != want).sum())} of {len(want)} words do)"
    )


def _messages(recording: Recording, device: str, tap: str) -> str:
    """Hold the host's own messages at the first tap against their descriptors and their own CRCs."""
    packets = recording.trace.packets
    here = packets[(packets["source"] == f"{device}.{tap}") & packets["whole"]]
    bad = here[~(here["header_ok"] & here["payload_ok"] & here["length_ok"]).fillna(False)]
    if len(bad):
        row = bad.iloc[0]
        raise Failure(
            f"{device}.{tap}: packet {row['seq']} has a bad header, payload or length before it leaves the card"
        )
    done = recording.trace.descriptors()
    done = done[(done["device"] == device) & (done["code"] == "done")]
    lengths = dict(zip(done["seq"].tolist(), done["length"].tolist(), strict=True))
    described = here[here["seq"].isin(lengths)]
    for seq, length in zip(
        described["seq"].tolist(), described["body_words"].tolist(), strict=True
    ):
        if lengths[seq] != length:
            raise Failure(
                f"{device}.{tap}: packet {seq} has {length} words, its descriptor {lengths[seq]}"
            )
    return f"{device}: {plural(len(here), 'packet')} with good CRCs, {len(described)} as long as their descriptors"


def _no_errors(recording: Recording) -> str:
    for device in recording.devices:
        means = {name: c.means for name, c in device.found.card.counters if c.means in _ERRORS}
        for counter in sorted(means, key=lambda name: _ERRORS.index(means[name])):
            grown = recording.growth(device, counter)
            if grown:
                raise Failure(f"{device.name}: the counter {counter} rose by {grown}")
    return f"{' and '.join(device.name for device in recording.devices)}: no error was counted"
