"""PCI-X: what a bus model of the addendum does comes out of its lines, and each rule it breaks is told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.bus.pcix import PCIX
from freezeframe.decoders.bus.pcix_tables import pcix_texts
from tests.decoders.bus.lines import EXTENSION, RATE_HZ, Capture, Lines, parities
from tests.decoders.bus.pcix_model import PcixBus, Plan, Split, Truth, random_traffic
from tests.decoders.pieces import errors, rows_of

CHANNELS = [channel.id for channel in PCIX.channels]
PS = 10**12 // RATE_HZ

Rows = list[dict[str, Any]]


def decode(edges: Edges) -> list[Rows]:
    """Return phases, transactions and splits."""
    return rows_of(PCIX, edges)


def decoded(clocks: Sequence[Lines]) -> Rows:
    return decode(Capture(clocks).edges(CHANNELS, EXTENSION))[1]


def signed(value: int) -> int:
    return value - (value >> 63 << 64)


def expected(truth: Truth, number: int, capture: Capture) -> dict[str, Any]:
    begin, end = capture.edge(truth.first), capture.edge(truth.end)
    data = -1 if truth.data_clock < 0 else capture.edge(truth.data_clock)
    return {
        "t_ps": begin * PS,
        "kind": "transaction",
        "t_end_ps": end * PS,
        "error": "",
        "transaction": number,
        "command": truth.command,
        "address": signed(truth.address),
        "dual": truth.dual,
        "wide": truth.wide,
        "requester": truth.requester,
        "tag": truth.tag,
        "completer": truth.completer,
        "byte_count": truth.byte_count,
        "modified": truth.modified,
        "data_phases": len(truth.data),
        "size_B": truth.size_B,
        "data": [signed(value) for value in truth.data],
        "termination": truth.termination,
        "devsel": truth.devsel,
        "target_waits": truth.target_waits,
        "latency_ps": -1 if data < 0 else (data - begin) * PS,
        "parity_errors": 0,
        "split_of": truth.split_of,
        "status": truth.status,
    }


def expected_split(split: Split, capture: Capture) -> dict[str, Any]:
    return {
        "kind": "error" if split.error else "split",
        "error": split.error,
        "request": split.request,
        "completion": split.completion,
        "command": split.command,
        "address": signed(split.address),
        "requester": split.requester,
        "tag": split.tag,
        "completer": split.completer,
        "byte_count": split.byte_count,
        "received_B": split.received_B,
        "completions": split.completions,
        "latency_ps": (capture.edge(split.answer) - capture.edge(split.split_end)) * PS,
        "status": split.status,
        "sample": capture.edge(split.first),
        "end_sample": capture.edge(split.end),
    }


def part(row: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in like}


@pytest.mark.parametrize("wide", [False, True], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("block", range(5))
def test_legal_traffic_gives_its_transactions_and_splits(wide: bool, block: int) -> None:
    for seed in range(25):
        bus = random_traffic(1000 * block + seed, 8, wide=wide)
        capture = Capture(bus.drawn(), half=2 + seed % 3, delay=1 + seed % 2)
        phases, rows, splits = decode(capture.edges(CHANNELS, [] if wide else EXTENSION))
        transactions = [row for row in rows if row["kind"] == "transaction"]
        wanted = [expected(truth, number, capture) for number, truth in enumerate(bus.truth)]
        assert [part(row, want) for row, want in zip(transactions, wanted, strict=True)] == wanted
        ended = [expected_split(split, capture) for split in bus.splits]
        assert [part(row, want) for row, want in zip(splits, ended, strict=True)] == ended
        # A message of an error is an error; nothing else is.
        failed = [split.completion for split in bus.splits if split.error]
        assert [(row["error"], row["transaction"]) for row in rows if row["kind"] == "error"] == [
            ("completion-error", number) for number in failed
        ]
        assert {row["parity"] for row in phases} == {"good"}


# A write of 300 B at 0x1008 by 01:02.3 with tag 5, DEVSEL# decode A, 75 data phases of 32 bits.
BURST = Plan(0b1111, 0x1008, 0x0501_132C, 0x1, range(100, 175), 2)
REQUESTER = {"requester": "01:02.3", "tag": 5}
READ = replace(BURST, command=0b1110, data=(), ends="split")
# The Split Completion with the 300 B: lower address 8, completer 04:00.0.
ANSWER = Plan(0b1100, 0x0501_1308, 0x0004_002C, 0x1, range(75), 2)


def bus_after(*plans: Plan) -> PcixBus:
    bus = PcixBus(1)
    for plan in plans:
        bus.run(plan)
        bus.idle(1)
    bus.idle(4)
    return bus


def test_a_burst_has_its_attributes() -> None:
    (row,) = decoded(bus_after(BURST).drawn())
    want = {"byte_count": 300, "size_B": 300, "relaxed": False, "no_snoop": False} | REQUESTER
    assert part(row, want) == want
    (row,) = decoded(bus_after(replace(BURST, attributes=0x6501_132C)).drawn())
    assert (row["relaxed"], row["no_snoop"]) == (True, True)


def test_a_byte_count_of_0_is_4096() -> None:
    plan = replace(BURST, address=0, attributes=0, enables=0, data=range(1024))
    (row,) = decoded(bus_after(plan).drawn())
    assert (row["byte_count"], row["size_B"], row["termination"]) == (4096, 4096, "completion")


# Clocks of BURST: 3 address, 4 attribute, 5 DEVSEL#, 6 to 80 data, 81 idle.
@pytest.mark.parametrize(
    ("at", "lines", "told"),
    [
        (1, {"irdy": True}, "irdy-without-frame"),
        (4, {"frame": False}, "cut-header"),
        (3, {"cbe": 0xF4}, "reserved-command"),
        (10, {"irdy": False}, "initiator-wait"),
        (10, {"trdy": False}, "target-wait"),
        (10, {"devsel": False, "trdy": False}, "devsel-dropped"),
        (80, {"frame": True}, "frame-again"),
        (20, {"frame": False, "irdy": False}, "not-at-boundary"),
        (10, {"rst": True}, "reset-transaction"),
        (10, {"devsel": False}, "split-of-write"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_rule_is_told(at: int, lines: dict[str, Any], told: str) -> None:
    clocks = list(bus_after(BURST).clocks)
    assert errors(decoded(parities(clocks))) == []
    clocks[at] = replace(clocks[at], **lines)
    assert told in errors(decoded(parities(clocks)))


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (replace(BURST, waits=1), ["odd-waits"]),
        (replace(BURST, waits=14), ["late-response"]),
        (replace(BURST, devsel=5), ["late-devsel"]),
        # Of 75 data phases 62 end at 0x1100; 61 do not.
        (replace(BURST, data=range(61), ends="initiator-disconnect"), ["not-at-boundary"]),
        (replace(BURST, data=range(62), ends="initiator-disconnect"), []),
    ],
    ids=["odd-waits", "late-response", "late-devsel", "not-at-boundary", "at-boundary"],
)
def test_what_a_plan_does_wrong_is_told(plan: Plan, told: list[str]) -> None:
    assert errors(decoded(bus_after(plan).drawn())) == told


@pytest.mark.parametrize(
    ("at", "what"), [(4, "address-parity"), (5, "attribute-parity"), (7, "data-parity")]
)
def test_a_wrong_par_is_told_one_clock_after_its_phase(at: int, what: str) -> None:
    clocks = bus_after(BURST).drawn()
    right = clocks[at].par
    clocks[at] = replace(clocks[at], par=1 - right)
    rows = decoded(clocks)
    assert errors(rows) == [what]
    assert rows[-1]["parity_errors"] == 1
    assert (rows[0]["expected"], rows[0]["seen"]) == (right, 1 - right)
    assert pcix_texts(rows[0]).long.endswith(f"phase: expected {right}, seen {1 - right}")
    assert (rows[-1]["expected"], rows[-1]["seen"]) == (-1, -1)


def test_perr_counts_for_the_data_three_clocks_before() -> None:
    clocks = bus_after(replace(BURST, attributes=0x0501_1304, enables=0, data=[1])).drawn()
    wrong = [*clocks[:9], replace(clocks[9], perr=True), *clocks[10:]]
    assert [row["perr"] for row in decoded(wrong)] == [True, True]
    wrong = [*clocks[:8], replace(clocks[8], perr=True), *clocks[9:]]
    assert [row["perr"] for row in decoded(wrong)] == [False]


def splits_after(*plans: Plan) -> tuple[list[str], Rows]:
    """Return the errors among the transactions, and the splits."""
    _, rows, splits = decode(Capture(bus_after(*plans).drawn()).edges(CHANNELS, EXTENSION))
    return errors(rows), splits


def test_a_split_completion_answers_its_request() -> None:
    told, (split,) = splits_after(READ, BURST, ANSWER)
    want = {"request": 0, "completion": 2, "completer": "04:00.0", "received_B": 300} | REQUESTER
    assert (told, part(split, want)) == ([], want)


def test_what_does_not_fit_the_request_is_told() -> None:
    assert splits_after(ANSWER)[0] == ["unexpected-completion"]
    # Another tag, another requester.
    told, splits = splits_after(READ, replace(ANSWER, address=0x0401_1308))
    assert (told, [row["error"] for row in splits]) == (
        ["unexpected-completion"],
        ["split-unanswered"],
    )
    assert splits_after(READ, replace(ANSWER, address=0x0501_1408))[0] == ["unexpected-completion"]
    # 304 B instead of 300; 296 B that are not said to be fewer.
    more = replace(ANSWER, attributes=0x0004_0030, data=range(76))
    assert splits_after(READ, more)[0] == ["completion-count"]
    less = replace(ANSWER, attributes=0x0004_0028, data=range(74))
    assert splits_after(READ, less)[0] == ["completion-count"]
    assert splits_after(READ, replace(ANSWER, address=0x0501_130C))[0] == ["completion-address"]


def test_a_tag_that_is_still_in_use_is_told() -> None:
    told, splits = splits_after(READ, READ, ANSWER)
    assert told == ["tag-reused"]
    assert [(row["request"], row["error"]) for row in splits] == [(0, "split-unanswered"), (1, "")]


def test_a_read_that_is_answered_with_write_completed_is_told() -> None:
    message = replace(
        ANSWER, attributes=0x2004_0004, enables=0, data=[0x0000_0000], address=0x0501_1300
    )
    told, splits = splits_after(READ, message)
    assert (told, splits[0]["status"]) == (["completion-error"], "write completed")


def test_more_open_splits_than_can_be_remembered_are_told_and_not_lost() -> None:
    plans = [replace(READ, attributes=number << 8 | 0x2C) for number in range(300)]
    told, splits = splits_after(*plans)
    assert told == []
    assert [row["request"] for row in splits] == list(range(300))
    assert {row["error"] for row in splits} == {"split-unanswered"}


def test_a_capture_that_ends_in_a_burst_gives_it_as_an_error_with_its_data() -> None:
    (row,) = decoded(bus_after(BURST).drawn()[:10])
    assert (row["error"], row["data"], row["size_B"]) == (
        "cut-transaction",
        [100, 101, 102, 103],
        16,
    )


@pytest.mark.parametrize("seed", range(20))
def test_any_lines_at_all_give_rows_and_every_data_phase_belongs_to_one(seed: int) -> None:
    rng = random.Random(seed)
    clocks = [
        Lines(
            frame=rng.random() < 0.8,
            irdy=rng.random() < 0.8,
            trdy=rng.random() < 0.5,
            devsel=rng.random() < 0.7,
            stop=rng.random() < 0.3,
            ad=rng.getrandbits(32),
            cbe=rng.getrandbits(8),
            par=rng.getrandbits(1),
            rst=rng.random() < 0.01,
        )
        for _ in range(400)
    ]
    phases, rows, splits = decode(Capture(clocks).edges(CHANNELS, EXTENSION))
    values = [value & 0xFFFF_FFFF for row in rows for value in row["data"]]
    assert values == [row["value"] for row in phases if row["kind"] == "data"]
    for row in [*phases, *rows, *splits]:
        assert row["sample"] <= row["end_sample"]
        assert all(pcix_texts(row))


def test_rows_read_as_sentences() -> None:
    _, rows, splits = decode(Capture(bus_after(READ, ANSWER).drawn()).edges(CHANNELS, EXTENSION))
    assert pcix_texts(rows[0]).normal == (
        "memory-read-block 00001008 of 01:02.3 tag 5: 0 of 300 B, split"
    )
    assert pcix_texts(rows[1]).long == (
        "CLK: split-completion 00000008 of 01:02.3 tag 5: 300 of 300 B, completion, DEVSEL# A, "
        "0 waits, answers 0, data 00000000 00000001 00000002 00000003 00000004 00000005 00000006 "
        "00000007 ..."
    )
    assert pcix_texts(splits[0]).normal == (
        "memory-read-block 00001008 of 01:02.3 tag 5: 300 B in 1"
    )
