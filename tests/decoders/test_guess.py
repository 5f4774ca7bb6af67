"""Which decoders are proposed for a capture: for signals made here, under telling names and under none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.contract import Channel
from freezeframe.decoders.guess import lines
from freezeframe.decoders.guess.propose import Guess, guess
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.capture.files.captures import real_capture

RATE_HZ = 10_000_000
Levels = list[dict[str, int]]


def draw(levels: Levels, names: tuple[str, ...]) -> Edges:
    """Return a capture with these levels, one sample each; a name that is missing stays."""
    now = dict.fromkeys(names, 0)
    words = []
    for step in levels:
        now |= step
        words.append(sum(now[name] << bit for bit, name in enumerate(names)))
    value = np.array(words, dtype=np.uint64)
    keep = np.ones(len(value), dtype=np.bool_)
    keep[1:] = value[1:] != value[:-1]
    return Edges(np.flatnonzero(keep), value[keep], names, RATE_HZ, 0, len(value))


def spi_words(sent: bytes, answered: bytes, mode: int) -> Levels:
    """One transfer, four samples a bit: CPOL = mode >> 1, CPHA = mode & 1, data on the other edge."""
    idle, phase = mode >> 1, mode & 1
    steps: Levels = [{"cs": 1, "clk": idle}] * 8 + [{"cs": 0}] * 4
    for out, back in zip(sent, answered, strict=True):
        for bit in range(7, -1, -1):
            data = {"mosi": out >> bit & 1, "miso": back >> bit & 1}
            if phase:
                steps += [{"clk": 1 - idle} | data, {}, {"clk": idle}, {}]
            else:
                steps += [{"clk": idle} | data, {}, {"clk": 1 - idle}, {}]
    return [*steps, {"clk": idle}, {}, {"cs": 1}, {}]


def i2c_write(address: int, data: bytes) -> Levels:
    """START, the address and the bytes, each with an acknowledge, STOP (UM10204 3.1.4 to 3.1.6)."""
    steps: Levels = [{"scl": 1, "sda": 1}] * 10 + [{"sda": 0}, {}, {"scl": 0}, {}]
    for byte in (address << 1, *data):
        for bit in (*(byte >> n & 1 for n in range(7, -1, -1)), 0):
            steps += [{"sda": bit}, {}, {"scl": 1}, {}, {}, {"scl": 0}, {}]
    return [*steps, {"sda": 0}, {}, {"scl": 1}, {}, {"sda": 1}, {}]


def uart_text(
    text: bytes,
    samples: int,
    *,
    inverted: bool = False,
    bits: int = 8,
    parity: str = "none",
    stops: int = 2,
) -> Levels:
    steps: Levels = [{"line": 1}] * (15 * samples)
    for byte in text:
        data = [byte >> n & 1 for n in range(bits)]
        check = {"none": [], "even": [sum(data) & 1], "odd": [1 - sum(data) & 1]}[parity]
        frame = [0, *data, *check, *[1] * stops]
        steps += [{"line": bit} for bit in frame for _ in range(samples)]
    flip = 1 if inverted else 0
    return [{"line": step["line"] ^ flip} for step in steps]


def jtag_scans(scans: list[tuple[str, int, int]]) -> Levels:
    """Reset by five ones, then each scan (register, value, bits) by IEEE 1149.1 figure 6-1."""
    walk = [(1, 0)] * 6 + [(0, 0)] * 4
    for register, value, bits in scans:
        walk += [(1, 0)] * (2 if register == "ir" else 1) + [(0, 0), (0, 0)]
        walk += [(int(bit == bits - 1), value >> bit & 1) for bit in range(bits)]
        walk += [(1, 0), (0, 0), (0, 0), (0, 0)]
    return [
        step
        for tms, tdi in walk
        for step in ({"tck": 0, "tms": tms, "tdi": tdi}, {}, {"tck": 1}, {})
    ]


RANDOM = np.random.default_rng(4)


def noise(count: int) -> bytes:
    return RANDOM.bytes(count)


def spi(mode: int) -> Edges:
    steps = [
        step
        for length in (4, 17, 1, 9, 32)
        for step in spi_words(noise(length), b"\0" + noise(length - 1), mode)
    ]
    return draw(steps, ("cs", "clk", "mosi", "miso"))


def i2c() -> Edges:
    steps = [step for n in range(8) for step in i2c_write(0x50 + n, noise(3 + n))]
    return draw(steps, ("scl", "sda"))


TEXT = b"Hello, world! 0123456789\r\n"


def uart(samples: int = 87, *, inverted: bool = False) -> Edges:
    return draw(uart_text(TEXT, samples, inverted=inverted), ("line",))


def jtag() -> Edges:
    scans = [("ir", 0b0001, 4), ("dr", 0x4BA00477, 32), ("ir", 0b1010, 4), ("dr", 0x12345678, 35)]
    return draw(jtag_scans(scans * 2), ("tck", "tms", "tdi"))


def mdio() -> Edges:
    frames = [MdioFrame(22, "read", phy=1, reg=n, data=0x1000 + 77 * n) for n in range(8)]
    return encode_frames(frames, samplerate_hz=RATE_HZ)


def proposed(edges: Edges, folder: Path) -> Guess:
    path = folder / "a.sr"
    write_sr(edges, path)
    return guess(SourceChoice().open(path, ReadSettings()), load_decoders())


def nameless(edges: Edges) -> Edges:
    """The same capture with the names that an analyzer gives, in another order."""
    order = list(reversed(edges.channels))
    return replace(edges.select(order), channels=tuple(f"D{n}" for n in range(len(order))))


@pytest.mark.parametrize(
    ("made", "spec"),
    [
        (lambda: spi(0), "spi"),
        (lambda: spi(1), "spi:mode=1"),
        (lambda: spi(2), "spi:mode=2"),
        (lambda: spi(3), "spi:mode=3"),
        (i2c, "i2c"),
        (jtag, "jtag"),
        (mdio, "mdio"),
    ],
    ids=["spi-0", "spi-1", "spi-2", "spi-3", "i2c", "jtag", "mdio"],
)
def test_a_bus_with_the_usual_names_is_proposed_first_without_saying_them_again(
    made: Callable[[], Edges], spec: str, tmp_path: Path
) -> None:
    best = proposed(made(), tmp_path).proposals[0]
    assert best.spec == spec
    assert best.score > 0.7
    assert best.why[0].startswith("named ")
    assert any(reason.endswith(" 0 errors in the whole capture") for reason in best.why)


@pytest.mark.parametrize(
    ("made", "spec"),
    [
        (lambda: spi(0), "spi:clk=D2,mosi=D1,miso=D0,cs=D3"),
        (lambda: spi(3), "spi:clk=D2,mosi=D1,miso=D0,cs=D3,mode=3"),
        (i2c, "i2c:scl=D1,sda=D0"),
        (jtag, "jtag:tck=D2,tms=D1"),
        (mdio, "mdio:mdc=D1,mdio=D0"),
        (uart, "uart:rx=D0,baud=115200"),
    ],
    ids=["spi-0", "spi-3", "i2c", "jtag", "mdio", "uart"],
)
def test_a_bus_without_names_is_known_by_its_signal(
    made: Callable[[], Edges], spec: str, tmp_path: Path
) -> None:
    best = proposed(nameless(made()), tmp_path).proposals[0]
    assert best.spec == spec
    assert best.against == (("no name tells which of D1 and D0 is MOSI",) if "mosi" in spec else ())


def test_where_nothing_is_proposed_the_nearest_is_told_with_what_was_seen(tmp_path: Path) -> None:
    found = proposed(draw(uart_text(b"AT\r\n", 87), ("line",)), tmp_path)
    assert found.proposals == ()
    assert found.nothing == (
        "the nearest is uart:rx=line,baud=115200 with 57%, and 60% are the least that is proposed (115,200 Bd, a "
        "standard rate; 8N1; 4 characters, 0 errors in the whole capture; 100% of the edges explained)"
    )


@pytest.mark.parametrize(
    ("samples", "inverted", "options"),
    [(87, False, "baud=115200"), (1042, False, "baud=9600"), (87, True, "baud=115200,invert=yes")],
    ids=["115200", "9600", "inverted"],
)
def test_the_rate_and_the_rest_of_a_uart_are_found_from_its_pulses(
    samples: int, inverted: bool, options: str, tmp_path: Path
) -> None:
    best = proposed(uart(samples, inverted=inverted), tmp_path).proposals[0]
    assert best.spec == f"uart:rx=line,{options}"
    assert "26 characters, 0 errors in the whole capture" in best.why


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("stops", [1, 2, 9])
@pytest.mark.parametrize(
    ("bits", "parity", "frame"),
    [
        (8, "none", ""),
        (8, "even", ",parity=even"),
        (7, "even", ",bits=7,parity=even"),
        (7, "odd", ",bits=7,parity=odd"),
        (6, "even", ",bits=6,parity=even"),
    ],
)
def test_text_is_read_in_the_frame_that_it_was_sent_in(
    bits: int, parity: str, frame: str, stops: int, inverted: bool, tmp_path: Path
) -> None:
    """Read as 8N1, parity is the eighth bit of 7 bits with it, and stop bits and pauses those of fewer: no error."""
    line = uart_text(TEXT, 87, inverted=inverted, bits=bits, parity=parity, stops=stops)
    best = proposed(replace(draw(line, ("line",)), channels=("rx",)), tmp_path).proposals[0]
    assert best.spec == f"uart:baud=115200{frame}{',invert=yes' * inverted}"
    assert ("reads as text" in best.why) == (bits > 6)
    assert ("7O1, which 22 different characters agree with" in best.why) == (parity == "odd")


@pytest.mark.parametrize(
    ("data", "bits", "frame"),
    [
        (bytes(range(32)) * 2, 5, ",bits=5"),
        (bytes(range(64)), 6, ",bits=6"),
        (TEXT, 7, ",bits=7"),
        (b"\0\x7f\0", 7, ""),  # too little to tell: bit 7 is 1 in two different characters
        (bytes(range(128, 256)), 8, ",bits=7"),
        (bytes(range(127, 256)), 8, ""),
        (b"\0\3\5\6" * 4, 8, ""),  # an even number of ones, but bit 7 is always 0
    ],
    ids=["5N2", "6N2", "7N2", "three", "upper-half", "one-below", "even"],
)
def test_high_bits_that_are_always_1_are_stop_bits_where_enough_characters_have_them(
    data: bytes, bits: int, frame: str, tmp_path: Path
) -> None:
    edges = replace(draw(uart_text(data, 87, bits=bits), ("line",)), channels=("rx",))
    best = proposed(edges, tmp_path).proposals[0]
    assert best.spec == f"uart:baud=115200{frame}"


@given(st.integers(0, 5), st.permutations(range(4)), st.booleans())
@settings(max_examples=12, deadline=None)
def test_neither_the_order_of_the_channels_nor_idle_ones_change_what_is_proposed(
    seed: int, order: list[int], inverted: bool
) -> None:
    data = np.random.default_rng(seed)
    steps = [step for n in range(6) for step in i2c_write(0x20 + n, data.bytes(2 + n))]
    edges = draw(steps, ("scl", "sda"))
    wires = ["sda", None, "scl", None]
    named = [("SDA", "WP", "SCL", "INT")[at] for at in order]
    shuffled = replace(edges.select([wires[at] for at in order]), channels=tuple(named))
    with tempfile.TemporaryDirectory() as folder:
        found = proposed(shuffled, Path(folder))
    assert [each.spec for each in found.proposals if "+" not in each.spec] == ["i2c"]


@pytest.mark.parametrize(
    "names",
    [("MOSI", "SCLK"), ("TDI", "TCK"), ("D-", "USB_D+"), ("MDIO", "MDC")],
    ids=lambda names: names[0],
)
def test_names_of_other_roles_speak_against_a_bus_and_are_told(
    names: tuple[str, str], tmp_path: Path
) -> None:
    plain = proposed(nameless(i2c()), tmp_path).proposals[0]
    best = next(
        each
        for each in sorted(
            proposed(replace(nameless(i2c()), channels=names), tmp_path).seen,
            key=lambda each: -each.score,
        )
        if each.spec.startswith("i2c")
    )
    assert best.score < plain.score
    assert any(reason.startswith("names of other roles: ") for reason in best.against)


def test_lines_of_one_sample_a_value_are_judged_by_their_share_of_errors(tmp_path: Path) -> None:
    """Random bits at a bit rate: half of the characters have no stop bit."""
    steps: Levels = [{"rx": 1}] * 400
    for bit in np.random.default_rng(1).integers(0, 2, 2000).tolist():
        steps += [{"rx": bit}] * 10
    found = proposed(draw(steps, ("rx",)), tmp_path)
    assert not [each for each in found.proposals if each.spec.startswith("uart")]
    assert " errors (" in found.nothing


def test_a_decoder_is_a_candidate_by_its_declaration_alone(tmp_path: Path) -> None:
    """No rule, no table of names anywhere: a channel with an alias, and rows that come without errors."""
    registry = load_decoders()
    known = registry.find("uart")
    registry.add(
        replace(
            known,
            id="probe-link",
            channels=(Channel("wire", "the line", aliases=("zebra",)),),
            evidence=None,
            sigrok="",
        )
    )
    edges = replace(uart(), channels=("ZEBRA#",))
    write_sr(edges, tmp_path / "a.sr")
    source = SourceChoice().open(tmp_path / "a.sr", ReadSettings())
    found = {each.spec: each for each in guess(source, registry).seen}
    assert found["probe-link"].why[0] == "named ZEBRA# (wire)"


def test_two_buses_in_one_capture_are_both_proposed(tmp_path: Path) -> None:
    steps = [step for n in range(8) for step in i2c_write(0x50 + n, noise(3 + n))]
    line = uart_text(b"beside it", 40)
    both = [
        {**(steps[n] if n < len(steps) else {}), **(line[n] if n < len(line) else {})}
        for n in range(max(len(steps), len(line)))
    ]
    found = proposed(draw(both, ("D0", "scl", "line", "sda")), tmp_path)
    assert [each.spec for each in found.proposals][:2] == ["i2c", "uart:rx=line,baud=250000"]


def test_a_plain_clock_and_a_still_line_are_nothing_to_decode(tmp_path: Path) -> None:
    steps: Levels = [{"a": n // 5 & 1, "b": 1} for n in range(5000)]
    found = proposed(draw(steps, ("a", "b")), tmp_path)
    assert (found.proposals, found.nothing) == ((), "there are only clocks")
    assert [round(line.clock_hz) for line in found.lines] == [1_000_000, 0]


def test_of_a_long_capture_only_the_beginning_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_EDGES", 500)
    found = proposed(i2c(), tmp_path)
    assert (found.edges, found.whole) == (499, False)  # the first of 500 is a level, no edge
    assert found.proposals[0].spec == "i2c"


def test_a_bus_of_many_lines_is_known_by_their_names_and_its_decoders_are_named(
    tmp_path: Path,
) -> None:
    lines_of_pci = ("CLK", "FRAME#", "IRDY#", "TRDY#", "DEVSEL#", "STOP#")
    names = (*lines_of_pci, *(f"CBE[{n}]" for n in range(4)), *(f"AD[{n}]" for n in range(32)))
    rng = np.random.default_rng(3)
    levels = [{"CLK": n & 1, "AD[20]": int(rng.integers(2))} for n in range(400)]
    found = proposed(draw(levels, names), tmp_path)
    assert found.proposals == ()
    said = "the names are those of pci and pcix, which is not tried: say -d pci or -d pcix"
    assert found.nothing == said


def test_noise_is_proposed_as_nothing_with_confidence(tmp_path: Path) -> None:
    steps: Levels = [{f"D{n}": int(RANDOM.integers(2)) for n in range(4)} for _ in range(3000)]
    found = proposed(draw(steps, ("D0", "D1", "D2", "D3")), tmp_path)
    assert all(each.score < 0.6 for each in found.proposals)


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("xfp.sr", ["i2c"]),
        ("24aa025uid_bytewrite16_6ms_delay.sr", ["i2c"]),
        ("lan8720a_read_all_plugged.sr", ["mdio"]),
        ("clause45_read_no_address.sr", ["mdio"]),
        ("enc28j60-init-and-ping.sr", ["spi", "spi+enc28j60"]),
        ("olimex_stm32-h103_irscan_drscan.sr", ["jtag"]),
        ("uart_count_19200_8n1.sr", ["uart:rx=tx,baud=19200"]),
    ],
)
def test_real_captures_are_known(name: str, specs: list[str]) -> None:
    source = SourceChoice().open(real_capture(name), ReadSettings())
    found = [each.spec for each in guess(source, load_decoders()).proposals]
    assert found[0] == specs[0]
    assert set(specs) <= set(found)


def test_of_a_line_with_half_its_frames_in_error_the_nearest_is_told() -> None:
    source = SourceChoice().open(real_capture("ampel64_4800_8n1_frame_errors.sr"), ReadSettings())
    found = guess(source, load_decoders())
    assert found.proposals == ()
    assert found.nothing == (
        "the nearest is uart:rx=TX,baud=4800, but 8 characters, 4 errors (bad-stop, bad-start) in the whole capture"
    )


def test_a_parallel_bus_is_proposed_by_its_names_where_it_has_a_clock(tmp_path: Path) -> None:
    values = RANDOM.integers(0, 256, 300)
    steps = [
        step
        for value in values.tolist()
        for step in ({"clk": 0} | {f"d{n}": value >> n & 1 for n in range(8)}, {}, {"clk": 1}, {})
    ]
    best = proposed(draw(steps, ("clk", *(f"d{n}" for n in range(8)))), tmp_path).proposals[0]
    assert (best.spec, best.score > 0.9) == ("parallel", True)
    assert "data moves while clk is low" in best.why
    assert "300 values, 0 errors in the whole capture" in best.why


def test_where_several_chips_fit_a_bus_it_says_that_it_cannot_tell() -> None:
    source = SourceChoice().open(real_capture("xfp.sr"), ReadSettings())
    stacked = [each for each in guess(source, load_decoders()).proposals if "+" in each.spec]
    assert [each.spec for each in stacked][:2] == ["i2c+xfp", "i2c+eeprom"]
    assert "others fit as well" in stacked[1].reasons[-1]


def test_a_module_is_known_by_its_identifier_byte() -> None:
    """INF-8077i: byte 0 is 06h; an SFP would say 03h (SFF-8472)."""
    source = SourceChoice().open(real_capture("xfp.sr"), ReadSettings())
    found = {each.spec: each.reasons for each in guess(source, load_decoders()).proposals}
    assert found["i2c+xfp"][-1] == "the identifier byte is that of it, 06h"
    assert "i2c+sfp" not in found


@pytest.mark.parametrize(
    ("sent", "answered", "says"),
    [
        (["9f000000"], ["00ef4018"], "answers RDID with ef4018"),
        (["9f000000", "0300001000000000"], ["00c22017", "00000000deadbeef"], "RDID with c22017"),
        (["0300001000000000"], ["00000000deadbeef"], "1 event, 0 errors"),
        (["06", "0200001001020304", "0500"], ["00", "0000000000000000", "0003"], "3 events"),
    ],
    ids=["identity", "identity-and-read", "read", "program"],
)
def test_a_flash_is_known_by_few_commands(
    sent: list[str], answered: list[str], says: str, tmp_path: Path
) -> None:
    steps = [
        step
        for out, back in zip(sent, answered, strict=True)
        for step in spi_words(bytes.fromhex(out), bytes.fromhex(back), 0)
    ]
    found = proposed(draw(steps, ("cs", "clk", "mosi", "miso")), tmp_path).proposals
    (flash,) = [each for each in found if each.spec.endswith("+spiflash")]
    assert any(says in reason for reason in flash.reasons), flash.reasons


@pytest.mark.parametrize(
    ("sent", "answered"),
    [(["9f000000"], ["00000000"]), (["9f000000"], ["00ffffff"]), (["a7b3c1d9"], ["00112233"])],
    ids=["no-answer", "pulled-up", "other-commands"],
)
def test_no_flash_is_proposed_where_nothing_answers_as_one(
    sent: list[str], answered: list[str], tmp_path: Path
) -> None:
    steps = spi_words(bytes.fromhex(sent[0]), bytes.fromhex(answered[0]), 0)
    found = proposed(draw(steps, ("cs", "clk", "mosi", "miso")), tmp_path).proposals
    assert not [each.spec for each in found if "spiflash" in each.spec]


@pytest.mark.parametrize(
    ("samples", "spec", "why"),
    [
        (134, "baud=74880", "74,880 Bd, a standard rate"),
        (130, "baud=76800", "76,800 Bd, a standard rate"),
        (85, "baud=115200", "115,200 Bd, a standard rate, 117,647 Bd measured"),
    ],
)
def test_a_standard_rate_that_is_near_is_proposed_and_what_was_measured_is_told(
    samples: int, spec: str, why: str, tmp_path: Path
) -> None:
    best = proposed(uart(samples), tmp_path).proposals[0]
    assert best.spec == f"uart:rx=line,{spec}"
    assert best.why[0] == why


def test_a_rate_that_is_none_of_the_standard_ones_is_told_with_less_certainty(
    tmp_path: Path,
) -> None:
    """Equal evidence else: the same text, each pulse explained, the line called rx."""
    usual, odd = (
        proposed(replace(uart(samples), channels=("rx",)), tmp_path).proposals[0]
        for samples in (87, 417)
    )
    assert (usual.spec, odd.spec) == ("uart:baud=115200", "uart:baud=23981")
    assert (usual.against, odd.against) == ((), ("23,981 Bd, no standard rate",))
    assert usual.score > odd.score
    assert usual.stated > odd.stated
    assert odd.stated <= 0.95


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("samples", [40, 20])
@pytest.mark.parametrize("other", [20, 60])
def test_a_line_of_hardly_anything_but_zeros_with_pauses_is_read_at_its_own_rate(
    other: int, samples: int, inverted: bool, tmp_path: Path
) -> None:
    """Nearly all pulses are 9 bits or a pause of 5.7: a rate of which those are one bit each has fewer errors."""
    widths = [25, 3.2]  # a break, and the mark after it (ANSI E1.11, 8)
    for number in range(240):
        widths += [1, 13.7] if number % other == 7 else [9, 5.7]
    places = np.rint(np.cumsum([40, *widths]) * samples).astype(np.int64)
    value = (np.arange(len(places) + 1) + 1 - inverted) % 2
    edges = Edges(
        np.concatenate(([0], places)),
        value.astype(np.uint64),
        ("dmx",),
        RATE_HZ,
        0,
        int(places[-1]) + 400,
    )
    best = proposed(edges, tmp_path).proposals[0]
    assert best.spec == f"uart:baud={RATE_HZ // samples}" + ",invert=yes" * inverted
