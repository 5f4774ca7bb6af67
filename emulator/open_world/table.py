"""The faults of the open world, one entry each: docs/open-world-faults.md is made of this table.

Nothing is added, taken away or changed here once runs have been counted for a confidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from freezeframe.emulator.faults.base import A, B
from freezeframe.emulator.open_world import flow_control, hosts, recorder, registers, sending, words
from freezeframe.emulator.open_world.base import Entry, Unlisted
from freezeframe.emulator.open_world.flow_control import Counts, Credits
from freezeframe.emulator.open_world.hosts import Interrupts, Notifications, Ring, Stops
from freezeframe.emulator.open_world.places import (
    INCOMING,
    LINK,
    OUTGOING,
    Damaged,
    Noise,
    Retrain,
    Whole,
)
from freezeframe.emulator.open_world.registers import (
    CauseMasked,
    CauseRaised,
    CauseUpset,
    Counter,
    CrossedCounters,
    Register,
)
from freezeframe.emulator.open_world.sending import Checker, Made

_WHERE = {
    OUTGOING: ("out", "A's outgoing FIFO", "A.tx_deq"),
    LINK: ("link", "the link into B", "B.rx_enq"),
    INCOMING: ("in", "B's incoming FIFO", "B.rx_deq"),
}
_SUSPECT = ("recorder-suspect",)


def _entries() -> Iterator[Entry]:
    yield from _damaged()
    yield from _whole()
    yield from _made()
    yield from _flow_control()
    yield from _hosts()
    yield from _stops()
    yield from _recorder()
    yield from _registers()


def _damaged() -> Iterator[Entry]:
    altered, rotated = ("bits-altered",), ("bytes-rotated", "bits-altered")
    fewer, more = (
        ("beat-omitted", "packet-cut", "bits-altered"),
        ("beat-duplicated", "bits-altered"),
    )
    changes: tuple[tuple[str, words.Change, tuple[str, ...], tuple[str, ...], str], ...] = (
        ("burst", words.burst, (LINK,), altered, "random bits of 3 to 8 words in a row change"),
        ("bit", words.bits_flipped, (OUTGOING, INCOMING), altered, "one bit of one payload word changes"),
        ("words-lost", words.words_lost, (OUTGOING, LINK, INCOMING), fewer, "2 to 12 payload words in a row are gone"),
        ("words-again", words.words_again, (OUTGOING, INCOMING), more, "2 to 12 payload words in a row come twice"),
        ("words-swapped", words.words_swapped, (OUTGOING, LINK, INCOMING), altered, "two neighbouring payload words change places"),
        ("bytes-swapped", words.bytes_swapped, (OUTGOING, INCOMING), rotated, "the bytes of one word come in the opposite order"),
        ("word-zero", words.word_zero, (LINK, INCOMING), altered, "one payload word reads 0"),
        ("word-stale", words.word_stale, (OUTGOING, INCOMING), altered, "one payload word is what its slot held before"),
        ("cut", words.end_cut, (OUTGOING, LINK, INCOMING), ("packet-cut", "beat-omitted"), "a packet ends early, without its tail"),
        ("tail-lost", words.tail_lost, (LINK,), ("packet-cut", "beat-omitted"), "the last word of a packet is gone"),
        ("header-flow", words.header_flow, (OUTGOING, INCOMING), altered, "one bit of a header's flow number changes behind the CRC generator"),
    )  # fmt: skip
    for what, change, places, fair, text in changes:
        for where in places:
            short, place, tap = _WHERE[where]
            make = partial(Damaged, where=where, change=change)
            yield Entry(
                f"{short}-{what}",
                "data path",
                "data",
                f"{place}: {text}, once.",
                f"the packet at {tap}",
                fair,
                make,
            )
    lasting: tuple[tuple[str, words.Change, tuple[str, ...], str], ...] = (
        ("link-bit-stuck", words.bit_stuck, altered, "one bit of every word keeps one value"),
        ("lanes-crossed", words.lanes_crossed, rotated, "the two lanes are read in each other's place"),
        ("lane-idle", words.lane_idle, altered, "lane 1 carries idles only"),
        ("lane-inverted", words.lane_inverted, altered, "every bit of lane 1 is turned over"),
        ("lane-late", words.lane_late, ("bits-altered", "beat-duplicated", "bytes-rotated"), "lane 1 falls three words behind within each packet"),
    )  # fmt: skip
    for name, change, fair, text in lasting:
        make = partial(Damaged, where=LINK, change=change, goes_on=True)
        yield Entry(
            name,
            "link",
            "data",
            f"On the link into B {text}, from some moment on.",
            "the first packet at B.rx_enq",
            fair,
            make,
        )


def _whole() -> Iterator[Entry]:
    kinds = (
        ("lost", ("packet-dropped", "stalled"), "is lost"),
        ("doubled", ("packet-duplicated", "packets-reordered", "stalled"), "comes twice"),
        ("late", ("packets-reordered", "packet-dropped"), "comes behind the next one"),
    )
    for what, fair, text in kinds:
        for where, (short, place, tap) in _WHERE.items():
            make = partial(Whole, where=where, what=what)
            yield Entry(
                f"{short}-packet-{what}",
                "data path",
                "data",
                f"{place}: a whole packet {text}.",
                f"that packet at {tap}",
                fair,
                make,
            )
    yield Entry("link-packets-joined", "link", "data", "On the link into B the boundary between two packets is lost.", "the first of them at B.rx_enq",
        ("packets-joined", "packet-dropped"), partial(Whole, where=LINK, what="joined"))  # fmt: skip
    gone = ("packet-dropped",)
    yield Entry(
        "retrain-told",
        "link",
        "data",
        "The link loses its lock for 2 to 20 us and logs it; what A sends meanwhile never arrives.",
        "the first lost packet at B.rx_enq",
        gone,
        partial(Retrain, told=True),
    )
    yield Entry(
        "retrain-untold",
        "link",
        "data",
        "As retrain-told, but no event says so.",
        "the first lost packet at B.rx_enq",
        gone,
        partial(Retrain, told=False),
    )
    yield Entry(
        "noise-packet",
        "link",
        "data",
        "Noise on the link is taken for a packet of 4 to 12 random words.",
        "B.rx_enq",
        ("packet-inserted", "runt", "bad-on-arrival", "bits-altered"),
        Noise,
    )


def _made() -> Iterator[Entry]:
    bad = ("bad-on-arrival", "bits-altered")
    made: tuple[tuple[str, sending.Making, int, bool, str, tuple[str, ...], str], ...] = (
        ("crc-generator", sending.wrong_crc, 1, True, "data", bad, "the payload CRC generator starts from a wrong value, from some packet on"),
        ("header-crc-generator", sending.wrong_header_crc, 0, True, "data", bad, "the header CRC generator is wrong, from some packet on"),
        ("flow-wrong", sending.wrong_flow, 0, False, "data", ("bad-on-arrival", "stalled"), "one header has another flow's number than the descriptor, with a right CRC"),
        ("sequence-skips", sending.wrong_seq, 0, False, "data", ("bad-on-arrival", "packet-dropped"), "one header has a sequence number that is 1 to 9 ahead"),
        ("length-wrong", sending.wrong_length, 1, False, "data", ("bad-on-arrival", "packet-cut"), "one header says 1 to 7 words more than follow, with a right CRC"),
        ("dma-bytes-swapped", sending.swapped_after, 1, False, "data", bad, "the bytes of one word are swapped behind the CRC generator"),
        ("dma-words-left-out", sending.words_left_out, 9, False, "data", ("bad-on-arrival", "packet-cut", "beat-omitted"), "1 to 8 words of a message are not fetched, without a retry or disconnect"),
        ("dma-word-twice", sending.word_twice, 2, False, "data", ("bad-on-arrival", "beat-duplicated"), "one word of a message is taken twice, before the CRC"),
        ("destination-wrong", sending.wrong_dest, 1, False, "none", (), "one packet has a wrong address, covered by its CRC"),
        ("host-bytes-swapped", sending.swapped_before, 1, False, "none", (), "the bytes of one word are swapped in host memory, before the CRC"),
        ("buffer-reused", sending.old_message, 1, False, "none", (), "the host writes over a buffer before it is fetched"),
    )  # fmt: skip
    for name, how, shortest, goes_on, kind, fair, text in made:
        truth = "the packet at A.tx_enq" if kind == "data" else "nothing that a recording holds"
        make = partial(Made, how=how, shortest=shortest, goes_on=goes_on)
        yield Entry(name, "DMA", kind, f"At A {text}.", truth, fair, make)
    yield Entry(
        "crc-checker-blind",
        "check",
        "data",
        "One bit changes on the link and B's payload checks pass every packet.",
        "the packet at B.rx_enq",
        ("bits-altered", "payload-bit-flip"),
        partial(Checker, passes=True),
    )
    yield Entry(
        "crc-checker-refuses",
        "check",
        "register",
        "B's payload checks refuse one packet that is good.",
        "B's payload_errors",
        _SUSPECT,
        partial(Checker, passes=False),
    )


def _flow_control() -> Iterator[Entry]:
    stalled, over = ("stalled",), ("stalled",)
    credits: tuple[tuple[str, flow_control.Crediting, bool, bool, str, tuple[str, ...], str], ...] = (
        ("credit-doubled", flow_control.doubled, False, False, "none", (), "a credit comes twice"),
        ("credit-other-flow", flow_control.to_other_flow, True, False, "stall", stalled, "the credits of one flow name the next flow"),
        ("credit-delayed", flow_control.delayed, True, False, "stall", (*stalled, "credit-too-coarse"), "the credits of one flow take 30 us longer"),
        ("credit-ahead", flow_control.too_much, True, True, "data", over, "the credits of one flow are 700 words ahead"),
        ("credit-crc-generator", flow_control.wrong_crc, True, False, "stall", stalled, "the credits of one flow have a wrong CRC, so that A refuses them"),
    )  # fmt: skip
    for name, how, goes_on, slow, kind, fair, text in credits:
        truth = {
            "none": "nothing follows",
            "stall": "A waits for B's credits",
            "data": "B's FIFO overflows",
        }[kind]
        make = partial(Credits, how=how, goes_on=goes_on, slow_host=slow)
        yield Entry(name, "credits", kind, f"On B's way to A {text}.", truth, fair, make)
    counts = (
        (
            "freed-leaks",
            "freed-leaks",
            B,
            False,
            "stall",
            stalled,
            "B counts one word of each burst that it frees too little",
        ),
        (
            "freed-jumps",
            "freed-jumps",
            B,
            True,
            "data",
            over,
            "B once counts 700 words freed that are not",
        ),
        (
            "sent-twice",
            "sent-twice",
            A,
            False,
            "stall",
            (*stalled, "header-miscounted"),
            "A counts two words of each packet twice",
        ),
        (
            "credit-ignored",
            "ignored",
            A,
            True,
            "data",
            (*over, "credit-too-optimistic"),
            "A sends without looking at the credit",
        ),
        (
            "credit-compare-stuck",
            "refused",
            A,
            False,
            "stall",
            stalled,
            "A's comparison of credit says no for ever",
        ),
        (
            "limit-upset",
            "limit",
            A,
            True,
            "data",
            (*over, "credit-start-too-large"),
            "one high bit of A's limit of a flow turns over",
        ),
        (
            "credited-upset",
            "credited",
            A,
            True,
            "data",
            over,
            "one high bit of what A was credited turns over",
        ),
    )
    for name, what, card, slow, kind, fair, text in counts:
        truth = {"stall": "A waits for credit", "data": "B's FIFO overflows or A waits"}[kind]
        yield Entry(name, "flow control", kind, f"{text}.", truth, fair, partial(Counts, what=what, card=card, slow_host=slow))  # fmt: skip


def _hosts() -> Iterator[Entry]:
    notes: tuple[tuple[str, hosts.Noting, bool, str], ...] = (
        ("note-missing", hosts.missing, False, "one notification is never written"),
        ("notes-stop", hosts.missing, True, "no notification is written from some moment on"),
        ("note-doubled", hosts.doubled, False, "one notification is written twice"),
        ("note-late", hosts.late, False, "one notification comes 20 us late"),
        ("note-other-packet", hosts.wrong_seq, False, "one notification names another packet"),
        ("note-other-flow", hosts.wrong_flow, False, "one notification names another flow"),
    )
    for name, how, goes_on, text in notes:
        yield Entry(name, "notifications", "host", f"At B {text}.", "the packet at B", (), partial(Notifications, how=how, goes_on=goes_on))  # fmt: skip
    rings: tuple[tuple[str, hosts.Posting, tuple[str, ...], str], ...] = (
        (
            "descriptor-stale",
            hosts.stale,
            ("bad-on-arrival",),
            "one descriptor is the one its slot held before",
        ),
        ("descriptor-lost", hosts.lost, (), "the engine never sees one descriptor"),
        ("descriptor-twice", hosts.twice, (), "one descriptor is taken twice"),
    )
    for name, post, fair, text in rings:
        yield Entry(
            name,
            "driver",
            "host",
            f"At A {text}.",
            "the packet at A",
            fair,
            partial(Ring, how=post),
        )
    interrupts = (
        ("interrupts-late", "late", (), "the handler begins 40 us after each interrupt"),
        (
            "re-armed-late",
            "re-armed-late",
            (),
            "the driver enables the line 10 us after its last look, and looks again",
        ),
        ("handler-slow", "slow", (), "the handler takes 3 us for each completion"),
        ("interrupt-spurious", "spurious", (), "the line is raised once with nothing to take"),
        (
            "interrupt-not-raised",
            "not-raised",
            ("interrupt-lost",),
            "one completion raises no interrupt although the line is enabled",
        ),
    )
    for name, what, fair, text in interrupts:
        yield Entry(
            name, "driver", "host", f"At B {text}.", "B", fair, partial(Interrupts, what=what)
        )


def _stops() -> Iterator[Entry]:
    stalled = ("stalled",)
    stops = (
        (
            "host-stops",
            "host-receives",
            B,
            0,
            "stall",
            stalled,
            "B's host takes no more words",
            "B's receive DMA engine",
        ),
        (
            "bus-hangs-a",
            "bus",
            A,
            0,
            "stall",
            stalled,
            "something else owns A's bus for good",
            "A's bus",
        ),
        (
            "bus-hangs-b",
            "bus",
            B,
            0,
            "stall",
            stalled,
            "something else owns B's bus for good",
            "B's bus",
        ),
        (
            "bus-stall",
            "bus",
            A,
            30,
            "none",
            stalled,
            "something else owns A's bus for 30 us",
            "A's bus",
        ),
        (
            "ring-leaks",
            "ring",
            A,
            0,
            "stall",
            stalled,
            "the slots of A's descriptor ring are not given back",
            "A's host",
        ),
        (
            "tx-full-stuck",
            "tx-full",
            A,
            0,
            "stall",
            stalled,
            "A's outgoing FIFO says it is full",
            "A's transmit DMA engine",
        ),
        (
            "tx-empty-stuck",
            "tx-empty",
            A,
            0,
            "stall",
            stalled,
            "A's outgoing FIFO says it is empty",
            "A's link transmitter",
        ),
        (
            "rx-empty-stuck",
            "rx-empty",
            B,
            0,
            "stall",
            stalled,
            "B's incoming FIFO says it is empty",
            "B's receive DMA engine",
        ),
        (
            "rx-full-stuck",
            "rx-full",
            B,
            0,
            "data",
            stalled,
            "B's incoming FIFO says it is full",
            "B.rx_enq",
        ),
        (
            "rx-shallow",
            "rx-shallow",
            B,
            0,
            "data",
            stalled,
            "a quarter of B's incoming FIFO is all that works",
            "B.rx_enq",
        ),
    )
    for name, what, card, for_us, kind, fair, text, truth in stops:
        yield Entry(name, "FIFO or bus", kind, f"{text}.", truth, fair, partial(Stops, what=what, card=card, for_us=for_us))  # fmt: skip


def _recorder() -> Iterator[Entry]:
    upsets: tuple[tuple[str, recorder.Upsetting, bool, str], ...] = (
        ("trace-bit-upset", recorder.data_bit, False, "one bit of one recorded word turns over"),
        ("trace-two-bits-upset", recorder.two_bits, False, "two neighbouring bits of one recorded word turn over"),
        ("trace-column-upset", recorder.column_bits, False, "one bit of eight records in a row turns over"),
        ("trace-kind-upset", recorder.kind_bit, False, "one bit of one record's kind turns over"),
        ("trace-time-upset", recorder.time_bit, False, "one bit of one record's time stamp turns over"),
        ("trace-time-record-upset", recorder.time_word, False, "one bit of the cycle in a time record turns over"),
        ("trace-bit-stuck", recorder.data_stuck, False, "one bit of every record keeps one value"),
        ("trace-address-stuck", recorder.address_stuck, False, "one address line is stuck, so that two slots are one"),
        ("trace-slot-stale", recorder.slot_stale, False, "one record was not written over what its slot held"),
        ("log-bit-upset", recorder.data_bit, True, "one bit of one event turns over"),
        ("log-time-upset", recorder.time_bit, True, "one bit of one event's time stamp turns over"),
    )  # fmt: skip
    for name, how, log, text in upsets:
        where = "the event log" if log else "one trace memory"
        yield Entry(name, "recorder", "recorder", f"In {where} of A or B {text}.", "that memory, slot and bit", _SUSPECT, partial(recorder.Upset, how=how, log=log))  # fmt: skip
    written = (
        ("trace-record-dropped", False, False, "one word is not recorded, and the pointer stays"),
        ("trace-record-doubled", True, False, "one word is recorded twice"),
        ("log-event-dropped", False, True, "one event is not logged, and no loss is told"),
        ("log-event-doubled", True, True, "one event is logged twice"),
    )
    for name, doubled, log, text in written:
        yield Entry(name, "recorder", "recorder", f"At A or B {text}.", "that memory", _SUSPECT, partial(recorder.Written, doubled=doubled, log=log))  # fmt: skip
    yield Entry(
        "sample-upset",
        "recorder",
        "recorder",
        "One bit of one sample of the throughput sampler turns over.",
        "that sample",
        _SUSPECT,
        recorder.SampleUpset,
    )


def _registers() -> Iterator[Entry]:
    rows: tuple[tuple[str, registers.Wrong, str], ...] = (
        ("level-one-off", registers.level_one_off, "the level of a FIFO is read one too high or too low"),
        ("level-upset", registers.level_bit, "one bit of a FIFO's level, as it is read, turns over"),
        ("flow-count-upset", registers.flow_count, "one bit of a count that credit is compared by, as it is read, turns over"),
        ("flow-limit-read-upset", registers.flow_limit, "one bit of a flow's limit, as it is read, turns over"),
        ("flow-words-upset", registers.flow_words, "one bit of a flow's count of words turns over"),
        ("machine-upset", registers.machine, "one bit of a state machine's state, as it is read, turns over"),
        ("sequence-upset", registers.sequence, "one bit of the next sequence number, as it is read, turns over"),
        ("freeze-cycle-upset", registers.freeze_cycle, "one bit of the cycle of the freeze turns over"),
        ("underflows-upset", registers.lane_underflows, "one bit of a lane's count of underflows turns over"),
        ("completions-upset", registers.waiting, "one bit of the completions that wait turns over"),
    )  # fmt: skip
    for name, how, text in rows:
        yield Entry(
            name,
            "register",
            "register",
            f"At A or B {text}.",
            "that register and bit",
            _SUSPECT,
            partial(Register, how=how),
        )
    taps = tuple(
        f"{tap}_{what}"
        for tap in ("tx_enq", "tx_deq", "rx_enq", "rx_deq")
        for what in ("words", "packets")
    )
    words_ = tuple(counter for counter in taps if counter.endswith("words"))
    errors = ("header_errors", "payload_errors", "length_errors", "parity_errors", "drops")
    others = (*taps, "credits_sent", "credits_taken", "notifications")
    counters = (
        ("counter-narrow", "narrow", words_, "a counter of words has 12 bits only"),
        ("counter-saturates", "saturates", words_, "a counter of words stays at 1,023"),
        ("counter-not-cleared", "starts-late", others, "a counter starts at 1,000"),
        ("counter-twice", "twice", others, "a counter counts everything twice"),
        ("counter-leaks", "leaks", others, "a counter leaves out one in eight"),
        ("counter-upset", "upset", taps, "one bit of a counter turns over"),
        ("error-counter-upset", "upset", errors, "one bit of a counter of errors turns over"),
    )
    for name, what, which, text in counters:
        yield Entry(name, "counter", "register", f"At A or B {text}.", "that counter", _SUSPECT, partial(Counter, what=what, counters=which))  # fmt: skip
    yield Entry(
        "counters-crossed",
        "counter",
        "register",
        "Two counters of words of A or B stand in each other's place.",
        "those counters",
        _SUSPECT,
        CrossedCounters,
    )
    yield Entry(
        "cause-upset",
        "register",
        "register",
        "The latch of the causes of A or B holds one that never came.",
        "ctl.causes",
        _SUSPECT,
        CauseUpset,
    )
    yield Entry(
        "cause-spurious",
        "register",
        "register",
        "A cause comes from nowhere and freezes A or B.",
        "ctl.causes",
        _SUSPECT,
        CauseRaised,
    )
    yield Entry(
        "cause-masked",
        "register",
        "data",
        "One bit changes on the link, and a wrong mask lets it pass.",
        "the packet at B.rx_enq",
        ("bits-altered", "payload-bit-flip"),
        CauseMasked,
    )


ENTRIES: dict[str, Entry] = {entry.name: entry for entry in _entries()}
"""By name, in the order of the table."""


def make_unlisted(name: str) -> Unlisted:
    """Return one of them.

    Raises:
        KeyError: there is none of that name.
    """
    return ENTRIES[name].make(name)
