"""The bus of a running card: its waveform breaks no rule of PCI-X, and says the same as the card's own recorder.

The oracle of the protocol is the decoder ``pcix``, which was written and tested before, and knows nothing of this
card; that of the contents are the tap memories, the event log, and the descriptors that the driver wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.decoders.trace.decode import Trace, decode_capture
from tests.board.boards import Board, running
from tests.board.pcix_bus import (
    BASE0,
    BASE1,
    BRIDGE,
    CARD,
    MASK64,
    NOTES,
    Bus,
    decode_bus,
    place_of,
    read_codes,
    tap_cycles,
    tap_words,
)  # fmt: skip
from tests.gui.cli import run_inside

POSTED_WORDS = 256
"""What may still be on its way from the tap to the bus when a card is frozen, words (`ff_nic_pcix_writes`)."""


@dataclass
class Recorded:
    """A run that froze by itself: both buses from power-up to behind the freeze, and what the recorders hold."""

    buses: dict[str, Bus]
    trace: Trace


def until_whole(board: Board, folder: Path, microseconds: int) -> None:
    """Wait until both waveforms are whole: the board runs by itself, and says so.

    Until then nobody asks it anything: an access is a transaction of this bus, so that what lies on the bus, and how
    the bridge answers, would depend on when a busy machine lets the host ask.
    """
    assert board.process.stderr is not None
    said = board.process.stderr.readline()
    told = re.fullmatch(
        re.escape(str(folder)) + r": card_a\.vcd has (\d+) clocks, card_b\.vcd (\d+); "
        r"lines driven by two: 0, answers that may not be: 0\n",
        said,
    )
    assert told is not None, said
    assert all(int(clocks) >= 100 * microseconds for clocks in told.groups())


def waves(folder: Path, microseconds: int, *arguments: str) -> None:
    """Let the board run until its waveforms are whole."""
    with running(
        "--pcix", str(folder), "--pcix-us", str(microseconds), *arguments, pcix=True
    ) as board:
        until_whole(board, folder, microseconds)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("waves")
    arguments = (
        "--pcix", str(folder), "--pcix-us", "400", "--fault", "payload-bit-flip", "--seed", "1",
        "--bridge", "retries=0.1,at-once=0.2,singles=0.05,disconnects=0.2,pieces=0.7,waits=8",
    )  # fmt: skip
    with running(*arguments, pcix=True) as board:
        until_whole(board, folder, 400)
        target = open_target(board.url)
        states = [device.read("ctl.state") & 0x1F for device in open_devices(target)]
        assert states == [0x13, 0x13], "the fault has not frozen the cards"
        report = pull(target, folder / "run.ff")
        assert report.complete
    buses = {card: decode_bus(folder / f"card_{card.lower()}.vcd") for card in "AB"}
    yield Recorded(buses, decode_capture(CaptureFolder.open(folder / "run.ff")))


@pytest.mark.parametrize("card", ["A", "B"])
def test_the_waveform_of_a_running_card_breaks_no_rule(recorded: Recorded, card: str) -> None:
    bus = recorded.buses[card]
    assert bus.errors == []
    ends = Counter(
        (row["requester"] == CARD, row["command"], row["termination"]) for row in bus.rows
    )
    for what in (
        (True, "memory-read-block", "split"), (True, "memory-read-block", "retry"),
        (True, "split-completion", "completion"), (True, "memory-write-block", "completion"),
        (False, "memory-write-block", "completion"),
        (False, "memory-read-dword", "split"), (False, "split-completion", "completion"),
    ):  # fmt: skip
        assert ends[what] > 0, what
    assert max(split["completions"] for split in bus.splits) > 1


def test_the_bridge_finds_the_card_sizes_its_bases_and_lets_it_run(recorded: Recorded) -> None:
    config = [row for row in recorded.buses["A"].rows if row["command"].startswith("config")]
    seen = [
        (row["command"][7:], int(row["address"]) & 0xFF, int(row["data"][0]) & 0xFFFFFFFF)
        for row in config
    ]
    ones = 0xFFFFFFFF
    assert seen == [
        ("read", 0x00, 0x0001FF0F), ("read", 0x08, 0x02800001), ("read", 0x40, 0x00020007),
        ("read", 0x44, 0x0863FFF8),  # no write has told it bus and device yet
        ("write", 0x10, ones), ("read", 0x10, 0xFF000004), ("write", 0x14, ones), ("read", 0x14, ones),
        ("write", 0x18, ones), ("read", 0x18, 0xFFFFF004), ("write", 0x1C, ones), ("read", 0x1C, ones),
        ("write", 0x10, BASE0 & ones), ("write", 0x14, BASE0 >> 32), ("write", 0x18, BASE1 & ones),
        ("write", 0x1C, BASE1 >> 32), ("write", 0x40, 0x000C << 16), ("write", 0x04, 0x146), ("read", 0x04, 0x02300146),
    ]  # fmt: skip
    assert {row["termination"] for row in config} == {"completion"}
    assert {row["devsel"] for row in config} == {"B"}


@pytest.mark.parametrize("card", ["A", "B"])
def test_what_was_read_is_what_the_descriptors_ask_for_and_each_word_once(
    recorded: Recorded, card: str
) -> None:
    bus = recorded.buses[card]
    wanted = [src + 8 * place for src, _, words, _ in bus.descriptors for place in range(words)]
    assert [address for address, _ in bus.read] == wanted[: len(bus.read)]
    assert len(bus.read) > 4000


@pytest.mark.parametrize("card", ["A", "B"])
def test_the_words_of_the_enqueue_tap_came_over_the_bus_in_this_order_at_a_fixed_distance(
    recorded: Recorded, card: str
) -> None:
    bus, tap = recorded.buses[card], f"{card}.tx_enq"
    words = tap_words(recorded.trace, tap)
    place = place_of(words, [word for _, word in bus.read])
    assert (len(words) > 1500, place >= 0) == (True, True)
    clocks = bus.read_clock[place : place + len(words)]
    distances = {
        cycle - clock for cycle, clock in zip(tap_cycles(recorded.trace, tap), clocks, strict=True)
    }
    # A completion and data at once announce themselves differently: one cycle or two apart, not more.
    assert max(distances) - min(distances) <= 4


@pytest.mark.parametrize("card", ["A", "B"])
def test_the_words_of_the_dequeue_tap_went_over_the_bus_to_where_their_packet_says(
    recorded: Recorded, card: str
) -> None:
    bus, other = recorded.buses[card], recorded.buses["B" if card == "A" else "A"]
    words = tap_words(recorded.trace, f"{card}.rx_deq")
    payload = [(address, word) for address, word in bus.written if address < NOTES]
    written = [word for _, word in payload]
    lost = next(n for n in range(POSTED_WORDS) if place_of(words[: len(words) - n], written) >= 0)
    assert len(words) - lost > 1500
    # The other driver's descriptors say where, unless a bit of the way was flipped; each flow keeps its own order.
    ends = {dest + 8 * place for _, dest, length, _ in other.descriptors for place in range(length)}
    assert {address for address, _ in payload} <= ends


@pytest.mark.parametrize("card", ["A", "B"])
def test_the_log_has_each_request_retry_and_disconnect_that_the_bus_shows(
    recorded: Recorded, card: str
) -> None:
    codes = read_codes(recorded.trace, card)
    assert place_of(codes, recorded.buses[card].asked) >= 0
    assert {"requested", "retried", "disconnected"} <= set(codes)


@pytest.mark.parametrize("card", ["A", "B"])
def test_notifications_on_the_bus_are_those_of_the_log(recorded: Recorded, card: str) -> None:
    notes = [
        (word >> 56, word & 0xFFFF)
        for address, word in recorded.buses[card].written
        if address >= NOTES
    ]
    events = recorded.trace.events
    events = events[(events["device"] == card) & (events["kind"] == "NOTE")]
    logged = [
        ({"local": 1, "remote": 2}[code], value)
        for code, value in zip(events["code"], events["value"], strict=True)
    ]
    assert logged
    assert place_of(logged, notes) >= 0


BRIDGES: dict[str, dict[str, object]] = {
    "decode=A,waits=0": {"devsel": "A"},
    "decode=C,waits=8,retries=0.6": {"devsel": "C", "termination": "retry"},
    "decode=subtractive,pieces=0.95,at-once=0": {
        "devsel": "subtractive",
        "termination": "initiator-disconnect",
    },
    "narrow=0.9,singles=0.2,at-once=0.3": {"wide": False, "termination": "single-data-disconnect"},
    "disconnects=0.9,at-once=0.9,singles=0": {"termination": "disconnect-at-adb"},
}


@pytest.mark.parametrize("bridge", BRIDGES)
def test_however_the_bridge_answers_no_rule_is_broken_and_no_word_lost(
    tmp_path: Path, bridge: str
) -> None:
    waves(tmp_path, 150, "--seed", "3", "--bridge", bridge)
    read, rows = 0, []
    for card in "ab":
        bus = decode_bus(tmp_path / f"card_{card}.vcd")
        assert bus.errors == []
        wanted = [src + 8 * place for src, _, words, _ in bus.descriptors for place in range(words)]
        assert [address for address, _ in bus.read] == wanted[: len(bus.read)]
        read += len(bus.read)
        rows += [row for row in bus.rows if row["requester"] == CARD]
    assert read > 1000
    for column, value in BRIDGES[bridge].items():
        assert any(row[column] == value for row in rows), column


def test_words_that_a_card_leaves_out_behind_a_retry_are_missing_on_its_bus(tmp_path: Path) -> None:
    """The fault split-retry-mishandled is the card's own: the bus is without a violation, and shows what went wrong."""
    waves(
        tmp_path, 400, "--fault", "split-retry-mishandled", "--seed", "2", "--bridge", "retries=0.2"
    )
    bus = decode_bus(tmp_path / "card_a.vcd")
    assert bus.errors == []
    wanted = [src + 8 * place for src, _, words, _ in bus.descriptors for place in range(words)]
    read = [address for address, _ in bus.read]
    first = next(n for n, pair in enumerate(zip(read, wanted, strict=False)) if pair[0] != pair[1])
    left_out = (read[first] - wanted[first]) // 8
    assert 1 <= left_out <= 7
    asked = [
        row
        for row in bus.rows
        if row["command"] == "memory-read-block" and row["requester"] == CARD
    ]
    at = next(n for n, row in enumerate(asked) if int(row["address"]) == read[first])
    before = asked[at - 1]
    assert (int(before["address"]), before["termination"]) == (wanted[first], "retry")
    assert before["byte_count"] - asked[at]["byte_count"] == 8 * left_out


def test_behind_an_abort_a_card_makes_up_no_word_and_goes_on_where_its_driver_says(
    tmp_path: Path,
) -> None:
    """Nobody answers, Target-Aborts and error messages: status, a stop, and the rest once the driver has written so."""
    waves(tmp_path, 150, "--seed", "3", "--bridge", "aborts=0.3")
    seen: Counter[str] = Counter()
    for card in "ab":
        bus = decode_bus(tmp_path / f"card_{card}.vcd")
        assert {row["error"] for row in bus.errors} <= {
            "completion-error"
        }  # which the bridge has sent
        seen.update(row["termination"] for row in bus.rows if row["requester"] == CARD)
        seen.update(row["error"] for row in bus.errors)
        wanted = [src + 8 * place for src, _, words, _ in bus.descriptors for place in range(words)]
        assert [address for address, _ in bus.read] == wanted[: len(bus.read)]
        resumes = [
            row for row in bus.rows
            if row["command"] == "memory-write-block" and int(row["address"]) & MASK64 == BASE1 + 0x118
        ]  # fmt: skip
        assert resumes
        assert {row["requester"] for row in resumes} == {BRIDGE}
    assert min(seen["target-abort"], seen["master-abort"], seen["completion-error"]) > 0, seen


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bridge", "retries=0.1"], "--bridge is of a board with a PCI-X bus: add --pcix DIR"),
        (["--pcix", "{}", "--bridge", "retries=2"], "bridge: retries=2: a share from 0 to 0.95"),
        (["--pcix", "{}", "--bridge", "decode=D"], "bridge: decode=D: any, A, B, C or subtractive"),
        (["--pcix", "{}", "--bridge", "colour=1"], "bridge: 'colour=1': there is retries, disconnects, "
         "singles, at-once, pieces, narrow, aborts, parity (shares), waits (clocks), decode"),
    ],
)  # fmt: skip
def test_a_bridge_that_cannot_be_is_refused_in_a_line(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    words = [word.format(tmp_path) for word in arguments]
    if words[0] == "--bridge":
        told = run_inside("sim-board", *words)
        assert (told.code, told.err) == (2, f"freezeframe: {said}\n")
        return
    with pytest.raises(AssertionError) as refused, running(*words, pcix=True):
        pass
    assert said in str(refused.value).replace("\\'", "'")
