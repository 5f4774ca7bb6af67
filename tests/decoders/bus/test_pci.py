"""PCI: what a bus model of the standard does comes out of its lines, and each rule it breaks is told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.bus.pci import PCI
from freezeframe.decoders.bus.pci_tables import pci_texts
from tests.decoders.bus.lines import EXTENSION, RATE_HZ, Capture, Lines, parities
from tests.decoders.bus.pci_model import Answer, PciBus, Request, Truth, random_traffic
from tests.decoders.pieces import errors, rows_of

CHANNELS = [channel.id for channel in PCI.channels]
PS = 10**12 // RATE_HZ

Rows = list[dict[str, Any]]


def decode(edges: Edges, **options: Any) -> list[Rows]:
    """Return phases and transactions."""
    return rows_of(PCI, edges, **options)


def capture_of(bus: PciBus, **shape: int) -> Capture:
    return Capture(bus.drawn(), **shape)


def decoded(clocks: Sequence[Lines], missing: Sequence[str] = EXTENSION) -> Rows:
    return decode(Capture(clocks).edges(CHANNELS, missing))[1]


def expected(truth: Truth, number: int, capture: Capture) -> dict[str, Any]:
    begin, end = capture.edge(truth.first), capture.edge(truth.end)
    data = -1 if truth.data_clock < 0 else capture.edge(truth.data_clock)
    return {
        "t_ps": begin * PS,
        "source": "CLK",
        "kind": "transaction",
        "t_end_ps": end * PS,
        "error": "",
        "transaction": number,
        "command": truth.command,
        "address": truth.address - (truth.address >> 63 << 64),
        "dual": truth.dual,
        "wide": truth.wide,
        "data_phases": len(truth.data),
        "size_B": sum(enables.bit_count() for enables in truth.enables),
        "data": [value - (value >> 63 << 64) for value in truth.data],
        "enables": truth.enables,
        "termination": truth.termination,
        "devsel": truth.devsel,
        "initiator_waits": truth.initiator_waits,
        "target_waits": truth.target_waits,
        "latency_ps": -1 if data < 0 else (data - begin) * PS,
        "parity_errors": 0,
        "perr": False,
        "serr": False,
        "locked": truth.locked,
        "idsel": truth.idsel,
        "preempted": truth.preempted,
        "retries": truth.retries,
        "first_try": truth.first_try,
        "expected": -1,
        "seen": -1,
        "sample": begin,
        "end_sample": end,
    }


@pytest.mark.parametrize("wide", [False, True], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("block", range(5))
def test_legal_traffic_gives_its_transactions_and_no_error(wide: bool, block: int) -> None:
    for seed in range(40):
        rng = random.Random(f"{seed} {block}")
        bus = random_traffic(1000 * block + seed, 8, wide=wide)
        capture = capture_of(bus, half=rng.randint(2, 6), delay=rng.randint(1, 2))
        phases, rows = decode(capture.edges(CHANNELS, [] if wide else EXTENSION))
        assert rows == [
            expected(truth, number, capture) for number, truth in enumerate(bus.truth)
        ], f"seed {seed}"
        assert all(row["parity"] == "good" for row in phases)
        assert [
            (row["transaction"], row["sample"], row["end_sample"])
            for row in phases
            if row["kind"] == "data"
        ] == [
            (number, capture.edge(begin), capture.edge(end + 1))
            for number, truth in enumerate(bus.truth)
            for begin, end in truth.phases
        ]


# A memory write of three phases, the second of which waits two clocks for the target, DEVSEL# medium.
WRITE = Request(0b0111, 0x1000, [(0x11, 0xF), (0x22, 0xF), (0x33, 0xF)], [0, 0, 0])
SLOW = Answer(2, [1, 2, 0])
READ = Request(0b0110, 0x2000, [(0x11, 0xF), (0x22, 0xF)], [0, 3])


def bus_after(request: Request, answer: Answer) -> PciBus:
    bus = PciBus(1)
    bus.run(request, answer)
    bus.idle(4)
    return bus


def changed(bus: PciBus, at: int, **lines: Any) -> list[Lines]:
    """Return the clocks, one of them changed, with the parity of what is then on the bus."""
    clocks = list(bus.clocks)
    clocks[at] = replace(clocks[at], **lines)
    return parities(clocks)


# Clocks of WRITE with SLOW: 3 address, 4 waits for DEVSEL#, 5 first data, 6 and 7 wait, 8 second, 9 third data.
@pytest.mark.parametrize(
    ("request_", "answer", "at", "lines", "told"),
    [
        (WRITE, SLOW, 1, {"irdy": True}, "irdy-without-frame"),  # 3.3.1
        (WRITE, SLOW, 3, {"irdy": True}, "irdy-in-address"),
        (WRITE, SLOW, 7, {"irdy": False}, "irdy-dropped"),  # 3.3.1 rule 4
        (WRITE, SLOW, 7, {"frame": False}, "frame-changed"),
        (WRITE, SLOW, 9, {"irdy": False}, "frame-without-irdy"),  # rule 3
        (WRITE, SLOW, 7, {"devsel": False}, "devsel-dropped"),  # 3.6.1
        (WRITE, SLOW, 4, {"trdy": True}, "trdy-without-devsel"),
        (WRITE, SLOW, 4, {"stop": True}, "stop-without-devsel"),
        (WRITE, SLOW, 6, {"stop": True}, "stop-dropped"),  # 3.3.3.2.1
        (WRITE, SLOW, 11, {"devsel": True}, "target-idle"),
        (WRITE, SLOW, 3, {"cbe": 0xF4}, "reserved-command"),  # 3.1.1
        (WRITE, SLOW, 3, {"ad": 0x1001}, "reserved-order"),  # 3.2.2.2
        (WRITE, SLOW, 6, {"rst": True}, "reset-transaction"),
        (READ, Answer(1, [1, 0]), 4, {"trdy": True}, "no-turnaround"),  # 3.3.1
        (READ, Answer(1, [1, 0]), 7, {"trdy": False}, "trdy-dropped"),
        (
            replace(READ, data=[(0, 0xF)]),
            Answer(None, []),
            6,
            {"irdy": False},
            "early-abort",
        ),  # 3.3.3.1
        (replace(WRITE, command=0b1111), SLOW, 5, {"cbe": 0xF1}, "partial-line"),  # 3.1.1
        (replace(WRITE, address=1 << 32, dual=True), SLOW, 4, {"frame": False}, "cut-dual-address"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_rule_is_told(
    request_: Request, answer: Answer, at: int, lines: dict[str, Any], told: str
) -> None:
    bus = bus_after(request_, answer)
    assert errors(decoded(bus.drawn())) == []
    rows = decoded(changed(bus, at, **lines))
    assert told in errors(rows)
    row = next(row for row in rows if row["error"] == told)
    # What is dropped is missed in the clock after it.
    capture = Capture(bus.clocks)
    assert row["sample"] <= capture.edge(at + told.endswith("-dropped")) < row["end_sample"] + 1


@pytest.mark.parametrize(
    ("request_", "answer", "told"),
    [
        # 3.5.2: IRDY# within 8 clocks; 3.5.1.1: the target within 16; 3.5.1.2: then within 8.
        (replace(WRITE, waits=[8, 0, 0]), SLOW, "initiator-latency"),
        (WRITE, Answer(2, [16, 0, 0]), "target-initial-latency"),
        (WRITE, Answer(2, [1, 8, 0]), "target-latency"),
        (WRITE, Answer(2, [1, 0, 0], "without"), "retry-not-repeated"),  # 3.3.3.2.2
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_takes_too_long_is_told(request_: Request, answer: Answer, told: str) -> None:
    assert errors(decoded(bus_after(request_, answer).drawn())) == [told]


def test_one_clock_less_is_in_time() -> None:
    assert errors(decoded(bus_after(replace(WRITE, waits=[7, 0, 0]), SLOW).drawn())) == []
    assert errors(decoded(bus_after(WRITE, Answer(2, [15, 0, 0])).drawn())) == []
    assert errors(decoded(bus_after(WRITE, Answer(2, [1, 7, 0])).drawn())) == []


def test_a_late_device_select_is_told() -> None:
    # 3.6.1: the fifth clock is nobody's.
    bus = bus_after(WRITE, Answer(4, [6, 0, 0]))
    rows = decoded(changed(bus, 7, devsel=False))
    assert errors(rows) == ["late-devsel"]
    assert rows[-1]["devsel"] == "subtractive"


@pytest.mark.parametrize(("at", "what"), [(4, "address-parity"), (6, "data-parity")])
def test_a_wrong_par_is_told_one_clock_after_its_phase(at: int, what: str) -> None:
    clocks = bus_after(WRITE, SLOW).drawn()
    right = clocks[at].par
    clocks[at] = replace(clocks[at], par=1 - right)
    phases, rows = decode(Capture(clocks).edges(CHANNELS, EXTENSION))
    assert errors(rows) == [what]
    assert rows[-1]["parity_errors"] == 1
    assert [row["parity"] for row in phases].count("bad") == 1
    told = rows[0]
    assert (told["expected"], told["seen"]) == (right, 1 - right)
    assert pci_texts(told).long.endswith(f"phase: expected {right}, seen {1 - right}")
    assert (rows[-1]["expected"], rows[-1]["seen"]) == (-1, -1)
    # Without PAR nothing can be said.
    phases, rows = decode(Capture(clocks).edges(CHANNELS, [*EXTENSION, "par"]))
    assert errors(rows) == []
    assert {row["parity"] for row in phases} == {""}


def test_of_64_bits_both_parities_are_told() -> None:
    """PAR64 covers AD63..32 and C/BE7..4#, and stands before PAR (3.8)."""
    drawn = (random_traffic(seed, 8, wide=True) for seed in range(20))
    bus = next(bus for bus in drawn if any(truth.wide and truth.data for truth in bus.truth))
    for name, place in (("par", 0), ("par64", 1)):
        clocks = bus.drawn()
        first = next(row for row in decoded(clocks, []) if row["wide"] and row["data_phases"])
        phases = decode(Capture(clocks).edges(CHANNELS, []))[0]
        (at,) = (
            number
            for number in range(len(clocks))
            if Capture(clocks).edge(number) == _data_ends(phases, first["transaction"])
        )
        right = clocks[at].par | clocks[at].par64 << 1
        clocks[at] = replace(clocks[at], **{name: 1 - getattr(clocks[at], name)})
        (told,) = (row for row in decoded(clocks, []) if row["error"] == "data-parity")
        assert (told["expected"], told["seen"]) == (right, right ^ 1 << place)
        assert pci_texts(told).long.endswith(f"expected {right:02b}, seen {told['seen']:02b}")


def _data_ends(phases: Rows, transaction: int) -> int:
    """Return the end of the first data phase of a transaction, the clock that has its PAR."""
    return next(
        int(row["end_sample"])
        for row in phases
        if row["transaction"] == transaction and row["kind"] == "data"
    )


def test_a_flipped_bit_of_any_line_that_is_protected_is_found() -> None:
    clocks = bus_after(WRITE, SLOW).drawn()
    for bit in range(32):
        wrong = list(clocks)
        wrong[5] = replace(wrong[5], ad=wrong[5].ad ^ 1 << bit)
        assert errors(decoded(wrong)) == ["data-parity"]


def test_perr_counts_for_the_data_two_clocks_before_and_serr_for_its_transaction() -> None:
    clocks = bus_after(WRITE, SLOW).drawn()
    clocks[7] = replace(clocks[7], perr=True, serr=True)
    rows = decoded(clocks)
    assert errors(rows) == ["parity-reported"]
    assert (rows[-1]["perr"], rows[-1]["serr"]) == (True, True)
    # Of a clock in which no data went over two clocks before, it is nobody's.
    clocks[7], clocks[8] = bus_after(WRITE, SLOW).drawn()[7], replace(clocks[8], perr=True)
    assert errors(decoded(clocks)) == []


def test_a_capture_that_begins_in_a_transaction_waits_for_an_idle_bus() -> None:
    bus = bus_after(WRITE, SLOW)
    bus.run(READ, Answer(1, [1, 0]))
    bus.idle(2)
    rows = decoded(bus.drawn()[5:])
    assert [(row["kind"], row["command"]) for row in rows] == [("transaction", "memory-read")]


def test_a_capture_that_ends_in_a_transaction_gives_it_as_an_error_with_its_data() -> None:
    bus = bus_after(WRITE, SLOW)
    (row,) = decoded(bus.drawn()[:9])
    assert (row["error"], row["data"], row["size_B"]) == ("cut-transaction", [0x11, 0x22], 8)


def test_more_retries_than_can_be_remembered_are_told_and_not_lost() -> None:
    bus = PciBus(1)
    for number in range(70):
        bus.run(replace(READ, address=8 * number), Answer(1, [1], "without"))
        bus.idle(2)
    told = [row for row in decoded(bus.drawn()) if row["error"] == "retry-not-repeated"]
    assert [row["transaction"] for row in told] == list(range(70))


@pytest.mark.parametrize("seed", range(30))
def test_any_lines_at_all_give_rows_and_every_data_phase_belongs_to_one(seed: int) -> None:
    rng = random.Random(seed)
    clocks = [
        Lines(
            frame=rng.random() < 0.5,
            irdy=rng.random() < 0.5,
            trdy=rng.random() < 0.5,
            devsel=rng.random() < 0.5,
            stop=rng.random() < 0.5,
            ad=rng.getrandbits(32),
            cbe=rng.getrandbits(8),
            par=rng.getrandbits(1),
            perr=rng.random() < 0.1,
            rst=rng.random() < 0.01,
        )
        for _ in range(400)
    ]
    phases, rows = decode(Capture(clocks).edges(CHANNELS, EXTENSION))
    values = [value & 0xFFFF_FFFF for row in rows for value in row["data"]]
    assert values == [row["value"] for row in phases if row["kind"] == "data"]
    for row in [*phases, *rows]:
        assert row["sample"] <= row["end_sample"]
        assert all(pci_texts(row))


def test_a_part_of_the_64_bit_extension_is_refused() -> None:
    edges = Capture(bus_after(WRITE, SLOW).drawn()).edges(CHANNELS, ["req64"])
    with pytest.raises(InputError, match="of the 64-bit extension req64 has no probe"):
        decode(edges)


def test_lines_taken_with_the_edge_are_the_same_when_they_change_after_it() -> None:
    edges = Capture(bus_after(WRITE, SLOW).drawn(), half=4, delay=1).edges(CHANNELS, EXTENSION)
    assert decode(edges, take="with") == decode(edges, take="before")


def test_a_transaction_reads_as_a_sentence() -> None:
    rows = decoded(bus_after(WRITE, SLOW).drawn())
    assert pci_texts(rows[0]).long == (
        "CLK: memory-write 00001000: 12 B in 3, completion, DEVSEL# medium, 0+3 waits, "
        "data 00000011 00000022 00000033"
    )
