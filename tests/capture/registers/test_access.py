"""Named registers of a device, and when all ones are believed (docs/formats.md, section 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from freezeframe.capture.errors import BusError, DeviceUnknownError, TargetError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import ALL_ONES, Device, open_devices
from freezeframe.capture.registers.map_table import COUNTERS, MAP_HASH
from freezeframe.capture.targets.base import Words
from tests.capture.targets.fake_device import OUTSIDE, STRIDE_B, FakeTarget

MAGIC_AT, ERRORS_AT, ERROR_ADDR_AT = 0x00, 0x5C, 0x60
TRACE_AT = 0x40000


class Wire(FakeTarget):
    """The fake behind a transport whose error answer is 0xFFFFFFFF, word by word as on a wire."""

    def read(self, addresses: Words | Sequence[int]) -> Words:
        self.before_read(np.asarray(addresses).tolist())
        words = []
        for address in np.asarray(addresses).tolist():
            try:
                words.append(int(super().read([address])[0]))
            except BusError:
                words.append(ALL_ONES)
        return np.array(words, np.uint32)

    def before_read(self, addresses: list[int]) -> None:
        """A place for what happens just before an access."""


def first(target: FakeTarget) -> Device:
    return open_devices(target)[0]


# Opening


def test_all_devices_of_a_target_are_opened_with_their_names_and_bases() -> None:
    a, b = open_devices(FakeTarget())
    assert (a.name, a.index, a.base, a.identity.devices_time_master) == ("A", 0, 0, 1)
    assert (b.name, b.index, b.base, b.identity.devices_time_master) == ("B", 1, 0x1000000, 0)
    assert b.identity.boot_nonce == 0x0B000001


def test_the_identity_holds_every_parameter_by_its_name() -> None:
    identity = first(FakeTarget(depth=1024)).identity
    assert (identity.format_major, identity.format_minor) == (1, 0)
    assert (identity.tap_depth, identity.event_depth, identity.chunk) == (1024, 1024, 256)
    assert (identity.clk_bus, identity.clk_link) == (100_000_000, 78_125_000)
    assert (identity.trace_mode, identity.trace_data_w, identity.trace_dt_w) == (1, 64, 4)
    assert (identity.counters_count, identity.counters_width) == (len(COUNTERS), 48)
    assert (identity.stride_B, identity.depth(0), identity.depth(4)) == (1 << 24, 1024, 1024)


TOO_MANY = "which 32-bit addresses cannot hold"


@pytest.mark.parametrize(
    ("index", "name", "value", "kind", "says"),
    [
        (0, "id.magic", 0xDEADBEEF, DeviceUnknownError,
         r"device 0 at 0x00000000: the first word is 0xdeadbeef, not 0x46525a46"),
        (0, "id.magic", 0x465A5246, DeviceUnknownError, "bytes of each word are swapped"),
        (0, "id.magic", ALL_ONES, TargetError, "reads all ones: nothing answers there"),
        (0, "id.format", 0x00000009, DeviceUnknownError, r"format version 0\.9.*use an older release of Freezeframe"),
        (0, "id.format", 0x00030000, DeviceUnknownError, r"format version 3\.0.*use a newer release of Freezeframe"),
        (1, "id.map_hash", MAP_HASH ^ 1, DeviceUnknownError,
         f"device 1 at 0x01000000 has register map {MAP_HASH ^ 1:08x}"),
        (0, "id.devices", 0 | 24 << 16, DeviceUnknownError, TOO_MANY),
        (0, "id.devices", 2 | 11 << 16, DeviceUnknownError, TOO_MANY),
        (0, "id.devices", 2 | 32 << 16, DeviceUnknownError, TOO_MANY),
        (0, "id.devices", 255 | 30 << 16, DeviceUnknownError, TOO_MANY),
        (1, "id.devices", 2 | 0 << 8 | 24 << 16, DeviceUnknownError,
         "at 0x01000000 device 1 is expected and device 0 answers"),
    ],
    ids=["another magic", "bytes turned round", "all ones: a failure", "older format", "newer format", "another map",
         "no devices", "devices over each other", "a stride of 2^32", "too many devices", "at the wrong place"],
)  # fmt: skip
def test_what_is_no_device_of_this_program_is_refused_with_what_to_do(
    index: int, name: str, value: int, kind: type[TargetError], says: str
) -> None:
    fake = FakeTarget()
    fake.set(index, name, value)
    with pytest.raises(TargetError, match=says) as refused:
        open_devices(fake)
    assert refused.type is kind


def test_an_identity_that_reads_differently_each_time_is_refused() -> None:
    class Noisy(FakeTarget):
        def read(self, addresses: Words | Sequence[int]) -> Words:
            self.set(0, "id.build_hash", self.get(0, "id.build_hash") + 1)
            return super().read(addresses)

    with pytest.raises(TargetError, match=r"\(id\.build_hash\), did not read the same twice"):
        open_devices(Noisy())


def test_a_word_altered_on_its_way_does_not_enter_the_identity() -> None:
    class Altered(FakeTarget):
        calls = 0

        def read(self, addresses: Words | Sequence[int]) -> Words:
            self.calls += 1
            words = super().read(addresses)
            words[-1] ^= 0x10 * (self.calls % 3 == 0)
            return words

    assert open_devices(Altered())[0].identity == open_devices(FakeTarget())[0].identity


# Registers


def test_registers_are_read_by_name_and_indices() -> None:
    fake = FakeTarget()
    device = open_devices(fake)[1]
    fake.set(1, "frozen.lane.sync_level", 0x1234, 1)
    assert device.read("frozen.lane.sync_level", 1) == 0x1234
    assert device.address("frozen.lane.sync_level", 1) == STRIDE_B + 0x470
    assert device.window("trace_tx_deq") == STRIDE_B + 0x80000


def test_many_registers_are_read_in_one_call_of_the_transport() -> None:
    fake = FakeTarget()
    device = first(fake)
    fake.keep_reads = True
    fake.set(0, "memory.stored", 77, 4)
    assert device.read_many(["id.magic", ("memory.stored", 4), ("id.format",)]) == [
        0x46525A46, 77, 0x10000,
    ]  # fmt: skip
    assert fake.reads == [[0x0, 0x288, 0x4]]


def test_a_field_is_cut_out_of_its_register() -> None:
    fake = FakeTarget()
    fake.set(0, "ctl.state", 3 | 1 << 4 | 0b10101 << 8)
    device = first(fake)
    assert device.field("ctl.state", "state") == 3
    assert device.field("ctl.state", "held") == 1
    assert device.field("ctl.state", "closed") == 0b10101


def test_write_and_modify_change_what_they_name_and_nothing_else() -> None:
    fake = FakeTarget()
    device = open_devices(fake)[1]
    fake.set(1, "provoke.traffic", 0xFFFFFFFF & ~(0x7F << 8))
    device.modify("provoke.traffic", flow=0x55, enable=0)
    assert fake.writes == [(STRIDE_B + 0x504, [0xFFFFD5FE])]
    device.write("ctl.post", 64, 2)
    assert fake.writes[1:] == [(STRIDE_B + 0x144, [64])]


def refusals(device: Device) -> dict[str, tuple[object, str]]:
    return {
        "a value too wide for its field": (
            lambda: device.modify("provoke.traffic", enable=1, flow=128),
            r"provoke\.traffic\.flow \(addr 0x00000504\): 128 does not fit 7 bits \(0\.\.127\)",
        ),
        "a negative value": (lambda: device.modify("provoke.traffic", flow=-1), "-1 does not fit"),
        "no such field": (
            lambda: device.modify("provoke.traffic", fow=1),
            "provoke.traffic has no field 'fow'; it has enable, flow, length",
        ),
        "modify of a write-only register": (
            lambda: device.modify("ctl.arm", key=1),
            "ctl.arm is 'w': it cannot be read, changed and written",
        ),
        "write of a read-only register": (
            lambda: device.write("id.magic", 1),
            "id.magic can only be read",
        ),
        "read of a write-only register": (
            lambda: device.read("ctl.arm"),
            "ctl.arm can only be written",
        ),
        "a value beyond 32 bits": (
            lambda: device.write("ctl.post", 1 << 32, 0),
            r"4294967296 does not fit 32 bits",
        ),
        "no such register": (
            lambda: device.read("ctl.stat"),
            "no register 'ctl.stat'; did you mean ctl.state",
        ),
        "no such window": (
            lambda: device.window("trace_tx_enqueue"),
            "no window 'trace_tx_enqueue'; did you mean trace_tx_enq",
        ),
        "an index out of range": (
            lambda: device.read("ctl.post", 5),
            r"ctl\.post: index 5 is out of range \(0\.\.4\)",
        ),
        "a missing index": (
            lambda: device.read("ctl.post"),
            r"ctl\.post: 0 indices given, it takes 1 \[5\]",
        ),
        "no such field to read": (
            lambda: device.field("ctl.state", "stat"),
            "ctl.state has no field 'stat'; it has state, held, closed",
        ),
        "an index before the name": (
            lambda: device.read_many([(4, "memory.stored")]),
            "is not a register name with its indices",
        ),
    }


@pytest.mark.parametrize("what", list(refusals(None)))  # type: ignore[arg-type]  # only the names
def test_is_refused_and_nothing_is_written(what: str) -> None:
    fake = FakeTarget()
    call, why = refusals(first(fake))[what]
    with pytest.raises(ValueError, match=why):
        call()  # type: ignore[operator]  # each is a function
    assert fake.writes == []


# All ones


def test_a_data_word_of_all_ones_is_believed_after_it_was_read_again() -> None:
    fake = Wire()
    device = first(fake)
    fake.words[0, TRACE_AT // 4] = ALL_ONES
    fake.keep_reads = True
    assert device.read_words([TRACE_AT, TRACE_AT + 4])[0] == ALL_ONES
    # word by word, as Wire passes them on
    assert [a for (a,) in fake.reads] == [
        TRACE_AT, TRACE_AT + 4,
        MAGIC_AT, ERRORS_AT, TRACE_AT, ERRORS_AT, ERROR_ADDR_AT,
    ]  # fmt: skip


def test_words_that_are_not_all_ones_cost_nothing_more() -> None:
    fake = Wire()
    device = first(fake)
    fake.words[0, TRACE_AT // 4 : TRACE_AT // 4 + 2] = [1, 2]
    fake.keep_reads = True
    device.read_words([TRACE_AT, TRACE_AT + 4])
    assert len(fake.reads) == 2


@pytest.mark.parametrize("index", [0, 1])
def test_an_error_answer_is_a_bus_error_that_names_the_register(index: int) -> None:
    fake = Wire(frozen=False)
    device = open_devices(fake)[index]
    at = device.window("trace_tx_enq") + 0x10
    with pytest.raises(BusError, match=rf"{at:#010x} \(trace_tx_enq\+0x0010\).*recorder is frozen"):
        device.read_words([device.base, at])


def test_an_address_beyond_every_device_is_counted_by_device_0() -> None:
    fake = Wire()
    device = open_devices(fake)[1]
    with pytest.raises(BusError, match="read of 0x05000000 "):
        device.read_words([5 * STRIDE_B])
    assert fake.get(0, "id.bus_errors") == 2


def test_suspects_of_two_devices_are_each_asked_of_their_own() -> None:
    fake = Wire()
    device = first(fake)
    fake.words[0, TRACE_AT // 4] = fake.words[1, TRACE_AT // 4] = ALL_ONES
    words = device.read_words([TRACE_AT, STRIDE_B + TRACE_AT])
    assert words.tolist() == [ALL_ONES, ALL_ONES]
    with pytest.raises(BusError, match="read of 0x01f00000"):
        device.read_words([TRACE_AT, STRIDE_B + OUTSIDE])


def test_a_device_that_is_gone_is_told_from_data() -> None:
    class Gone(Wire):
        gone = False

        def read(self, addresses: Words | Sequence[int]) -> Words:
            words = super().read(addresses)
            return words | np.uint32(ALL_ONES if self.gone else 0)

    fake = Gone()
    device = open_devices(fake)[1]
    fake.gone = True
    with pytest.raises(TargetError, match="the device at 0x01000000 is gone") as info:
        device.read("ctl.state")
    assert not isinstance(info.value, BusError)


def test_a_word_that_was_all_ones_only_the_first_time_gets_its_second_reading() -> None:
    class Hiccup(Wire):
        hiccup = 0

        def read(self, addresses: Words | Sequence[int]) -> Words:
            words = super().read(addresses)
            self.hiccup, now = 0, self.hiccup
            return words | np.uint32(now)

    fake = Hiccup()
    device = first(fake)
    fake.hiccup = ALL_ONES
    assert device.read_many(["id.magic", "id.format"]) == [0x46525A46, 0x10000]


def test_an_error_made_by_someone_else_in_between_does_not_turn_data_into_an_error() -> None:
    class Shared(Wire):
        others = 3

        def before_read(self, addresses: list[int]) -> None:
            if TRACE_AT in addresses and self.others:
                self.others -= 1
                self._error(OUTSIDE)

    fake = Shared()
    device = first(fake)
    fake.words[0, TRACE_AT // 4] = ALL_ONES
    assert device.read_words([TRACE_AT]).tolist() == [ALL_ONES]
    assert fake.others == 0


def test_errors_made_by_someone_else_all_the_time_are_said_to_be_in_the_way() -> None:
    class Shared(Wire):
        def before_read(self, addresses: list[int]) -> None:
            if TRACE_AT in addresses:
                self._error(OUTSIDE)

    fake = Shared()
    device = first(fake)
    fake.words[0, TRACE_AT // 4] = ALL_ONES
    with pytest.raises(TargetError, match="can be neither believed nor refused; stop the other"):
        device.read_words([TRACE_AT])


def test_a_bus_error_of_the_transport_itself_is_passed_on() -> None:
    with pytest.raises(BusError, match="0x00f00000 was answered with an error"):
        first(FakeTarget()).read_words([OUTSIDE])


# Counters


def with_counters(fake: FakeTarget, seq: int, start: int) -> None:
    """Take snapshot ``seq``: counter i has the value start + i, its halves in both registers."""
    for i, name in enumerate(COUNTERS):
        value = start + i
        fake.set(0, f"snapshot.{name}.lo", value & 0xFFFFFFFF, seq & 1)
        fake.set(0, f"snapshot.{name}.hi", value >> 32, seq & 1)
    fake.set(0, "ctl.snapshot_seq", seq)


@pytest.mark.parametrize("seq", [6, 7])
def test_counters_come_from_the_current_bank_with_both_halves(seq: int) -> None:
    fake = FakeTarget()
    with_counters(fake, seq - 1, 0)
    with_counters(fake, seq, 0x123_FFFF_FFF0)
    snapshot = first(fake).counters()
    assert snapshot.seq == seq
    assert snapshot.values == {n: 0x123_FFFF_FFF0 + i for i, n in enumerate(COUNTERS)}


def test_a_snapshot_that_is_replaced_while_it_is_read_is_read_again() -> None:
    class Running(FakeTarget):
        left = 2

        def read(self, addresses: Words | Sequence[int]) -> Words:
            words = super().read(addresses)
            if len(addresses) > 2 and self.left:  # a whole bank
                self.left -= 1
                with_counters(self, self.get(0, "ctl.snapshot_seq") + 1, 1000 * (3 - self.left))
            return words

    fake = Running()
    device = first(fake)
    fake.left = 2
    with_counters(fake, 10, 500)
    snapshot = device.counters()
    assert (snapshot.seq, snapshot.values[COUNTERS[0]]) == (12, 3000)


def test_snapshots_faster_than_any_reading_are_an_error_that_says_what_to_change() -> None:
    class Racing(FakeTarget):
        def read(self, addresses: Words | Sequence[int]) -> Words:
            self.set(0, "ctl.snapshot_seq", self.get(0, "ctl.snapshot_seq") + 1 & 0xFFFF)
            return super().read(addresses)

    with pytest.raises(TargetError, match=r"during each of 16 readings; raise ctl\.snapshot_log2"):
        first(Racing()).counters()


# Dump


def test_a_dump_holds_every_safe_register_once_and_none_that_is_not() -> None:
    fake = FakeTarget()
    dump = first(fake).dump()
    assert dump["id.magic"] == 0x46525A46
    assert dump["memory.stored[4]"] == fake.get(0, "memory.stored", 4)
    assert dump["frozen_flow.freed[127]"] == fake.get(0, "frozen_flow.freed", 127)
    assert not any(name.startswith(("ctl.arm", "ctl.freeze", "ctl.index_data")) for name in dump)
    assert "provoke.inject" not in dump


def test_a_dump_reads_no_register_that_the_map_marks() -> None:
    fake = FakeTarget()
    device = first(fake)
    fake.keep_reads = True
    device.dump()
    read = {address for call in fake.reads for address in call}
    marked = {names.offset("ctl.arm"), names.offset("ctl.index_data", 0), 0x6000, 0x40000}
    assert not read & marked


def test_the_registers_of_a_dump_are_in_address_order() -> None:
    offsets = [entry.offset for entry in first(FakeTarget()).dump_registers()]
    assert offsets == sorted(set(offsets))


def test_devices_beyond_z_have_numbers() -> None:
    identity = first(FakeTarget()).identity
    assert Device(FakeTarget(depth=64), 26, 0, identity).name == "D26"
