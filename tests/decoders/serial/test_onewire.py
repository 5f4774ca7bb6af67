"""1-Wire: times of application note 126 in, bits and addresses out; sigrok-cli reads the same captures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.onewire import ONEWIRE
from freezeframe.decoders.serial.onewire_code import onewire_texts
from freezeframe.decoders.serial.onewire_encode import encode_onewire, octet_bits, search_bits
from tests.capture.files.captures import real_capture
from tests.decoders.pieces import assert_same_in_pieces, errors, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

Row = dict[str, Any]
RATE_HZ = 4_000_000
# Application note 27: the address A2 00 00 00 01 B8 1C 02 has its CRC in front; sent from its end.
ADDRESS = bytes.fromhex("021cb801000000a2")
VALUE = int.from_bytes(ADDRESS, "little") - (1 << 64)


def lows(*spans_us: float) -> Edges:
    """Draw a line that is high, low, high ... for so many microseconds."""
    places = np.rint(np.cumsum([0, *spans_us]) * RATE_HZ / 1e6).astype(np.int64)
    value = (np.arange(len(spans_us)) + 1) % 2
    return Edges(places[:-1], value.astype(np.uint64), ("OWR",), RATE_HZ, 0, int(places[-1]))


def decode(edges: Edges, **options: bool) -> list[list[Row]]:
    return rows_of(ONEWIRE, edges, **options)


def sent(*events: str | int, rate_hz: int = RATE_HZ) -> list[list[Row]]:
    return decode(encode_onewire(events, samplerate_hz=rate_hz))


def told(rows: list[Row]) -> list[tuple[str, str, int]]:
    return [(row["kind"], row["error"], row["value"]) for row in rows]


def test_a_reset_and_a_bit_have_their_places() -> None:
    # High 100 us, reset 500 us, the device answers after 30 us for 100 us; a 1 of 6 us, a 0 of 70 us.
    _, slots = decode(lows(100, 500, 30, 100, 400, 6, 64, 70, 100))
    assert [
        (row["kind"], row["bit"], row["present"], row["sample"] // 4, row["end_sample"] // 4)
        for row in slots
    ] == [
        ("reset", -1, None, 100, 600),
        ("presence", -1, True, 600, 1080),
        ("bit", 1, None, 1130, 1190),
        ("bit", 0, None, 1200, 1270),
    ]
    assert slots[1]["low_ps"] == 100_000_000
    assert slots[0]["t_ps"] == 100_000_000


def test_a_reset_that_nothing_answers() -> None:
    rows, slots = sent("absent", *octet_bits([0xCC]))
    assert told(rows) == [("reset", "", -1), ("command", "", 0xCC)]
    assert (rows[0]["present"], rows[1]["name"]) == (False, "Skip ROM")
    assert slots[1]["end_sample"] - slots[1]["sample"] == 4 * 60


def test_match_rom_selects_a_device_for_the_data_that_follows() -> None:
    rows, _ = sent("reset", *octet_bits([0x55, *ADDRESS, 0xBE]))
    assert told(rows) == [
        ("reset", "", -1), ("command", "", 0x55), ("address", "", VALUE), ("data", "", 0xBE)
    ]  # fmt: skip
    assert (rows[2]["crc_ok"], rows[2]["name"]) == (True, "DS1991 multikey memory")
    assert (rows[1]["rom"], rows[3]["rom"]) == (-1, VALUE)


def test_an_address_with_a_wrong_crc_is_an_error() -> None:
    rows, _ = sent("reset", *octet_bits([0x33, *ADDRESS[:7], 0xA3]))
    assert told(rows)[2:] == [("address", "", VALUE + (1 << 56)), ("error", "bad-crc", VALUE + (1 << 56))]  # fmt: skip
    assert (rows[3]["expected"], rows[3]["seen"]) == (0xA2, 0xA3)


def test_a_search_has_three_slots_a_bit_and_tells_where_devices_differ() -> None:
    other = bytes([0x28, 1, 2, 3, 4, 5, 6, 7])
    rows, _ = sent("reset", *octet_bits([0xF0]), *search_bits(ADDRESS, [other]))
    assert told(rows)[1:] == [("command", "", 0xF0), ("address", "", VALUE)]
    assert rows[2]["conflicts"] == 1  # then the other device is out
    # Ones twice: nothing answers any more.
    rows, _ = sent("reset", *octet_bits([0xF0]), *[1, 1, 0], *search_bits(ADDRESS)[3:])
    assert errors(rows) == ["no-device"]


def test_overdrive_begins_with_its_commands_and_ends_with_a_long_reset() -> None:
    rows, slots = sent(
        "reset", *octet_bits([0x3C]), "overdrive", "reset", *octet_bits([0x69, *ADDRESS, 0x5A]),
        "regular", "reset", *octet_bits([0xCC]),
    )  # fmt: skip
    assert told(rows) == [
        ("reset", "", -1), ("command", "", 0x3C), ("reset", "", -1), ("command", "", 0x69),
        ("address", "", VALUE), ("data", "", 0x5A), ("reset", "", -1), ("command", "", 0xCC),
    ]  # fmt: skip
    assert [row["overdrive"] for row in slots if row["kind"] == "reset"] == [False, True, False]
    assert errors(slots) == []


def test_a_capture_may_begin_at_overdrive_speed() -> None:
    edges = encode_onewire(["overdrive", "reset", *octet_bits([0xCC, 1])], samplerate_hz=RATE_HZ)
    assert told(decode(edges, overdrive=True)[0])[1:] == [("command", "", 0xCC), ("data", "", 1)]
    with pytest.raises(InputError, match=r"1000000 samples a second .* at least 2000000"):
        decode(encode_onewire([], samplerate_hz=1_000_000), overdrive=True)


@pytest.mark.parametrize(
    ("spans_us", "found"),
    [
        ((100, 6, 0.5, 6, 100), ["short-slot"]),
        ((100, 70, 0.5, 6, 100), ["short-recovery"]),
        ((100, 0.5, 100), ["short-low"]),
        ((100, 200, 100), ["long-low"]),
        ((100, 1000, 30, 100, 500), ["long-reset"]),
        ((100, 500, 10, 100, 500), ["early-presence"]),
        ((100, 500, 30, 50, 500), ["short-presence"]),
        ((100, 500, 30, 300, 500), ["long-presence"]),
        ((100, 500, 30, 100, 100, 6, 100), ["short-pause"]),
        ((100, 500, 30, 100), ["cut-slot"]),
        ((100, 30), ["cut-slot"]),
    ],
)
def test_times_that_may_not_be_are_errors(spans_us: tuple[float, ...], found: list[str]) -> None:
    _, slots = decode(lows(*spans_us))
    assert errors(slots) == found


def test_what_is_cut_or_unknown_is_said() -> None:
    rows, _ = sent("reset", *octet_bits([0x12, 0x34]), 1, 0, "reset", 1, 1, 1)
    assert [(row["kind"], row["error"]) for row in rows] == [
        ("reset", ""), ("command", ""), ("error", "unknown-command"), ("data", ""), ("error", "cut-byte"),
        ("reset", ""), ("error", "cut-byte"),
    ]  # fmt: skip


def test_before_the_first_reset_an_octet_that_is_no_command_is_data() -> None:
    assert told(sent(*octet_bits([0x12, 0xF0]))[0]) == [("data", "", 0x12), ("data", "", 0xF0)]
    assert told(sent(*octet_bits([0xCC, 0x44]))[0]) == [("command", "", 0xCC), ("data", "", 0x44)]


@settings(max_examples=30, deadline=None)
@given(
    data=st.lists(st.tuples(st.booleans(), st.binary(max_size=6)), max_size=4),
    rate_hz=st.sampled_from([500_000, 1_000_000, 4_000_000, 100_000_000]),
    cuts=st.lists(st.integers(0, 20_000_000), max_size=6),
)
def test_what_is_sent_is_decoded_in_pieces_of_any_size(
    data: list[tuple[bool, bytes]], rate_hz: int, cuts: list[int]
) -> None:
    events: list[str | int] = []
    for present, octets in data:
        events += ["reset" if present else "absent", *octet_bits(b"\xcc" + octets)]
    edges = encode_onewire(events, samplerate_hz=rate_hz)
    rows, slots = decode(edges)
    assert errors(rows + slots) == []
    expected = [(p, [0xCC, *octets]) for p, octets in data]
    found: list[tuple[bool, list[int]]] = []
    for row in rows:
        if row["kind"] == "reset":
            found.append((row["present"], []))
        else:
            found[-1][1].append(row["value"])
    assert found == expected
    assert_same_in_pieces(ONEWIRE, edges, [cut % (edges.end_sample + 1) for cut in cuts])


@settings(max_examples=30, deadline=None)
@given(
    spans=st.lists(
        st.sampled_from([0.5, 1, 3, 6, 10, 30, 60, 70, 100, 300, 500, 1200]), max_size=200
    ),
    cuts=st.lists(st.integers(0, 40_000), max_size=8),
    overdrive=st.booleans(),
)
@example(
    [0.5, 60, 60, 0.5, 0.5], [263], False
)  # the last row has how long the slot before it was low
def test_noise_gives_rows_in_order_and_the_same_in_pieces(
    spans: list[float], cuts: list[int], overdrive: bool
) -> None:
    edges = lows(5, *spans)
    whole = assert_same_in_pieces(ONEWIRE, edges, cuts, overdrive=overdrive)
    for table in whole.values():
        times = table["t_ps"].to_pylist()
        assert times == sorted(times)
        assert all(onewire_texts(row).long for row in table.to_pylist())


def test_a_row_is_put_into_words() -> None:
    rows, slots = sent("reset", *octet_bits([0x33, *ADDRESS]))
    assert [onewire_texts(row).long for row in rows] == [
        "OWR: reset, a device is present",
        "OWR: command 33 Read ROM",
        "OWR: address a200000001b81c02 DS1991 multikey memory",
    ]
    assert onewire_texts(slots[2]).normal == "bit 1"


# The other reader: sigrok-cli on the same file.


def ours(path: Path, probe: str) -> tuple[list[Annotation], list[Annotation]]:
    tables = decode_file(path, [f"onewire:owr={probe}"], registry=Registry({"onewire": ONEWIRE}))
    made = {decoded.name.rpartition(".")[2]: decoded.table.to_pylist() for decoded in tables}
    said = {
        "bit": lambda row: f"Bit: {row['bit']}",
        "presence": lambda row: f"Presence: {str(row['present']).lower()}",
        "command": lambda row: f"ROM command: 0x{row['value']:02x}",
        "address": lambda row: f"ROM: 0x{row['value'] & (1 << 64) - 1:016x}",
        "data": lambda row: f"Data: 0x{row['value']:02x}",
    }

    def annotations(rows: list[Row], reset: Any) -> list[Annotation]:
        texts = said | {"reset": reset}
        return [
            Annotation(row["sample"], row["end_sample"], texts[row["kind"]](row))
            for row in rows
            if row["kind"] != "error"
        ]

    return (
        annotations(made["slots"], lambda row: "Reset"),
        annotations(made["bytes"], lambda row: f"Reset/presence: {str(row['present']).lower()}"),
    )


def assert_sigrok_says_the_same(path: Path, probe: str) -> tuple[int, int]:
    slots, octets = ours(path, probe)
    link = sigrok_annotations(path, f"onewire_link:owr={probe}", "onewire_link=bit:reset:presence")
    network = [
        annotation._replace(text=annotation.text.split(" '")[0])
        for annotation in sigrok_annotations(
            path, f"onewire_link:owr={probe},onewire_network", "onewire_network"
        )
    ]
    assert slots == link
    assert octets == network
    return len(slots), len(octets)


@pytest.mark.parametrize(
    ("name", "probe", "counts"),
    [
        ("sockit_owm/onewire.sr", "OWR", (2188, 83)),
        ("ds18b20/2xds18b20.sr", "0", (1540, 80)),
        ("ibutton/ds1985/ds1985_page_redirection_bytes.sr", "OWR", (940, 89)),
        ("owfs/owdir.sr", "0", (404, 6)),
    ],
)
def test_a_real_capture_gives_what_sigrok_gives(
    name: str, probe: str, counts: tuple[int, int]
) -> None:
    assert assert_sigrok_says_the_same(real_capture(f"dumps/onewire/{name}"), probe) == counts


def test_a_generated_bus_gives_what_sigrok_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    events: list[str | int] = []
    for overdrive in (False, True, False):
        if overdrive:
            events += ["reset", *octet_bits([0x3C]), "overdrive"]
        else:
            events.append("regular")
        for _ in range(4):
            events += ["reset", *octet_bits([0x55, *ADDRESS, *rng.integers(0, 256, 9).tolist()])]
            events += ["reset", *octet_bits([0xF0]), *search_bits(ADDRESS, [rng.bytes(8)])]
    path = tmp_path / "onewire.sr"
    write_sr(encode_onewire(events, samplerate_hz=10_000_000), path)
    assert assert_sigrok_says_the_same(path, "OWR")[1] > 100
