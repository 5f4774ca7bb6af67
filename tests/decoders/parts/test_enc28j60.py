"""ENC28J60: literal SPI transfers in, operations and frames out; sigrok-cli reads the same."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.parts.enc28j60 import ENC28J60
from freezeframe.decoders.parts.enc28j60_code import enc28j60_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from tests.capture.files.captures import real_capture, without_idle
from tests.decoders.pieces import decoded, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

Row = dict[str, Any]
REGISTRY = Registry({"spi": SPI, "enc28j60": ENC28J60})
RESET = "ff"


def transfers(*texts: str, **options: Any) -> pa.Table:
    """Make SPI transfers: each text is MOSI in hex, and MISO after a slash."""
    sent = []
    for text in texts:
        mosi, _, miso = text.partition("/")
        to_chip = bytes.fromhex(mosi)
        sent.append(SpiTransfer(to_chip, bytes.fromhex(miso).ljust(len(to_chip), b"\0")))
    edges = encode_transfers(sent, samplerate_hz=10_000_000, **options)
    edges = edges.select(["CLK", "MISO", "MOSI", "CS", None, None, None])
    return decoded(SPI, edges, word_bits=options.get("word_bits", 8))["spi.transfers"]


def decode(table: pa.Table) -> list[list[Row]]:
    """Return the operations and the frames."""
    return rows_of(ENC28J60, table)


def operations(*texts: str) -> list[tuple[str, str, int, str]]:
    rows, _ = decode(transfers(*texts))
    return [(row["op"], row["register"], row["data"], row["error"]) for row in rows]


def test_an_operation_gives_its_register_and_value() -> None:
    # DS39662E table 4-1: WCR 010, BFS 100, BFC 101, RCR 000; ECON1 is 1F, bank 2 has MACON1 at 00.
    assert operations(RESET, "9f02", "400d", "bf02", "0500/0012", "1f00/0004") == [
        ("SRC", "", -1, ""),
        ("BFS", "ECON1", 0x02, ""),
        ("WCR", "MACON1", 0x0D, ""),
        ("BFC", "ECON1", 0x02, ""),
        ("RCR", "ETXSTH", 0x12, ""),
        ("RCR", "ECON1", 0x04, ""),
    ]


def test_a_register_of_the_mac_is_read_after_a_dummy_byte() -> None:
    assert operations(RESET, "9f02", "0a0000/000109", "0a00/0001", "1d0000/004140") == [
        ("SRC", "", -1, ""),
        ("BFS", "ECON1", 0x02, ""),
        ("RCR", "MAMXFLL", 0x09, ""),
        ("RCR", "MAMXFLL", -1, ""),
        ("RCR", "MAMXFLL", -1, "no-dummy"),
        ("RCR", "ESTAT", 0x41, ""),
        ("RCR", "ESTAT", 0x41, "extra-dummy"),
    ]


def test_a_bank_that_was_never_selected_is_not_known() -> None:
    assert operations("4012", "9c40", "9f01", "4012", "bf02", "4012") == [
        ("WCR", "?", 0x12, ""),
        ("WCR", "?", 0x12, "unknown-bank"),
        ("BFS", "EIR", 0x40, ""),
        ("BFS", "ECON1", 0x01, ""),
        ("WCR", "?", 0x12, ""),
        ("WCR", "?", 0x12, "unknown-bank"),
        ("BFC", "ECON1", 0x02, ""),
        ("WCR", "EHT0", 0x12, ""),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("c0", "unknown-opcode"),
        ("3b00", "bad-argument"),
        ("7b00", "bad-argument"),
        ("ff00", "bad-length"),
        ("40", "bad-length"),
        ("8000ff", "bad-length"),
        ("00000000", "bad-length"),
        ("5a00", "reserved-register"),
    ],
)
def test_an_operation_that_the_chip_does_not_know_is_an_error(text: str, error: str) -> None:
    rows, _ = decode(transfers(RESET, text))
    assert [row["error"] for row in rows] == ["", "", error]


def test_bits_of_a_mac_register_cannot_be_set_by_themselves() -> None:
    rows, _ = decode(transfers(RESET, "9f02", "8001"))
    assert [row["error"] for row in rows] == ["", "", "", "not-eth-register"]


def test_an_operation_that_the_capture_cuts_is_an_error_and_does_nothing() -> None:
    table = transfers(RESET, "9f02").to_pylist()
    table[1]["whole"] = False
    rows, _ = decode(pa.Table.from_pylist([*table, *transfers("4000").to_pylist()]))
    assert [(row["op"], row["bank"], row["error"]) for row in rows] == [
        ("SRC", -1, ""),
        ("BFS", -1, ""),
        ("BFS", -1, "cut-operation"),
        ("WCR", 0, ""),
    ]


# Frames. Receive buffer 0000..01ff, transmit buffer from 0200 on; the driver's usual setting.
SETUP = (RESET, "4800", "4900", "4aff", "4b01", "4000", "4100")
BODY = bytes.fromhex("ffffffffffff020000000001 0806") + bytes.fromhex(
    "0001080006040001 020000000001 c0a80001 000000000000 c0a80002"
).ljust(46, b"\0")
FCS = zlib.crc32(BODY).to_bytes(4, "little")
SIZE = (len(BODY) + 4).to_bytes(2, "little")


def reading(*parts: bytes) -> list[str]:
    return [f"3a{'00' * len(part)}/00{part.hex()}" for part in parts]


def test_a_frame_that_is_read_from_buffer_memory_is_given_with_its_verdict() -> None:
    status = b"\x48\x00" + SIZE + b"\xc0\x00"
    rows, frames = decode(transfers(*SETUP, *reading(status, BODY + FCS), "9e40"))
    assert [(row["op"], row["pointer"], row["length_B"]) for row in rows[7:9]] == [
        ("RBM", 0, 6),
        ("RBM", 6, 64),
    ]
    assert rows[8]["memory"] == BODY + FCS
    assert frames == [
        {
            "t_ps": rows[7]["t_ps"],
            "source": "ENC28J60",
            "kind": "frame",
            "t_end_ps": rows[8]["t_end_ps"],
            "error": "",
            "direction": "received",
            "destination": "ff:ff:ff:ff:ff:ff",
            "sender": "02:00:00:00:00:01",
            "vlan": -1,
            "ethertype": 0x0806,
            "protocol": "ARP request",
            "length_B": 60,
            "payload": BODY[14:],
            "data": BODY,
            "fcs": zlib.crc32(BODY),
            "fcs_ok": True,
        }
    ]
    assert enc28j60_texts(frames[0]).normal == "ARP request who has 192.168.0.2, tell 192.168.0.1"


def test_a_frame_of_which_the_check_sequence_is_not_read_has_the_verdict_of_the_chip() -> None:
    for flags, verdict in ((b"\x80", True), (b"\x10", False), (b"\x00", None)):
        status = b"\x48\x00" + SIZE + flags + b"\x00"
        _, frames = decode(transfers(*SETUP, *reading(status, BODY), "9e40"))
        assert (frames[0]["data"], frames[0]["fcs"]) == (BODY, -1)
        assert frames[0]["fcs_ok"] is verdict
        assert [row["error"] for row in frames[1:]] == ([] if verdict is not False else ["bad-fcs"])


def test_a_wrong_check_sequence_is_an_error() -> None:
    status = b"\x48\x00" + SIZE + b"\xc0\x00"
    _, frames = decode(transfers(*SETUP, *reading(status, BODY + b"\0\0\0\0"), "9e40"))
    assert [(row["kind"], row["error"], row["fcs_ok"]) for row in frames] == [
        ("frame", "", False),
        ("error", "bad-fcs", False),
    ]


def test_a_frame_that_wraps_at_the_end_of_the_receive_buffer_is_whole() -> None:
    # The read pointer is set to 01f0: the status and 10 B of the frame lie before the wrap, and the
    # driver sets the pointer again to go on at 0000.
    status = b"\x40\x00" + SIZE + b"\xc0\x00"
    texts = [*SETUP, "40f0", "4101", *reading(status, BODY[:10]), "4000", "4100"]
    _, frames = decode(transfers(*texts, *reading(BODY[10:] + FCS), "9e40"))
    assert [(row["error"], row["data"]) for row in frames] == [("", BODY)]
    texts = [*SETUP, "40f0", "4101", *reading(status, BODY + FCS), "9e40"]
    _, frames = decode(transfers(*texts))
    assert [(row["error"], row["data"], row["fcs_ok"]) for row in frames] == [("", BODY, True)]


def test_a_status_that_is_read_twice_counts_once() -> None:
    status = b"\x48\x00" + SIZE + b"\xc0\x00"
    texts = [*SETUP, *reading(status), "4000", "4100", *reading(status + BODY + FCS), "9e40"]
    _, frames = decode(transfers(*texts))
    assert [(row["error"], row["data"]) for row in frames] == [("", BODY)]


def test_a_frame_that_is_read_in_part_is_an_error_with_what_there_is() -> None:
    status = b"\x48\x00" + SIZE + b"\x80\x00"
    _, frames = decode(transfers(*SETUP, *reading(status, BODY[:20]), "9e40"))
    assert [(row["error"], row["length_B"]) for row in frames] == [("", 20), ("part-read", 20)]
    assert frames[0]["fcs"] == -1


@pytest.mark.parametrize("status", ["ffff4000c000", "00000300c000", "0000ffff0000", "0000"])
def test_bytes_that_do_not_begin_with_a_status_are_an_error(status: str) -> None:
    _, frames = decode(transfers(*SETUP, *reading(bytes.fromhex(status)), "9e40"))
    assert [row["error"] for row in frames] == ["", "no-status"]


def test_a_frame_that_is_sent_is_given_when_it_is_sent() -> None:
    end = 0x200 + len(BODY)
    rows, frames = decode(
        transfers(
            *SETUP,
            *("4200", "4302", f"7a00{BODY.hex()}", "4400", "4502"),
            *(f"46{end & 0xFF:02x}", f"47{end >> 8:02x}", "9f08"),
        )
    )
    assert [row["pointer"] for row in rows if row["op"] == "WBM"] == [0x200]
    assert [(row["direction"], row["data"], row["fcs_ok"]) for row in frames] == [
        ("sent", BODY, None)
    ]
    assert frames[0]["t_ps"] == rows[-1]["t_ps"]


def test_a_frame_that_the_host_completed_itself_has_a_check_sequence() -> None:
    end = 0x200 + len(BODY) + 4
    # Per-packet control byte 01: override, no padding and no CRC by the chip (DS39662E, 7.1).
    texts = ("4200", "4302", f"7a01{(BODY + FCS).hex()}", "4400", "4502")
    _, frames = decode(
        transfers(*SETUP, *texts, f"46{end & 0xFF:02x}", f"47{end >> 8:02x}", "9f08")
    )
    assert [(row["data"], row["fcs_ok"]) for row in frames] == [(BODY, True)]


def test_a_frame_that_was_not_written_in_the_capture_is_an_error() -> None:
    _, frames = decode(transfers(*SETUP, "4400", "4502", "4640", "4702", "9f08"))
    assert [row["error"] for row in frames] == ["", "part-written"]
    _, frames = decode(transfers(f"7a00{BODY.hex()}", "9f08"))
    assert [(row["error"], row["data"]) for row in frames] == [("", BODY), ("unknown-bounds", BODY)]


def test_words_that_are_no_bytes_are_refused() -> None:
    sent = [SpiTransfer([0x1FF], [0])]
    edges = encode_transfers(sent, samplerate_hz=10_000_000, word_bits=9)
    channels: list[str | None] = ["CLK", "MISO", "MOSI", "CS", None, None, None]
    table = decoded(SPI, edges.select(channels), word_bits=9)["spi.transfers"]
    with pytest.raises(InputError, match=r"0x1ff on mosi is longer than 8 bits; it takes spi:word"):
        decode(table)
    channels[1] = None
    table = decoded(SPI, edges.select(channels), word_bits=9)
    with pytest.raises(InputError, match=r"spi has no miso; say spi:miso=PROBE"):
        decode(pa.table(table["spi.transfers"]).set_column(9, "mosi", [[[1]]]))


def test_an_operation_is_put_into_words() -> None:
    rows, _ = decode(transfers(RESET, "9f02", "3a00/0012", "5a00"))
    assert [enc28j60_texts(row).normal for row in rows] == [
        "SRC",
        "BFS ECON1 0x02",
        "RBM 1 B at 0x05fa",
        "WCR Reserved 0x00",
        "reserved-register",
    ]
    assert enc28j60_texts(rows[3]).long == "write control register Reserved 0x00, bank 2"


def test_the_words_of_an_operation_name_no_bank_that_is_not_known() -> None:
    rows, _ = decode(transfers("4000"))
    assert [(row["bank"], row["error"]) for row in rows] == [(-1, ""), (-1, "unknown-bank")]
    assert enc28j60_texts(rows[0]).long == "write control register ? 0x00"


# The other reader: sigrok-cli on the same file.

COMMANDS = {
    "RCR": "Read Control Register",
    "WCR": "Write Control Register",
    "BFS": "Bit Field Set",
    "BFC": "Bit Field Clear",
    "SRC": "System Reset Command",
}
INVALID = "Warning: Invalid register accessed."
WARNINGS = {
    "unknown-opcode": "Warning: Unknown opcode.",
    "bad-argument": "Warning: Invalid header byte.",
    "bad-length": "Warning: Invalid command length.",
    "no-dummy": "Warning: Attempting to read a MAC/MII register without using the dummy byte.",
    "extra-dummy": "Warning: Attempting to read a non-MAC/MII register using the dummy byte.",
}


def as_sigrok_says_it(row: Row, errors: Sequence[str], begins: Sequence[int]) -> list[Annotation]:
    """Put an operation into sigrok's words; ``begins`` is where its bytes begin."""
    begin, end, op = row["sample"], row["end_sample"], row["op"]
    warnings = [Annotation(begin, end, WARNINGS[e]) for e in errors if e in WARNINGS]
    if "unknown-opcode" in errors or "bad-argument" in errors:
        return warnings
    places = [*begins, end]
    if op in ("RBM", "WBM"):
        name = "Read" if op == "RBM" else "Write"
        length = f"{name} Buffer Memory: Length {row['length_B']}"
        return [Annotation(begin, end, length)] + [
            Annotation(places[at], places[at + 1], f"Data 0x{byte:02X}")
            for at, byte in enumerate(row["memory"], start=1)
        ]
    said = [Annotation(begin, end, COMMANDS[op]), *warnings]
    if op == "SRC" or "bad-length" in errors:
        return said
    if row["bank"] < 0:
        # Sigrok does not name the registers that all banks have until it knows the bank.
        said.append(Annotation(begin, places[1], f"Reg Bank ? Addr 0x{row['address']:02X}"))
        said.append(Annotation(begin, places[1], "Warning: Register bank not known yet."))
    else:
        name = row["register"].replace("-", "—")
        said.append(Annotation(begin, places[1], f"Reg {name}"))
        if name == "Reserved":
            said.append(Annotation(begin, places[1], INVALID))
    if warnings:
        return said
    if len(begins) == 3:
        said.append(Annotation(places[1], places[2], "Dummy Byte"))
    value = f"0b{row['data']:08b}" if op in ("BFS", "BFC") else f"0x{row['data']:02X}"
    said.append(Annotation(places[-2], places[-1], f"Data {value}"))
    return said


def assert_equal(path: Path) -> list[Row]:
    made = decode_file(path, ["spi", "spi+enc28j60"], registry=REGISTRY)
    tables = {name: table.to_pylist() for name, table in made}
    begins = {row["transfer"]: row["word_sample"] for row in tables["spi.transfers"]}
    rows: list[Row] = tables["spi+enc28j60.operations"]
    said: Counter[Annotation] = Counter()
    for row in rows:
        if row["kind"] == "operation":
            errors = [
                other["error"]
                for other in rows
                if other["transfer"] == row["transfer"] and other["kind"] == "error"
            ]
            said.update(as_sigrok_says_it(row, errors, begins[row["transfer"]]))
    decoder = "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS,enc28j60"
    assert said == Counter(sigrok_annotations(path, decoder, "enc28j60"))
    return list(tables["spi+enc28j60.ethernet"])


def test_the_real_capture_gives_the_operations_that_sigrok_gives_and_the_frames_of_two_pings(
    tmp_path: Path,
) -> None:
    name = "enc28j60-init-and-ping.sr"
    frames = assert_equal(without_idle(real_capture(name), tmp_path / name))
    assert [enc28j60_texts(row).long for row in frames] == [
        f"{way}, 1342 B: ICMP echo {what}, id 0xfc06, sequence {sequence}{verdict}"
        for sequence in (44534, 44535)
        for way, what, verdict in (
            (
                "received 40:6c:8f:1c:fd:c6 -> b0:d5:08:a5:38:42",
                "request 10.0.88.100 -> 10.0.88.206",
                ", FCS good",
            ),
            (
                "sent b0:d5:08:a5:38:42 -> 40:6c:8f:1c:fd:c6",
                "reply 10.0.0.206 -> 10.0.88.100",
                "",
            ),
        )
    ]


@pytest.mark.parametrize("seed", range(12))
def test_generated_operations_are_those_that_sigrok_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sent = []
    for _ in range(60):
        opcode = rng.choice((0, 0, 1, 2, 2, 3, 4, 5, 6, 7))
        argument = 0x1A if opcode in (1, 3) and rng.random() < 0.8 else rng.randrange(0x20)
        # ECON1 more often than a random register would be; sigrok fails to say a bank by halves.
        if opcode in (2, 4, 5) and rng.random() < 0.5:
            argument = 0x1F
        usual = {0: rng.choice((2, 3)), 1: rng.randint(1, 9), 3: rng.randint(1, 9), 7: 1}
        length = usual.get(opcode, 2) if rng.random() < 0.9 else rng.randint(0, 4)
        mosi = [opcode << 5 | argument, *(rng.randrange(256) for _ in range(8))][:length]
        sent.append(SpiTransfer(mosi, [rng.randrange(256) for _ in mosi]))
    if seed % 2:
        # Before the bank is known sigrok trusts the length of a read of ESTAT; we need not.
        sent.insert(0, SpiTransfer([0xFF], [0]))
    else:
        sent = [t for t in sent if not t.mosi or t.mosi[0] >> 5 or t.mosi[0] < 0x1B]
    edges = encode_transfers(sent, samplerate_hz=10_000_000)
    write_sr(edges, tmp_path / "bus.sr")
    assert_equal(tmp_path / "bus.sr")
