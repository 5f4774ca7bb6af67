"""Any card: armed with its nonce, frozen, pulled, every word verified; what comes out is what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.card.device import CardDevice, open_any, split_card
from freezeframe.capture.card.recording import Feature, RecordedTap, Toggle
from freezeframe.capture.connection import Card, connect, trigger
from freezeframe.capture.counters.card import CardSource
from freezeframe.capture.errors import (
    CaptureFormatError,
    DeviceUnknownError,
    InputError,
    TargetError,
)
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.opening import open_capture
from freezeframe.capture.recorder import state
from freezeframe.capture.recorder.control import arm_all, freeze_all
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.recorder.trigger import Trigger
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.trigger_term import Term
from freezeframe.capture.targets.logged import LoggedTarget
from freezeframe.emulator.card_image import SERVED, CardImage
from freezeframe.emulator.serve import serve_card
from tests.capture.card.recorded import BYTES, TEXT, card, recording
from tests.threads import beside


def _device(image: CardImage) -> CardDevice:
    (device,) = open_any(image)
    assert isinstance(device, CardDevice)
    return device


def test_a_pull_brings_every_memory_counter_and_clock_home(tmp_path: Path) -> None:
    report = pull(CardImage([recording()]), tmp_path / "x.ff")
    assert report.complete
    assert report.lost == ()
    folder = open_capture(tmp_path / "x.ff")
    assert isinstance(folder, CardFolder)
    found = folder.device("A").recording()
    assert (found.card.name, found.device, found.cause_names) == ("wide", "A", ("trigger",))
    assert found.cause_cycle == (7 << 32) + 5
    assert found.counters == {"drops": (1 << 32) + 3}
    assert found.bank == {"level": 77}
    byte, wide = found.taps["byte"], found.taps["wide"]
    assert [row.tobytes().hex(" ") for row in byte.lanes[0][:4]] == BYTES
    assert not byte.lanes[0][4:].any()
    assert (byte.write_ptr, byte.wrapped, byte.closed, byte.stored, byte.offered) == (
        4, False, True, 4, 12,
    )  # fmt: skip
    assert [int(lane[0, 0]) for lane in wide.lanes] == [0x11, 0x22]
    assert wide.slots_in_order().tolist() == [*range(5, 16), *range(5)]
    bus, rx = found.clocks
    assert (bus.first, bus.last) == (Toggle(1, 100), Toggle(9, 32_868))
    assert (rx.hz, rx.first, rx.last, rx.alive) == (199_999_000, Toggle(1, 205), None, True)
    assert found.not_read == ()


def test_the_event_log_and_the_histograms_are_pulled_as_what_they_are(tmp_path: Path) -> None:
    of = card(
        TEXT
        + """\
[event.alarm]
wire = "alarm"
[states.fsm]
wire = "fsm"
names = ["idle", "run"]
[histogram.sizes]
of = "lengths"
tap = "byte"
"""
    )
    assert of.log is not None
    records = np.zeros((1024, 9), np.uint8)
    records[0] = list(bytes.fromhex("64 00 00 00 00 00 00 00 ff"))
    records[1] = list(bytes.fromhex("00 00 00 00 00 68 00 00 8c"))
    log = RecordedTap(of.log, (records,), 2, wrapped=False, stored=2, offered=1)
    bins = (5, *[0] * 14, 7)
    made = replace(recording(of), log=log, histograms={"sizes": bins})
    report = pull(CardImage([made]), tmp_path / "x.ff")
    assert report.complete
    assert report.lost == ()
    opened = CardFolder.open(tmp_path / "x.ff")
    (device,) = opened.devices
    assert list(device.memories) == ["byte", "wide.0", "wide.1", "event_log"]
    found = device.recording()
    assert set(found.taps) == {"byte", "wide"}
    assert found.log is not None
    assert found.log.lanes[0].tobytes() == records.tobytes()
    assert (found.log.write_ptr, found.log.stored, found.log.offered) == (2, 2, 1)
    assert found.histograms == {"sizes": bins}
    # Pulled again from the folder it is the same, and one bit of its memory is found.
    with connect(f"file:{tmp_path / 'x.ff'}") as again:
        again.pull(tmp_path / "y.ff")
    log_file = next((tmp_path / "y.ff" / "raw").glob("*event_log*"))
    assert log_file.read_bytes() == records.tobytes()
    log_file.write_bytes(records.tobytes()[:-1] + b"\x01")
    with pytest.raises(CaptureFormatError, match=r"event_log\.rec: altered in chunk 3 "):
        CardFolder.open(tmp_path / "y.ff")


def test_the_arm_key_is_the_key_xor_the_low_bits_of_the_nonce() -> None:
    image = CardImage([recording()], boot_nonce=0xABCD1234)
    image.write(0x104, [0x4152 << 16 | 2])  # without the nonce
    assert image.device(0).get("id.generation") == 1
    image.write(0x104, [(0x4152 ^ 0x234) << 16 | 2])
    assert image.device(0).get("id.generation") == 2
    assert arm_all([_device(image)]) == [3]


def test_a_card_without_the_arm_key_is_armed_by_the_plain_one() -> None:
    image = CardImage([recording(features=SERVED & ~Feature.ARM_KEY)])
    image.write(0x104, [0x4152 << 16 | 2])
    assert image.device(0).get("id.generation") == 2
    assert arm_all([_device(image)]) == [3]


def test_arming_and_freezing_are_seen_in_the_state() -> None:
    image = CardImage([recording()])
    device = _device(image)
    arm_all([device])
    armed = read_state(device)
    assert (armed.state, armed.causes, armed.generation) == ("armed", (), 2)
    assert list(armed.memories) == ["byte", "wide.0", "wide.1"]
    assert armed.memories["byte"].stored == 0
    assert not armed.clocks["rx"].closed
    with pytest.raises(TargetError, match=r"0x00100000 \(trace.byte\+0x0000\)"):
        device.read_words([0x100000])
    (frozen,) = freeze_all([device])
    assert (frozen.state, frozen.causes) == ("frozen", ("host",))
    assert frozen.memories["byte"].stored == 4
    assert frozen.memories["wide.1"].chunks_done == 1
    assert frozen.clocks["rx"].closed


def test_a_clock_that_stands_still_is_told(tmp_path: Path) -> None:
    image = CardImage([recording()])
    image.device(0).set("ctl.clocks_alive", 1)
    assert not read_state(_device(image)).clocks["rx"].alive
    report = pull(image, tmp_path / "x.ff")
    assert report.lost == ("A: clock rx stood still, so its taps recorded nothing after it did",)
    assert not CardFolder.open(tmp_path / "x.ff").devices[0].recording().clocks[1].alive


def test_a_clock_that_stops_while_its_state_is_read_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = CardImage([recording()])
    device = _device(image)
    read_many = device.read_many
    failed: list[bool] = []

    def stopping(registers: Sequence[Any]) -> list[int]:
        if not failed and ("tap.offered", 0) in registers:
            failed.append(True)
            image.device(0).set("ctl.clocks_alive", 1)
            raise TargetError("the read of tap.offered[0] was answered with an error")
        return read_many(registers)

    monkeypatch.setattr(device, "read_many", stopping)
    assert not read_state(device).clocks["rx"].alive
    assert failed


def test_a_read_that_fails_beside_clocks_that_run_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = _device(CardImage([recording()]))
    read_many = device.read_many

    def failing(registers: Sequence[Any]) -> list[int]:
        if ("tap.offered", 0) in registers:
            raise TargetError("the read of tap.offered[0] was answered with an error")
        return read_many(registers)

    monkeypatch.setattr(device, "read_many", failing)
    monkeypatch.setattr(state, "_SETTLE_S", 0.01)
    with pytest.raises(TargetError, match=r"tap\.offered\[0\]"):
        read_state(device)


def test_a_chunk_that_does_not_have_the_crc_of_the_device_is_a_gap(tmp_path: Path) -> None:
    image = CardImage([recording()])
    image.device(0).flip(0x100000 + 16 * 256, 1)  # slot 256 of byte: the second chunk
    report = pull(image, tmp_path / "x.ff")
    assert not report.complete
    assert report.lost == (
        "A.byte: slots 256..511 (256) could not be read: CRC-32 did not match in 10 readings",
    )
    found = CardFolder.open(tmp_path / "x.ff").devices[0].recording()
    assert found.taps["byte"].gaps == ((range(256, 512),),)
    assert [row.tobytes().hex(" ") for row in found.taps["byte"].lanes[0][:4]] == BYTES


def test_crcs_that_are_not_there_yet_are_gaps_in_the_order_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freezeframe.capture.recorder.plan._CRC_STALL_S", 0.01)
    image = CardImage([recording()])
    image.device(0).set("ctl.crc_done", 3)  # byte has two entries, each lane of wide one
    assert pull(image, tmp_path / "x.ff").lost == (
        "A.wide.1: slots 0..15 (16) could not be read: the device has not computed its CRC",
    )


@pytest.mark.parametrize(
    ("register", "value", "says"),
    [
        ("tap.write_ptr", 513, "byte has 512 slots and its write pointer is at 513"),
        ("id.chunk", 0xFFFFFFFF, None),
    ],
)
def test_a_device_that_contradicts_itself_leaves_nothing(
    register: str, value: int, says: str | None, tmp_path: Path
) -> None:
    image = CardImage([recording()])
    indices = (0,) if register.startswith("tap.") else ()
    image.device(0).set(register, value, *indices)
    if says is None:
        assert not pull(image, tmp_path / "x.ff").complete  # one CRC for all does not match
        return
    with pytest.raises(TargetError, match=says):
        pull(image, tmp_path / "x.ff")
    assert not (tmp_path / "x.ff").exists()


class Altering(CardImage):
    """A card whose words are altered on their way in some readings of its memories."""

    def __init__(self, *of: Any, alters: Callable[[int], bool], **more: Any) -> None:
        super().__init__(*of, **more)
        self._alters, self._readings = alters, 0

    def read(self, addresses: Any) -> Any:
        words = super().read(addresses)
        inside = np.asarray(addresses) == 0x100000 + 16 * 256  # slot 256 of byte
        if inside.any():
            self._readings += 1
            if self._alters(self._readings):
                words[np.flatnonzero(inside)[0]] ^= 1 + self._readings
        return words


NO_CRC = SERVED & ~Feature.CRC_TABLE
UNCHECKED = (
    "A: was built without a CRC table: two readings of each memory agreed, and whether the device reads them "
    "as it recorded them is not known",
)


def test_a_card_without_a_crc_table_is_read_until_two_readings_agree_and_the_capture_says_so(
    tmp_path: Path,
) -> None:
    image = Altering([recording(features=NO_CRC)], alters=lambda reading: reading in (1, 3))
    with pytest.raises(TargetError):
        image.read([0x10000])  # it has no table
    report = pull(image, tmp_path / "x.ff")
    assert report.complete
    assert (report.lost, report.unchecked) == ((), UNCHECKED)
    assert report.retries > 0
    folder = CardFolder.open(tmp_path / "x.ff")
    assert folder.manifest["unchecked"] == list(UNCHECKED)
    found = folder.devices[0].recording()
    assert found.not_read == UNCHECKED
    byte = found.taps["byte"].lanes[0]
    assert [row.tobytes().hex(" ") for row in byte[:4]] == BYTES
    assert not byte[4:].any()
    with connect(f"file:{tmp_path / 'x.ff'}") as again:
        copied = again.pull(tmp_path / "y.ff")
    assert isinstance(copied, CardFolder)
    assert tuple(copied.unchecked) == UNCHECKED


def test_without_a_crc_table_what_never_reads_the_same_twice_is_a_gap(tmp_path: Path) -> None:
    image = Altering([recording(features=NO_CRC)], alters=lambda reading: True)
    report = pull(image, tmp_path / "x.ff")
    assert not report.complete
    assert report.lost == (
        "A.byte: slots 256..511 (256) could not be read: two readings differed in 10 readings",
    )


def test_without_a_crc_table_bits_that_are_always_0_are_held_to_it(tmp_path: Path) -> None:
    image = CardImage([recording(features=NO_CRC)])
    image.device(0).flip(0x100000 + 12, 1)
    assert pull(image, tmp_path / "x.ff").lost == (
        "A.byte: slots 0..255 (256) could not be read: bits were set that are always 0 in 10 readings",
    )


def test_a_step_that_knows_the_built_in_card_alone_says_so() -> None:
    with pytest.raises(DeviceUnknownError, match="this step knows the built-in card alone"):
        open_devices(CardImage([recording()]))


def test_counters_and_laws_of_a_card_are_watched_by_its_own_names(tmp_path: Path) -> None:
    pull(CardImage([recording()]), tmp_path / "x.ff")
    file = tmp_path / "card.toml"
    file.write_text(TEXT)
    with _served(file) as url:
        source = CardSource(url)
        sample = source.read()
        assert sample.values["A.drops"] == 0
        assert source.counters["A.drops"].unit == "packets"
        assert source.counters["A.drops"].labels == (
            ("device", "A"), ("card", "wide"), ("counter", "drops"),
        )  # fmt: skip
        source.close()


def test_a_capture_is_replayed_as_a_target_and_pulled_again(tmp_path: Path) -> None:
    pull(CardImage([recording()]), tmp_path / "x.ff")
    with connect(f"file:{tmp_path / 'x.ff'}") as card:
        assert card.states()["A"].state == "frozen"
        again = card.pull(tmp_path / "y.ff")
    assert isinstance(again, CardFolder)
    before = CardFolder.open(tmp_path / "x.ff").devices[0]
    for name, memory in again.devices[0].memories.items():
        assert np.array_equal(memory.records, before.memories[name].records)
    assert list(again.devices[0].registers) == list(before.registers)


def test_a_software_device_answers_over_etherbone(tmp_path: Path) -> None:
    pull(CardImage([recording()]), tmp_path / "x.ff")
    with _served(tmp_path / "x.ff") as url, connect(url) as card:
        card.arm(discard=True)
        card.freeze()
        card.wait(5)
        assert card.counters() == {"A": {"drops": (1 << 32) + 3}}
        assert isinstance(card.pull(tmp_path / "y.ff"), CardFolder)


def test_the_card_file_is_an_option_of_any_target() -> None:
    assert split_card("etherbone://h:1") == ("etherbone://h:1", None)
    assert split_card("etherbone://h:1?card=a%20b.toml") == ("etherbone://h:1", Path("a b.toml"))
    assert split_card("uart:/dev/x?a=1&card=c.toml&b=2") == ("uart:/dev/x?a=1&b=2", Path("c.toml"))
    for wrong in ("x:?card=", "x:?card=a&card=b"):
        with pytest.raises(InputError, match="card= takes one card file"):
            split_card(wrong)


def test_python_opens_any_card() -> None:
    card = Card(CardImage([recording()]))
    assert card.counters() == {"A": {"drops": (1 << 32) + 3}}
    assert card.device("A").read("tap.offered", 0) == 12


def test_the_trigger_of_a_card_is_one_term_on_a_tap_of_its_own() -> None:
    image = CardImage([recording()])
    card = Card(image)
    assert not trigger(card).enabled
    there = trigger(card, "wide", "kind=END_USER|TAIL_USER,data=0x12345/0xffff")
    assert isinstance(there, Trigger)
    assert (there.tap, there.enabled) == ("wide", True)
    assert there.terms == (Term(0x2345, 0xFFFF, 1 << 7 | 1 << 11),)
    words = image.read(range(0x140, 0x158, 4)).tolist()
    assert words == [1 << 8 | 1, 0x2345, 0, 0xFFFF, 0, 1 << 7 | 1 << 11]
    assert not trigger(card, off=True).enabled


@pytest.mark.parametrize(
    ("tap", "term", "says"),
    [
        ("rx_enq", "data=1", "tap 'rx_enq': there is byte, wide"),
        ("wide", "kind=CREDIT", "kind 'CREDIT'; at a tap there is HEAD, BODY"),
        ("wide", "flow=3", "there is kind=NAME and data=VALUE/MASK"),
        ("wide", "data=0x10000000000000000", "does not fit 64 bits"),
        ("wide", "data=x", "'x' is not a number"),
    ],
)
def test_a_term_that_a_card_does_not_know_is_refused(tap: str, term: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        trigger(Card(CardImage([recording()])), tap, term)


def test_a_card_that_was_built_without_a_trigger_says_so() -> None:
    image = CardImage([recording(features=SERVED & ~Feature.TRIGGER)])
    with pytest.raises(InputError, match=r"device A \(wide\) was built without a trigger"):
        trigger(Card(image))


def test_accesses_to_a_card_are_logged_by_its_own_places() -> None:
    lines: list[str] = []
    target = LoggedTarget(CardImage([recording()]), lines.append)
    (device,) = open_any(target)
    device.read("tap.offered", 1)
    device.write("ctl.arm", 0)
    assert lines[-2:] == [
        "A rd tap.offered[1] addr=0x0000082c data=0x00000014",
        "A wr ctl.arm addr=0x00000104 data=0x00000000",
    ]


def test_an_arming_of_the_same_session_is_told_and_another_is_not(tmp_path: Path) -> None:
    image = CardImage([recording()])
    card = Card(image)
    card.arm(discard=True)
    card.freeze()
    armed = _history(card, tmp_path / "x.ff")[0]
    assert (armed["what"], armed["generation"]) == ("armed", {"A": 2})
    assert armed["when"].endswith("+00:00")
    arm_all(open_any(image))  # by somebody else
    card.freeze()
    assert _history(card, tmp_path / "y.ff")[0] == {
        "what": "armed", "when": None, "who": None, "where": None, "generation": {"A": 3},
    }  # fmt: skip


def _history(card: Card, place: Path) -> list[dict[str, Any]]:
    folder = card.pull(place)
    return list(folder.manifest["history"])


@contextmanager
def _served(file: Path) -> Iterator[str]:
    """A software device in a thread, for the length of a block; gives its URL."""
    ready: Queue[str] = Queue()
    with beside(lambda ended: serve_card("127.0.0.1:0", file, ready.put, ended)):
        yield ready.get(timeout=10)
