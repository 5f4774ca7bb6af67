"""A capture made by hand for tests of the faces: one word of one packet is lost in A's FIFO."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from freezeframe.capture.folder import CaptureFolder, CaptureWriter, DeviceCapture
from freezeframe.capture.registers.layouts import Cause, CreditCode, EventSource, Kind
from freezeframe.decoders.trace.decode import Trace, decode_capture
from freezeframe.decoders.trace.encode import (
    credit_word,
    event_data,
    packet_words,
    pattern_payload,
)
from tests.decoders.trace.captures import device, image
from tests.decoders.trace.recorder_model import record_stream

BAD_PACKET = 7
BAD_WORD = 3
PACKETS = 12
LENGTH = 24
START = 1_000_000  # bus cycle at which the first packet enters the outgoing FIFO
GAP = 60

Word = tuple[int, int, int]  # cycle, kind, data


def made_capture(path: Path, *, source: str = "etherbone://192.0.2.7:1234") -> CaptureFolder:
    """Write the capture and open it again."""
    enq = _words(START, range(PACKETS))
    lost = _without_word(enq, BAD_PACKET, BAD_WORD)
    close = _close(enq)
    writer = CaptureWriter(path, source=source)
    writer.add_device(
        _device(
            0,
            {"tx_enq": enq, "tx_deq": _link(lost, 40), "rx_enq": [], "rx_deq": []},
            _events_of_a(enq),
            close,
            1 << Cause.CROSS,
        )
    )
    writer.add_device(
        _device(
            1,
            {
                "tx_enq": [],
                "tx_deq": [],
                "rx_enq": _link(lost, 55),
                "rx_deq": [(cycle + 90, kind, data) for cycle, kind, data in lost],
            },
            _events_of_b(enq),
            close,
            1 << Cause.PAY_CRC,
        )
    )
    return CaptureFolder.open(writer.commit())


def made_explanation(folder: CaptureFolder, *, text: str = "The words differ.") -> Explanation:
    """Return what an analyzer would say of it; ``text`` is the finding's paragraph."""
    trace = decode_capture(folder)
    before = _row(trace, "A.tx_enq", BAD_WORD - 1)
    after = _row(trace, "A.tx_enq", BAD_WORD + 1)
    rows = (
        before,
        _row(trace, "A.tx_deq", BAD_WORD - 1, before.value),
        _row(trace, "A.tx_enq", BAD_WORD),
        after,
        _row(trace, "A.tx_deq", BAD_WORD, after.value),
    )
    finding = Finding(
        "word-omitted",
        text,
        device="A",
        tap="tx_deq",
        direction="A->B",
        flow=2,
        packet=BAD_PACKET,
        word=BAD_WORD,
        t_ps=rows[-1].t_ps,
        t_uncertainty_ps=6402,
        confidence=0.97,
        counted="99 of 100",
        evidence=(
            Evidence(
                "Up to here the words are equal, then one is missing.", "A", "tx_deq", tuple(rows)
            ),
            Evidence("The counter of bad payloads stands at 1.", "B", "rx_enq"),
        ),
        place="A's outgoing FIFO",
        general="beat-omitted",
    )
    return Explanation([finding], ["The event log of A begins 3 us after its taps."], trace)


def _row(trace: Trace, source: str, word: int, expected: int | None = None) -> Row:
    """Return a payload word of the bad packet as a row of evidence."""
    packets = trace.packets[trace.packets["source"] == source]
    first = packets.loc[packets["seq"] == BAD_PACKET, "first_row"].to_list()[0]
    at = first + 2 + word
    shown = trace.words.loc[at].to_dict()
    return Row(
        "words",
        source,
        f"payload word {word}",
        shown["data"] & (1 << 64) - 1,
        expected,
        row=at,
        slot=shown["slot"],
        cycle=shown["cycle"],
        t_ps=shown["t_ps"],
    )


def _words(start: int, packets: Iterable[int]) -> list[Word]:
    """Return packets as they enter the outgoing FIFO, a word a cycle, with a gap between them."""
    words = []
    cycle = start
    for number in packets:
        payload = pattern_payload(1, number, LENGTH)
        for kind, data in packet_words(1, 1 + number % 2, number, 0x1000 * number, payload):
            words.append((cycle, int(kind), data))
            cycle += 1
        cycle += GAP
    return words


def _without_word(words: Sequence[Word], packet: int, word: int) -> list[Word]:
    at = packet * (LENGTH + 3) + 2 + word
    return [*words[:at], *words[at + 1 :]]


def _link(words: Sequence[Word], late: int) -> list[Word]:
    """Return the words in cycles of the 78.125 MHz link clock, ``late`` bus cycles later."""
    moved: list[Word] = []
    for cycle, kind, data in words:
        here = (cycle + late) * 25 // 32
        if moved and here <= moved[-1][0]:
            here = moved[-1][0] + 1
        moved.append((here, kind, data))
    return moved


def _close(words: Sequence[Word]) -> int:
    return words[-1][0] + 600


def _events_of_a(words: Sequence[Word]) -> list[Word]:
    events = []
    for cycle, kind, _ in words:
        if kind == Kind.TAIL:
            credit = credit_word(1, 27) & (1 << 40) - 1
            taken = event_data(EventSource.RX_LINK, CreditCode.TAKEN, credit, 1)
            events.append((cycle + 120, int(Kind.CREDIT), taken))
    blocked = words[0][0] + 300
    events.append((blocked, int(Kind.PRESSURE), event_data(EventSource.TX_LINK, 1, 5, 1)))
    events.append((blocked + 140, int(Kind.PRESSURE), event_data(EventSource.TX_LINK, 2, 99, 1)))
    return sorted(events)


def _events_of_b(words: Sequence[Word]) -> list[Word]:
    tails = [cycle for cycle, kind, _ in words if kind == Kind.TAIL]
    note = [
        (cycle + 130, int(Kind.NOTE), event_data(EventSource.RX_DMA, 2, number, 1))
        for number, cycle in enumerate(tails)
    ]
    credit = credit_word(1, 27) & (1 << 40) - 1
    sent = event_data(EventSource.RX_LINK, CreditCode.SENT, credit, 1)
    return sorted([*note, *((cycle + 100, int(Kind.CREDIT), sent) for cycle in tails)])


def _device(
    index: int, taps: dict[str, list[Word]], events: list[Word], close: int, causes: int
) -> DeviceCapture:
    memories = []
    for name, words in taps.items():
        link = name in ("tx_deq", "rx_enq")
        end = close * 25 // 32 if link else close
        begin = (START - 2000) * 25 // 32 if link else START - 2000
        memories.append(image(name, record_stream(words, begin, end, causes), 512))
    memories.append(image("event_log", record_stream(events, START - 2000, close, causes), 512))
    bus_toggle, link_toggle = 240 * 4096, 240 * 4096 * 25 // 32
    registers: dict[str | tuple[str | int, ...], int] = {
        "ctl.causes": causes,
        "ctl.cause_cycle_lo": close - 400 + 40 * (1 - index),
        "ctl.cause_cycle_hi": 0,
        "ctl.generation": 3,
        "ctl.state": 3 | 1 << 4 | 0x1F << 8,
        "frozen.freeze_cycle_lo": close,
        "frozen.freeze_cycle_hi": 0,
        "frozen_counters.tx_enq_words.lo": 324 * (1 - index),
        "frozen_counters.tx_enq_words.hi": 0,
        "sampler.write_ptr": 40,
        "sampler.status": 0,
        "sampler.last_cycle_lo": close - 10,
        "sampler.last_cycle_hi": 0,
        "ctl.sample_period": 64,
        ("frozen_flow.words_sent", 1): 162,
        ("frozen_flow.words_received", 1): 0,
        **{("ctl.kinds", i): 0xFFFF for i in range(5)},
        **{("frozen.machine", i): i for i in range(4)},
    }
    made = device(
        index,
        *memories,
        pairs={
            "bus": (1, 4096 + 2 * index, 240, bus_toggle + 2 * index),
            "link": (1, 3202, 240, link_toggle + 2),
        },
        registers=registers,
        boot_nonce=0xC0FFEE00 + index,
        flows_count=2,
        tx_fifo=1024,
        rx_fifo=2048,
        tap_depth=512,
        event_depth=512,
        credit_unit=64,
        sampler_depth=64,
        chunk=256,
    )
    samples = np.zeros((64, 2), np.uint32)
    samples[:40, index] = np.cumsum(np.arange(40) % 7 * 4)
    return DeviceCapture(
        made.index, made.base, made.identity, made.registers, made.memories, samples
    )
