"""The register file: what the map allows, and that everything else answers an error, changes nothing, and is
counted.
"""

from __future__ import annotations

import pytest

from freezeframe.capture.registers.map_table import MAP_HASH, REGISTERS, WINDOWS
from tests.emulator.reading import Card, arm, freeze, pair, run_to_freeze

US = 1_000_000
ERROR = 0xFFFFFFFF


def test_the_identity_is_that_of_the_profile() -> None:
    _, a, b = pair()
    for card in (a, b):
        assert card.read("id.magic") == 0x46525A46
        assert card.read("id.format") == 1 << 16
        assert card.read("id.map_hash") == MAP_HASH
        assert (card.read("id.clk_bus"), card.read("id.clk_link")) == (100_000_000, 78_125_000)
        assert card.read("id.trace") == 1 | 4 << 4 | 64 << 8 | 4 << 16 | 4 << 20
        assert card.read("id.flows") == 8 | 13 << 8
    assert a.read("id.devices") == 2 | 0 << 8 | 24 << 16 | 1 << 24
    assert b.read("id.devices") == 2 | 1 << 8 | 24 << 16
    assert a.read("id.boot_nonce") != b.read("id.boot_nonce")


@pytest.mark.parametrize(
    "offset",
    [0x000064, 0x0000FC, 0x000108, 0x000510, 0x017FFC + 4, 0xFFFFFC, 0x004000, 0x010000, 0x040000, 0x140000],
    ids=[
        "behind the identity", "a hole", "arm is write-only", "inject is write-only",
        "behind the samples", "end of the device", "CRC table before frozen",
        "samples before frozen", "trace before frozen", "event log before frozen",
    ],
)  # fmt: skip
@pytest.mark.parametrize("device", [0, 1])
def test_a_read_outside_the_map_answers_an_error_and_is_counted_where_it_fell(
    offset: int, device: int
) -> None:
    target, a, b = pair()
    card, other = (a, b) if device == 0 else (b, a)
    address = card.base + offset
    assert target.read([address]).tolist() == [ERROR]
    assert card.read("id.bus_errors") == 1
    assert card.read("id.bus_error_addr") == address
    assert other.read("id.bus_errors") == 0


def test_an_access_beyond_the_last_device_is_counted_by_the_first() -> None:
    target, a, b = pair()
    assert target.read([0x0200_0000]).tolist() == [ERROR]
    target.write(0xFF00_0000, [1])
    assert (a.read("id.bus_errors"), a.read("id.bus_error_addr")) == (2, 0xFF00_0000)
    assert b.read("id.bus_errors") == 0


@pytest.mark.parametrize("name", ["id.magic", "ctl.generation", "memory.stored", "frozen.tx_level"])
def test_a_write_to_a_read_only_register_changes_nothing_and_is_counted(name: str) -> None:
    _, a, _ = pair()
    indices = (0,) if name.startswith("memory") else ()
    before = a.read(name, *indices)
    a.write(name, *indices, 0x12345678)
    assert a.read(name, *indices) == before
    assert a.read("id.bus_errors") == 1


def test_errors_in_a_long_read_cost_only_their_own_words() -> None:
    target, a, _ = pair()
    words = target.read([a.address("id.magic"), 0x64, a.address("id.tap_depth"), 0x68]).tolist()
    assert words == [0x46525A46, ERROR, 2048, ERROR]
    assert (a.read("id.bus_errors"), a.read("id.bus_error_addr")) == (2, 0x68)


def test_what_lies_beyond_the_depth_of_a_frozen_window_answers_an_error() -> None:
    target, a, _ = run_to_freeze("word-omitted", 0)
    last = a.window("trace_rx_deq") + 16 * 2048 - 4
    assert target.read([last]).tolist() == [0]  # the fourth word of a record
    for behind in (
        last + 4,
        a.window("trace_event_log") + 16 * 2048,
        a.window("samples") + 8 * 1024,
        a.window("crc_table") + 4 * 8,
        a.window("crc_table") + 4 * (4 * 64 + 8),
    ):
        assert target.read([behind]).tolist() == [ERROR], hex(behind)
    assert a.read("id.bus_errors") == 5
    pieces = target.read([last, last + 4]).tolist()
    assert pieces == [0, ERROR]


def test_no_read_has_a_side_effect() -> None:
    target, a, b = run_to_freeze("word-duplicated", 1)
    places = [
        card.address(r.name, *(n - 1 for n, _ in r.dims))
        for card in (a, b)
        for r in REGISTERS
        if "r" in r.access and not r.name.startswith("id.bus_error")
    ]
    first = target.read(places).tolist()
    assert target.read(places[::-1]).tolist()[::-1] == first
    assert target.read(places).tolist() == first


def test_every_writable_register_keeps_what_its_fields_hold() -> None:
    _, a, _ = pair()
    for info in REGISTERS:
        if info.access != "rw":
            continue
        fields = sum(field.mask for field in info.fields)
        indices = tuple(n - 1 for n, _ in info.dims)
        value = 0x0000000B & fields
        a.write(info.name, *indices, value | ~fields & 0xFFFFFFFF)
        assert a.read(info.name, *indices) == value, info.name


def test_the_index_shows_the_records_of_the_windows() -> None:
    target, a, _ = run_to_freeze("credit-corrupted", 2)
    for memory, record in ((0, 0), (3, 17), (4, 5)):
        a.write("ctl.index", memory << 24 | record)
        shown = [a.read("ctl.index_data", k) for k in range(3)]
        name = ("trace_tx_enq", "", "", "trace_rx_deq", "trace_event_log")[memory]
        start = a.window(name) + 16 * record
        assert shown == target.read(range(start, start + 12, 4)).tolist()
    a.write("ctl.index", 0 << 24 | 2048)
    assert a.read("ctl.index_data", 0) == ERROR
    assert a.read("id.bus_errors") == 1


def test_the_index_answers_an_error_before_frozen() -> None:
    _, a, _ = pair()
    assert a.read("ctl.index_data", 0) == ERROR


def test_counter_snapshots_come_by_themselves_into_the_bank_that_is_not_current() -> None:
    target, a, _ = pair(seed=3)
    a.write("ctl.snapshot_log2", 12)
    seen = []
    for _ in range(4):
        target.advance(41 * US)
        seq = a.read("ctl.snapshot_seq")
        bank = seq & 1
        seen.append((seq, a.read("snapshot.tx_deq_words.lo", bank)))
    numbers = [seq for seq, _ in seen]
    assert numbers == list(range(numbers[0], numbers[0] + 4))
    words = [count for _, count in seen]
    assert words == sorted(words)
    assert words[-1] > words[0]


def test_the_sampler_holds_cumulative_words_at_equal_distances() -> None:
    target, a, _ = pair(seed=3)
    a.write("ctl.sample_period", 512)
    target.advance(200 * US)
    freeze(a, target, 3000 * US)
    count = a.read("sampler.write_ptr")
    assert a.read("sampler.status") == 0
    last = a.read("sampler.last_cycle_lo")
    start = a.window("samples")
    words = target.read(range(start, start + 8 * count, 4)).reshape(-1, 2).astype(int)
    assert 35 < count < 400
    assert (words[1:] >= words[:-1]).all()
    assert words[-1][0] <= a.counter("tx_deq_words")
    assert words[-1][1] <= a.counter("rx_enq_words")
    assert sum(a.read("occupancy_histogram", k) for k in range(16)) == count
    lengths = sum(a.read("length_histogram", k) for k in range(16))
    assert lengths <= a.counter("rx_deq_packets") <= lengths + 1
    arm(a)  # the distances go on from the write of the period, whatever happens between
    target.advance(50 * US)
    freeze(a, target, 3000 * US)
    assert a.read("sampler.last_cycle_lo") > last
    assert (a.read("sampler.last_cycle_lo") - last) % 512 == 0


def test_every_window_of_the_map_can_be_read_once_frozen() -> None:
    target, a, b = run_to_freeze("lane-misaligned", 0)
    for card in (a, b):
        for info in WINDOWS:
            assert target.read([card.base + info.address]).tolist() != [ERROR], info.name
        assert card.read("id.bus_errors") == 0


def test_pending_reads_see_a_card_that_goes_on_while_it_is_armed() -> None:
    target, a, _ = pair(seed=3, access_ps=5 * US)
    stored = [a.read("memory.stored", 1) for _ in range(20)]
    assert stored == sorted(stored)
    assert stored[-1] > stored[0]
    assert isinstance(a, Card) and target.now_ps > 100 * US
