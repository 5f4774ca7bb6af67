"""SPI: levels drawn by hand in, literal words out, and two readers of one capture agree."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.spi_code import spi_texts
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from tests.campaign.seeds import seeds
from tests.capture.files.captures import metadata, real_capture, without_idle, write_session
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 1_000_000
REGISTRY = Registry({"spi": SPI})
NAMES = ("CLK", "MISO", "MOSI", "CS", "CS1", "CS2", "CS3")

Rows = list[dict[str, Any]]


def bus(**lines: str) -> Edges:
    """Draw lines, one character a sample: ``bus(clk="0101", mosi="1100", cs="0000")``."""
    order = [name for name in NAMES if name.lower() in lines]
    size = len(lines["clk"])
    assert all(len(levels) == size for levels in lines.values())
    samples = bytes(
        sum(int(lines[name.lower()][at]) << bit for bit, name in enumerate(order))
        for at in range(size)
    )
    sample, value = EdgeReducer(1, range(len(order))).feed(samples)
    edges = Edges(sample, value, tuple(order), RATE_HZ, 0, size)
    return edges.select([name if name in order else None for name in NAMES])


def decode(edges: Edges, **options: Any) -> list[Rows]:
    """Return the words with the errors, and the transfers."""
    return rows_of(SPI, edges, **options)


def said(rows: Rows) -> list[tuple[str, int, int]]:
    return [(row["error"], row["mosi"], row["miso"]) for row in rows]


# 0x5 to the chip, 0x9 from it, in mode 0: the rising edge samples.
FOUR_BITS = {
    "cs": "1" + "0" * 10 + "1",
    "clk": "0" + "00101010100"[:10] + "0",
    "mosi": "0" + "0001100110"[:10] + "0",
    "miso": "0" + "0110000110"[:10] + "0",
}


def test_a_word_gives_its_values_and_places() -> None:
    words, transfers = decode(bus(**FOUR_BITS), word_bits=4)
    assert words == [
        {
            "t_ps": 3_000_000,
            "source": "CLK",
            "kind": "word",
            "t_end_ps": 11_000_000,
            "error": "",
            "select": 0,
            "transfer": 0,
            "mosi": 0x5,
            "miso": 0x9,
            "bits": 4,
            "sample": 3,
            "end_sample": 11,
        }
    ]
    assert transfers == [
        {
            "t_ps": 1_000_000,
            "source": "CLK",
            "kind": "transfer",
            "t_end_ps": 11_000_000,
            "error": "",
            "select": 0,
            "transfer": 0,
            "whole": True,
            "words": 1,
            "mosi": [0x5],
            "miso": [0x9],
            "word_sample": [3],
            "word_end_sample": [11],
            "samplerate_hz": RATE_HZ,
            "sample": 1,
            "end_sample": 11,
        }
    ]


@pytest.mark.parametrize(
    ("mode", "clk", "mosi"),
    [
        (0, "0001010101", "0011001100"),
        (1, "0010101010", "0011001100"),
        (2, "1110101010", "0011001100"),
        (3, "1101010101", "0011001100"),
    ],
)
def test_each_mode_samples_on_its_own_edge(mode: int, clk: str, mosi: str) -> None:
    # Data 1, 0, 1, 0, each two samples long; modes 0 and 3 sample on the rising edge.
    words, _ = decode(
        bus(cs="1" + "0" * 10 + "1", clk=clk[0] + clk + clk[0], mosi="0" + mosi + "0"),
        mode=mode,
        word_bits=4,
    )
    assert said(words) == [("", 0b1010, -1)]


def test_the_first_bit_is_the_lowest_when_it_is_said_so() -> None:
    words, _ = decode(bus(**FOUR_BITS), word_bits=4, order="lsb-first")
    assert said(words) == [("", 0xA, 0x9)]


def test_a_chip_select_can_select_with_1() -> None:
    lines = FOUR_BITS | {"cs": FOUR_BITS["cs"].translate({48: "1", 49: "0"})}
    assert said(decode(bus(**lines), word_bits=4, select="active-high")[0]) == [("", 5, 9)]
    # The same lines with the other polarity: selected before and after, where no clock is.
    assert said(decode(bus(**lines), word_bits=4)[0]) == [("cut-transfer", -1, -1)]


def test_a_word_that_the_deselect_cuts_is_an_error_with_its_bits() -> None:
    words, transfers = decode(bus(**FOUR_BITS), word_bits=8)
    assert said(words) == [("cut-word", 0x5, 0x9)]
    assert (words[0]["bits"], words[0]["sample"], words[0]["end_sample"]) == (4, 3, 11)
    assert [(row["kind"], row["words"], row["mosi"]) for row in transfers] == [("transfer", 0, [])]


def test_what_the_end_of_the_capture_cuts_is_an_error() -> None:
    lines = {name: levels[:6] for name, levels in FOUR_BITS.items()}
    words, transfers = decode(bus(**lines), word_bits=4)
    assert said(words) == [("cut-word", 0b01, 0b10), ("cut-transfer", -1, -1)]
    assert [(row["kind"], row["error"], row["whole"]) for row in transfers] == [
        ("error", "cut-transfer", False)
    ]
    assert (transfers[0]["sample"], transfers[0]["end_sample"]) == (1, 6)


def test_a_chip_that_is_selected_before_the_capture_has_a_transfer_that_is_not_whole() -> None:
    lines = {name: levels[1:] for name, levels in FOUR_BITS.items()}
    words, transfers = decode(bus(**lines), word_bits=4)
    assert said(words) == [("", 5, 9)]
    assert [(row["kind"], row["sample"], row["whole"]) for row in transfers] == [
        ("transfer", 0, False)
    ]


def test_a_clock_at_the_wrong_level_when_the_chip_is_selected_is_an_error() -> None:
    words, _ = decode(bus(**FOUR_BITS), word_bits=4, mode=3)
    assert said(words) == [("wrong-idle", -1, -1), ("", 5, 9)]
    assert words[0]["sample"] == 1


def test_words_belong_to_the_chip_that_is_selected() -> None:
    twice = {name: levels * 2 for name, levels in FOUR_BITS.items()}
    off = "1" * 12
    edges = bus(
        clk=twice["clk"], mosi=twice["mosi"], cs=FOUR_BITS["cs"] + off, cs2=off + FOUR_BITS["cs"]
    )
    words, transfers = decode(edges, word_bits=4)
    assert [(row["select"], row["transfer"], row["mosi"]) for row in words] == [
        (0, 0, 5),
        (2, 1, 5),
    ]
    assert [(row["select"], row["sample"]) for row in transfers] == [(0, 1), (2, 13)]


def test_two_chips_that_are_selected_at_once_are_an_error() -> None:
    words, _ = decode(bus(clk="00000", mosi="00000", cs="10001", cs1="11011"))
    assert [(row["error"], row["sample"], row["end_sample"]) for row in words] == [
        ("several-selected", 2, 3)
    ]


def test_a_bus_without_a_chip_select_has_words_and_no_transfers() -> None:
    lines = {name: levels for name, levels in FOUR_BITS.items() if name != "cs"}
    words, transfers = decode(bus(**lines), word_bits=4)
    assert said(words) == [("", 5, 9)]
    assert (words[0]["select"], words[0]["transfer"], transfers) == (-1, -1, [])


def test_a_pause_of_the_clock_ends_a_transfer_when_it_is_said_so() -> None:
    lines = {name: levels for name, levels in FOUR_BITS.items() if name != "cs"}
    # Two bits, a pause of 20 samples, then a whole word.
    clk = "00101" + "0" * 20 + lines["clk"]
    mosi = "01111" + "0" * 20 + lines["mosi"]
    words, transfers = decode(bus(clk=clk, mosi=mosi), word_bits=4, gap_us=10.0)
    assert said(words) == [("cut-word", 0b11, -1), ("", 5, -1)]
    assert [(row["sample"], row["end_sample"], row["mosi"]) for row in transfers] == [
        (2, 6, []),
        (28, 36, [5]),
    ]
    words, _ = decode(bus(clk=clk, mosi=mosi), word_bits=4)
    assert said(words) == [("", 0b1101, -1), ("cut-word", 0b01, -1)]


def test_a_bus_without_data_lines_is_refused() -> None:
    with pytest.raises(InputError, match=r"neither miso nor mosi has a probe; say miso=PROBE"):
        decode(bus(clk="0101", cs="0000"))


WIDE = 0x0123456789ABCDEF_FEDCBA98_76543210_AB  # 136 bits


def sent(*words: int, bits: int, cut: int = 0) -> Edges:
    """A selected chip that gets the words, the highest bit first, and sends back their complements."""
    text = "".join(f"{word:0{bits}b}" for word in words)
    text = text[: len(text) - cut]
    clk, mosi = "00" + "01" * len(text) + "00", "00" + "".join(2 * bit for bit in text) + "00"
    flipped = mosi.translate(str.maketrans("01", "10"))
    cs = "1" + "0" * (len(clk) - 2) + "1"
    return bus(clk=clk, mosi=mosi, miso=flipped, cs=cs)


def test_a_word_of_more_than_63_bits_is_bytes() -> None:
    other = WIDE ^ (1 << 136) - 1
    words, transfers = decode(sent(WIDE, other, bits=136, cut=3), word_bits=136)
    first, second = bytes.fromhex("0123456789abcdeffedcba9876543210ab"), other.to_bytes(17, "big")
    assert [(row["error"], row["bits"]) for row in words] == [("", 136), ("cut-word", 133)]
    assert (words[0]["mosi"], words[0]["miso"]) == (first, second)
    assert words[1]["mosi"] == (other >> 3).to_bytes(17, "big")
    assert (transfers[0]["mosi"], transfers[0]["miso"]) == ([first], [second])
    assert spi_texts(words[0]).short == f"{WIDE:034X}/{other:034X}"


def test_a_wide_word_may_come_lowest_bit_first() -> None:
    words, _ = decode(sent(WIDE, bits=136), word_bits=136, order="lsb-first")
    assert words[0]["mosi"] == int(f"{WIDE:0136b}"[::-1], 2).to_bytes(17, "big")


def test_a_word_of_up_to_63_bits_is_a_number() -> None:
    words, _ = decode(sent(0x4123456789ABCDEF, bits=63), word_bits=63)
    assert [row["mosi"] for row in words] == [0x4123456789ABCDEF]


def test_the_real_capture_of_40_bits_gives_what_sigrok_gives() -> None:
    path = real_capture("dumps/spi/wordwidths/40bit_spi.sr")
    words, _ = decode_file(path, ["spi:word_bits=40"])
    assert [(row["mosi"], row["miso"]) for row in words.table.to_pylist()] == [
        (0xAB00000000, 0xFFFFFFFF15)
    ]


@pytest.mark.parametrize("word_bits", ["3", "257"])
def test_a_word_of_less_than_4_or_more_than_256_bits_is_refused(word_bits: str) -> None:
    with pytest.raises(InputError, match=r"decoder spi: option word_bits=.*allowed: 4\.\.256 bits"):
        SPI.option_values({"word_bits": word_bits})


def test_a_row_is_put_into_words() -> None:
    words, transfers = decode(bus(**FOUR_BITS), word_bits=4)
    assert spi_texts(words[0]) == ("5/9", "MOSI 5 MISO 9", "CLK: MOSI 5 MISO 9")
    assert spi_texts(transfers[0]) == (
        "1 word",
        "MOSI 05, MISO 09",
        "CLK: 1 word, MOSI 05, MISO 09",
    )
    words, _ = decode(bus(**FOUR_BITS))
    assert spi_texts(words[0]).long == (
        "CLK: cut-word: the transfer or the capture ends inside a word"
    )


@pytest.mark.parametrize(
    ("selects", "options"),
    [
        (4, {}),
        (1, {"order": "lsb-first"}),
        (0, {"gap_us": 9.0}),
        (0, {}),
        (2, {"word_bits": 32}),
        (1, {"word_bits": 70}),
        (0, {"word_bits": 65, "order": "lsb-first", "gap_us": 9.0}),
    ],
)
def test_noise_gives_the_same_rows_in_pieces_of_any_size(
    selects: int, options: dict[str, Any]
) -> None:
    rng = random.Random(5)
    value = 0b1111000
    samples = bytearray([value])
    for _ in range(1_200):
        still = rng.random() < 0.05
        for bit in range(3 + selects):
            share = 0.01 if bit >= 3 else 0.5
            value ^= (rng.random() < share) << bit
        samples += bytes([value]) * (12 if still else 1)
    sample, value_ = EdgeReducer(1, range(7)).feed(bytes(samples))
    probes = [*NAMES[: 3 + selects], *[None] * (4 - selects)]
    edges = Edges(sample, value_, NAMES, RATE_HZ, 0, len(samples)).select(probes)
    for size in (1, 7, 1_000):
        cuts = range(0, len(samples), size)
        whole = assert_same_in_pieces(SPI, edges, cuts, **options)
    assert len(whole["spi.words"]) > 6
    assert (len(whole["spi.transfers"]) > 1) == bool(selects or options)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    mode=st.integers(0, 3),
    word_bits=st.integers(4, 32),
    lsb_first=st.booleans(),
    active_low=st.booleans(),
    half=st.integers(1, 4),
    seed=st.integers(0, 1 << 30),
    cuts=st.lists(st.integers(0, 3_000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    sizes: list[int],
    mode: int,
    word_bits: int,
    lsb_first: bool,
    active_low: bool,
    half: int,
    seed: int,
    cuts: list[int],
) -> None:
    rng = random.Random(seed)
    sent = [
        SpiTransfer(*([rng.getrandbits(word_bits) for _ in range(size)] for _ in range(2)))
        for size in sizes
    ]
    edges = encode_transfers(
        sent,
        samplerate_hz=RATE_HZ,
        mode=mode,
        word_bits=word_bits,
        lsb_first=lsb_first,
        half_period_samples=half,
        active_low=active_low,
    ).select([*NAMES[:4], None, None, None])
    whole = assert_same_in_pieces(
        SPI,
        edges,
        cuts,
        mode=mode,
        word_bits=word_bits,
        order="lsb-first" if lsb_first else "msb-first",
        select="active-low" if active_low else "active-high",
    )
    transfers = whole["spi.transfers"].to_pylist()
    assert [(row["mosi"], row["miso"]) for row in transfers] == [
        (list(transfer.mosi), list(transfer.miso)) for transfer in sent
    ]
    assert set(whole["spi.words"]["error"].to_pylist()) <= {""}


# The other reader: sigrok-cli on the same file.

Said = Counter[Annotation]
CHANNELS = "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS"


def ours(path: Path, spec: str, line: str) -> Said:
    """Return the words of one line, and the transfers of the other, as sigrok says them."""
    words, transfers = (d.table.to_pylist() for d in decode_file(path, [spec], registry=REGISTRY))
    other = "miso" if line == "mosi" else "mosi"
    result: Said = Counter()
    for row in words:
        if row["kind"] == "word":
            result[Annotation(row["sample"], row["end_sample"], f"{row[line]:02X}")] += 1
    for row in transfers:
        if row["kind"] == "transfer":
            text = " ".join(f"{word:02X}" for word in row[other])
            result[Annotation(row["sample"], row["end_sample"], text)] += 1
    return result


def theirs(path: Path, options: str, line: str) -> Said:
    other = "miso" if line == "mosi" else "mosi"
    return Counter(
        sigrok_annotations(path, CHANNELS + options, f"spi={line}-data:{other}-transfer")
    )


def test_the_real_capture_gives_what_sigrok_gives(tmp_path: Path) -> None:
    whole = real_capture("enc28j60-init-and-ping.sr")  # a billion samples
    short = without_idle(whole, tmp_path / whole.name)
    mine = ours(short, "spi", "mosi")
    assert mine == theirs(short, "", "mosi")
    assert mine.total() == 5_776 + 182
    assert [said.text for said in ours(whole, "spi", "mosi")] == [said.text for said in mine]


def drawn_bus(rng: random.Random, mode: int) -> bytes:
    """Draw transfers sample by sample, with everything that can be wrong with them."""
    samples = bytearray()
    clk, cs = mode >> 1, int(rng.random() < 0.9)
    data = 0

    def put(count: int) -> None:
        samples.extend(bytes([clk | data << 1 | cs << 3]) * count)

    put(rng.randint(1, 20))
    for _ in range(rng.randint(4, 15)):
        cs = 0
        put(rng.randint(0, 3))
        for _ in range(rng.randint(0, 90)):
            if mode % 2 == 0:
                data = rng.getrandbits(2)
                put(rng.randint(1, 4))
            clk ^= 1
            if mode % 2 == 1:
                data = rng.getrandbits(2)
            put(rng.randint(1, 4))
            clk ^= 1
            put(rng.randint(1, 4) if mode % 2 else 0)
            if rng.random() < 0.01:
                # The chip select or the clock rings for one sample.
                if rng.random() < 0.5:
                    cs ^= 1
                    put(1)
                    cs ^= 1
                else:
                    clk ^= 1
                    put(1)
                    clk ^= 1
        if rng.random() < 0.2:
            clk ^= 1  # another idle level
        put(rng.randint(0, 3))
        cs = 1
        put(rng.randint(0, 9))
        for _ in range(rng.choice((0, 0, 7))):
            clk ^= 1
            put(rng.randint(1, 3))
    if rng.random() < 0.3:
        cs = 0
        put(30)
    return bytes(samples)


def noise(rng: random.Random) -> bytes:
    """Draw lines that change when they like; often several in one sample."""
    value = rng.getrandbits(4)
    samples = bytearray()
    for _ in range(6_000):
        for line, share in ((1, 0.5), (2, 0.3), (4, 0.3), (8, 0.01)):
            if rng.random() < share:
                value ^= line
        samples.append(value)
    return bytes(samples)


@pytest.mark.parametrize("seed", seeds(30))
def test_a_generated_capture_gives_what_sigrok_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    mode = seed % 4
    word_bits = rng.choice([8, 8, 4, 7, 12, 16, 32])
    lsb_first = rng.random() < 0.3
    active_low = rng.random() < 0.7
    samples = noise(rng) if seed % 5 == 4 else drawn_bus(rng, mode)
    if not active_low:
        samples = bytes(value ^ 8 for value in samples)
    path = write_session(tmp_path / "bus.sr", [samples], metadata(["CLK", "MISO", "MOSI", "CS"]))
    order = "lsb-first" if lsb_first else "msb-first"
    select = "active-low" if active_low else "active-high"
    spec = f"spi:mode={mode},word_bits={word_bits},order={order},select={select}"
    options = (
        f":cpol={mode >> 1}:cpha={mode & 1}:wordsize={word_bits}:bitorder={order}"
        f":cs_polarity={select}"
    )
    for line in ("mosi", "miso"):
        mine = ours(path, spec, line)
        assert mine == theirs(path, options, line)
        assert mine.total() >= 6


@pytest.mark.parametrize("seed", range(100, 104))
def test_a_capture_without_a_chip_select_gives_what_sigrok_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    samples = bytes(value & 7 for value in drawn_bus(rng, 0))
    path = write_session(tmp_path / "bus.sr", [samples], metadata(["CLK", "MISO", "MOSI"]))
    mine = ours(path, "spi", "mosi")
    other = sigrok_annotations(path, "spi:clk=CLK:miso=MISO:mosi=MOSI", "spi=mosi-data")
    assert mine == Counter(other)
    assert mine.total() >= 6
