"""The link's packets and credits: words of docs/formats.md in, literal rows out; and what can be wrong."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.registers.layouts import Kind, PacketFlag, PacketType
from freezeframe.decoders.link.bonded import BONDED
from freezeframe.decoders.link.link import LINK
from freezeframe.decoders.link.link_code import link_texts
from freezeframe.decoders.link.link_encode import encode_link
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.trace.encode import credit_word, packet_words
from freezeframe.decoders.trace.schema import column_types
from freezeframe.gui.cli.main import main
from tests.decoders.link.line_model import damaged, pieces
from tests.decoders.link.link_model import control, data, draw_lanes, lanes, send, side_by_side
from tests.decoders.pieces import decoded
from tests.processes import run_program

Tables = dict[str, list[dict[str, Any]]]

# docs/formats.md section 3, golden bytes: RDMA_WRITE, flow 3, seq 7, dest 0x1000, payload 1, 2; a credit.
GOLDEN = [
    struct.unpack("<Q", bytes.fromhex(octets))[0]
    for octets in ("010302000700c530", "0010000000000000", "0100000000000000", "0200000000000000", "b9ddf60000000000")
]  # fmt: skip
GOLDEN_CREDIT = struct.unpack("<Q", bytes.fromhex("0483640000009057"))


def decode(*cut: Edges, **options: Any) -> Tables:
    """Decode both lanes, given in pieces, up to packets."""
    bond = BONDED.option_values({"bitrate": 250_000_000})
    state = BONDED.new_state(bond)
    words = [BONDED.decode(p, bond, state, p is cut[-1])["bonded.words"] for p in cut]
    made = decoded(LINK, *words, **options)
    return {kind.removeprefix("link."): table.to_pylist() for kind, table in made.items()}


def of(*units: Any, **options: Any) -> Tables:
    return decode(draw_lanes(*lanes(send(units))), **options)


def packet(seq: int, length: int = 3, flags: int = 0, flow: int = 1) -> list[int]:
    payload = [seq << 32 | i for i in range(length)]
    words = packet_words(PacketType.RDMA_WRITE, flow, seq, 0x1000, payload, flags=flags)
    return [word for _, word in words]


def wrong(tables: Tables) -> list[tuple[str, int, int]]:
    return [(row["code"], row["packet"], row["value"]) for row in tables["errors"]]


def test_the_golden_packet_and_credit() -> None:
    tables = of(GOLDEN, GOLDEN_CREDIT, direction="A->B")
    assert tables["packets"] == [
        {
            "t_ps": 3_200_000,
            "source": "L0+L1",
            "kind": "RDMA_WRITE",
            "t_end_ps": 4_000_000,  # five words of 160 ns
            "t_unc_ps": 1000,
            "direction": "A->B",
            "flow": 3,
            "seq": 7,
            "length": 2,
            "body_words": 2,
            "flags": 0,
            "dest": 0x1000,
            "header_ok": True,
            "payload_ok": True,
            "length_ok": True,
            "whole": True,
            "first_row": 0,
            "end_row": 5,
        }
    ]
    assert tables["credits"] == [
        {
            "t_ps": 4_160_000,
            "source": "L0+L1",
            "kind": "credit",
            "flow": 3,
            "freed": 100,
            "flags": 0,
            "parity_ok": True,
            "crc_ok": True,
        }
    ]
    assert tables["errors"] == []
    assert [(row["kind"], row["data"], row["packet"], row["word"]) for row in tables["words"]] == [
        ("HEAD", GOLDEN[0], 0, -1),
        ("HEAD", GOLDEN[1], 0, -1),
        ("BODY", 1, 0, 0),
        ("BODY", 2, 0, 1),
        ("TAIL", GOLDEN[4], 0, -1),
        ("CREDIT", GOLDEN_CREDIT[0], -1, -1),
    ]


def test_columns_of_packets_have_the_names_of_the_trace_decoder() -> None:
    names = set(of(GOLDEN)["packets"][0])
    assert set(column_types("packets")) - names == {"cycle", "device", "tap"}
    assert names <= set(column_types("packets"))


@pytest.mark.parametrize(
    ("word", "errors"),
    [
        (0, ["bad-header"]),
        (1, ["bad-header"]),
        (2, ["bad-payload"]),
        (4, ["bad-payload"]),
        (-1, ["bad-payload"]),
    ],
)
def test_a_changed_bit_fails_the_check_of_its_part(word: int, errors: list[str]) -> None:
    changed = packet(5)
    changed[word] ^= 1 << 40 if word == 0 else 1 << 3
    tables = of(changed)
    assert [code for code, _, _ in wrong(tables)] == errors
    row = tables["packets"][0]
    assert (row["header_ok"], row["payload_ok"]) == (word not in (0, 1), word in (0, 1))
    # A changed word has another CRC, a changed CRC is another than that of the words.
    (told,) = tables["errors"]
    of_header = word in (0, 1)
    right = packet(5)[0] >> 48 if of_header else packet(5)[-1] & 0xFFFF_FFFF
    assert told["expected" if word == -1 else "seen"] == right
    assert told["expected"] != told["seen"]
    if word == -1:
        assert told["seen"] == right ^ 1 << 3
    digits = 4 if of_header else 8
    assert link_texts(told).long.endswith(
        f"does not hold: expected 0x{told['expected']:0{digits}x}, seen 0x{told['seen']:0{digits}x}"
    )


def test_a_payload_of_another_length_than_the_header_says() -> None:
    shorter = packet(5, 4)
    del shorter[3]
    tables = of(shorter)
    assert wrong(tables) == [("bad-payload", 0, 0), ("bad-length", 0, 3)]
    assert (tables["packets"][0]["length"], tables["packets"][0]["body_words"]) == (4, 3)
    assert (tables["errors"][1]["expected"], tables["errors"][1]["seen"]) == (4, 3)


def test_a_packet_without_an_end_and_one_that_the_capture_cuts() -> None:
    columns = [*send([]), control(following="packet"), *map(data, packet(1)[:-1]), control()]
    columns += [control(following="packet"), *map(data, packet(2)[:4])]
    tables = decode(draw_lanes(*lanes(columns)))
    first, second = tables["packets"]
    assert (first["payload_ok"], first["length_ok"], first["whole"]) == (None, False, True)
    assert (second["payload_ok"], second["length_ok"], second["whole"]) == (None, None, False)
    assert wrong(tables) == [("no-end", 0, 0), ("bad-length", 0, 3), ("cut-packet", 1, 0)]


def test_gaps_in_sequence_numbers_are_told_and_injected_packets_do_not_count() -> None:
    injected = packet(9, flags=PacketFlag.INJECTED)
    tables = of(packet(65534), packet(65535), packet(0), injected, packet(1), packet(5), packet(4))
    assert wrong(tables) == [("sequence", 5, 3), ("sequence", 6, 65534)]
    assert link_texts(tables["errors"][0]).long.endswith(
        "3 sequence numbers were passed over (modulo 65536): expected 2, seen 5"
    )


def test_credits_with_a_wrong_parity_or_crc() -> None:
    good = credit_word(7, 0x123456)
    parity = credit_word(7, 0x123456) ^ 1 << 15
    tables = of((good,), (parity,), (good ^ 1 << 60,))
    assert [(r["kind"], r["freed"], r["parity_ok"], r["crc_ok"]) for r in tables["credits"]] == [
        ("credit", 0x123456, True, True),
        ("error", 0x123456, False, False),
        ("error", 0x123456, True, False),
    ]
    assert [code for code, _, _ in wrong(tables)] == ["bad-parity", "bad-credit", "bad-credit"]
    said = [(row["expected"], row["seen"]) for row in tables["errors"]]
    bit = good >> 15 & 1
    assert said[0] == (bit, 1 - bit)
    assert said[1][1] == good >> 48  # the CRC that came, of a word with another bit
    assert said[2] == (good >> 48, good >> 48 ^ 1 << 12)
    assert link_texts(tables["credits"][1]).normal == "credit 1193046 flow 7, bad parity and crc"


def test_words_outside_of_packets_are_counted() -> None:
    columns = [*send([packet(1)]), data(7), data(8), control(), data(9)]
    tables = decode(draw_lanes(*lanes(columns)))
    assert wrong(tables) == [("stray-words", -1, 3)]
    assert (tables["errors"][0]["expected"], tables["errors"][0]["seen"]) == (-1, -1)
    assert [row["kind"] for row in tables["words"][-3:]] == ["STRAY"] * 3


def test_a_packet_of_a_thousand_words_and_more_fails_its_checks_without_harm() -> None:
    long = packet(1)[:2] + list(range(1500)) + [0]
    tables = of(long, packet(2))
    assert tables["packets"][0]["body_words"] == 1500
    assert [code for code, _, _ in wrong(tables)] == ["bad-payload", "bad-length"]
    assert tables["packets"][1]["payload_ok"] is True


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_whatever_is_sent_comes_out_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units, sent, freed = [], [], []
    for seq in range(12):
        if rng.random() < 0.3:
            freed.append((int(rng.integers(128)), int(rng.integers(1 << 24))))
            units.append([credit_word(*freed[-1])])
        kind = PacketType(int(rng.integers(1, 4)))
        payload = rng.integers(0, 1 << 63, int(rng.integers(40)), np.int64).tolist()
        words = packet_words(kind, seq, seq, int(rng.integers(1 << 62)), payload)
        assert [k for k, _ in words].count(Kind.BODY) == len(payload)
        units.append([word for _, word in words])
        sent.append((kind.name, seq, seq, len(payload), words[1][1]))
    idles = int(rng.integers(3))
    edges = encode_link(units, samples_a_bit=4, samplerate_hz=10**9, idles=idles)
    tables = decode(edges.select(["LANE0", "LANE1", None]))
    assert tables["errors"] == []
    got = [(r["kind"], r["flow"], r["seq"], r["length"], r["dest"]) for r in tables["packets"]]
    assert got == sent
    assert [(r["flow"], r["freed"]) for r in tables["credits"]] == freed


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 20_000), max_size=8))
def test_rows_do_not_depend_on_where_pieces_end(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    units = [
        packet(seq, int(rng.integers(9))) if seq % 3 else [credit_word(1, seq)] for seq in range(20)
    ]
    first, second = (damaged(bits, rng, 6, 1) for bits in lanes(send(units)))
    edges = draw_lanes(*side_by_side(first, second))
    assert decode(*pieces(edges, cuts)) == decode(edges)


def test_an_exported_link_opens_in_tshark(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed (apt-get install tshark)")
    units = [GOLDEN, GOLDEN_CREDIT, packet(8)]
    edges = encode_link(units, samples_a_bit=4, samplerate_hz=12_500_000_000)
    write_sr(edges, tmp_path / "link.sr")
    assert {"8b10b", "bonded", "link"} <= set(load_decoders().decoders)
    out = tmp_path / "link.pcapng"
    arguments = ["export", str(tmp_path / "link.sr"), "-d", "bonded+link:direction=A->B"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--to", "pcapng", "-o", str(out)])
    assert not ended.value.code
    done = run_program(
        [
            "tshark",
            "-r",
            out,
            "-T",
            "fields",
            "-e",
            "data",
            "-e",
            "frame.comment",
            "-e",
            "frame.time_relative",
        ],
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) == 2
    # docs/export.md: layout 1, all three verdicts good, whole; 1 TAIL, 2 HEAD, 2 BODY; then the words.
    front = "0155" + "0100" + "02000000" + "02000000"
    assert lines[0][0] == front + b"".join(w.to_bytes(8, "little") for w in GOLDEN).hex()
    assert lines[0][1].startswith("RDMA_WRITE #7 flow 3 A->B")
