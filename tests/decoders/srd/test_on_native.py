"""Decoders on a native one: the installed ones say what they say on sigrok's; one that fails is one line."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.contract import EDGES
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.spec import parse_spec
from freezeframe.decoders.srd.fed_stream import FEEDERS
from tests.capture.files.captures import metadata, real_capture, without_idle, write_session
from tests.decoders.srd.native_side import I2C, SPI, held, spi_bus
from tests.decoders.srd.sigrok_side import add_decoder, table_lines, workers_of

XFP, EEPROM = "xfp.sr", "24aa025uid_bytewrite16_6ms_delay.sr"
COUNT, AMPEL = "uart_count_19200_8n1.sr", "ampel64_4800_8n1_frame_errors.sr"
ENC = "enc28j60-init-and-ping.sr"


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = workers_of()
    yield
    assert workers_of() == before


# Every decoder that is installed and takes one of the three, on the capture of its bus that has
# most on it.
CAPTURES = {
    "srd.spi": (None, *SPI),
    "srd.i2c": (XFP, *I2C),
    "srd.uart": (AMPEL, "uart:rx=TX,baud=4800", "srd-uart:rx=TX,baudrate=4800"),
}


@pytest.mark.parametrize("kind", sorted(CAPTURES))
def test_every_installed_decoder_says_the_same_on_ours_as_on_sigroks(
    registry: Registry, kind: str, tmp_path: Path
) -> None:
    file, ours, theirs = CAPTURES[kind]
    if file is None:
        # The real one has a billion samples.
        bus = b"".join(spi_bus(random.Random(seed), 0, 8) for seed in range(10))
        meta = metadata(["CLK", "MISO", "MOSI", "CS"])
        path = write_session(tmp_path / "spi.sr", [bus], meta)
    else:
        path = real_capture(file)
    decoders = registry.decoders.values()
    tops = sorted(d.id for d in decoders if d.consumes == kind and "ff_seen" not in d.id)
    assert len(tops) >= 8
    silent = []
    for top in tops:
        both = []
        for base in (ours, theirs):
            try:
                ((_, table),) = decode_file(path, [f"{base}+{top}"], registry=registry)
            except FreezeframeError as error:
                # The exception and its place; where in the samples it came differs.
                both.append([str(error).rpartition(": decoder ")[2]])
            else:
                both.append(table_lines(table))
        assert both[0] == both[1], top
        if not both[0]:
            silent.append(top)
    assert len(silent) < len(tops) / 2, silent


@pytest.mark.parametrize(
    ("file", "ours", "theirs", "top", "at_least"),
    [
        (XFP, *I2C, "srd-xfp", 168),
        (XFP, *I2C, "srd-i2cfilter:address=80+srd-eeprom24xx", 1),
        (XFP, *I2C, "srd-ff_seen_i2c", 3833),
        (EEPROM, *I2C, "srd-eeprom24xx:chip=microchip_24aa025uid", 1),
        (EEPROM, *I2C, "srd-ff_seen_i2c", 20),
        (COUNT, "uart:rx=tx,baud=19200", "srd-uart:rx=tx,baudrate=19200", "srd-modbus", 1),
        (COUNT, "uart:rx=tx,baud=19200", "srd-uart:rx=tx,baudrate=19200", "srd-ff_seen_uart", 100),
        (AMPEL, "uart:rx=TX,baud=4800", "srd-uart:rx=TX,baudrate=4800", "srd-midi", 1),
    ],
)  # fmt: skip
def test_a_real_capture_gives_the_same_on_ours_as_on_sigroks(
    registry: Registry, file: str, ours: str, theirs: str, top: str, at_least: int
) -> None:
    path = real_capture(file)
    (_, found), (_, want) = decode_file(
        path, [f"{ours}+{top}", f"{theirs}+{top}"], registry=registry
    )
    assert table_lines(found) == table_lines(want)
    assert want.num_rows >= at_least


def test_a_long_real_capture_gives_the_same_on_ours_as_on_sigroks(tmp_path: Path) -> None:
    path = without_idle(real_capture(ENC), tmp_path / ENC)
    (_, found), (_, want) = decode_file(path, [f"{base}+srd-enc28j60" for base in SPI])
    assert found.equals(want)
    assert want.num_rows > 5000


@pytest.fixture
def bus(tmp_path: Path) -> Path:
    """SPI with cs low from sample 4 on: words 0x00 to 0x1f on MOSI, 4 samples a bit."""
    levels = [8, 8]
    for word in range(32):
        for bit in range(7, -1, -1):
            mosi = (word >> bit & 1) << 2
            levels += [mosi, mosi | 1]
    meta = metadata(["CLK", "MISO", "MOSI", "CS"])
    return write_session(tmp_path / "bus.sr", [held([*levels, 8, 8])], meta)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "if packet[0] == 'DATA' and packet[1] == 9: raise ValueError('no more')",
            r"^sigrok decoder ff_bad on spi: \d+ rows of spi in samples 0 to 1032: "
            r"decoder ff_bad raised ValueError: no more \(ff_bad/pd\.py line 25\)$",
        ),
        ("os.kill(os.getpid(), 11)", r"^sigrok decoder ff_bad on spi: .*died of SIGSEGV"),
        ("os._exit(3)", r"^sigrok decoder ff_bad on spi: .*ended with code 3$"),
        ("raise SystemExit(0)", r"ff_bad raised SystemExit: 0"),
        ("self.put(ss, es, self.ann, [7, ['x']])", r"annotation of class 7"),
        ("x = [0]\nwhile True: x *= 2", r"MemoryError|worker process"),
    ],
    ids=["exception", "signal", "exit", "SystemExit", "class", "memory"],
)
def test_a_decoder_that_fails_on_ours_is_one_line(
    bus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setenv("SIGROKDECODE_DIR", str(tmp_path / "decoders"))
    add_decoder(tmp_path / "decoders", "ff_bad", body, inputs="['spi']")
    with pytest.raises(FreezeframeError, match=message) as found:
        decode_file(bus, [f"{SPI[0]}+srd-ff_bad"])
    assert "\n" not in str(found.value)


def test_a_decoder_that_hangs_on_ours_is_ended(
    bus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGROKDECODE_DIR", str(tmp_path / "decoders"))
    add_decoder(tmp_path / "decoders", "ff_bad", "while True: pass", inputs="['spi']")
    registry = load_decoders()
    monkeypatch.setenv("FREEZEFRAME_SIGROK_TIMEOUT_S", "0.5")
    with pytest.raises(FreezeframeError, match=r"ff_bad on spi: .*no answer within 0\.5 s"):
        decode_file(bus, [f"{SPI[0]}+srd-ff_bad"], registry=registry)


def test_more_rows_than_a_chunk_holds_come_in_order(registry: Registry, tmp_path: Path) -> None:
    # 16 rounds of 4,096 words of 4 bits: 9 numbers a row, 14,563 rows a chunk.
    levels = [8, 0]
    for word in range(1 << 16):
        levels += [level for bit in (8, 4, 2, 1) for level in ((word & bit > 0) << 2, 1)]
    levels = [level if level != 1 else 1 | levels[n - 1] for n, level in enumerate(levels)]
    meta = metadata(["CLK", "MISO", "MOSI", "CS"])
    path = write_session(tmp_path / "long.sr", [bytes([*levels, 8])], meta)
    ((_, table),) = decode_file(path, [f"{SPI[0]},word_bits=4+srd-ff_seen_spi"], registry=registry)
    data = [text for text in table.column("text").to_pylist() if text.startswith("['DATA'")]
    assert data == [f"['DATA', {word & 15}, 0]" for word in range(1 << 16)]


def test_a_stack_needs_objects_that_fit(registry: Registry) -> None:
    for name, kind in (("spi", "srd.spi"), ("i2c", "srd.i2c"), ("uart", "srd.uart")):
        decoder = registry.find(name)
        assert decoder.sigrok == kind
        assert decoder.consumes == EDGES
        assert set(FEEDERS[kind].tables) <= {output.kind for output in decoder.produces}
    with pytest.raises(InputError, match=r"srd-spiflash takes srd\.spi, but i2c makes i2c\.bytes"):
        parse_spec("i2c+srd-spiflash", registry)
    with pytest.raises(InputError, match=r"srd-jtag_stm32 takes srd\.jtag, but jtag makes"):
        parse_spec("jtag+srd-jtag_stm32", registry)


def test_a_plug_in_that_promises_objects_without_their_tables_is_refused(
    registry: Registry, bus: Path
) -> None:
    for kind, said in (("srd.spi", "spi.words"), ("srd.can", "uart")):
        spi = registry.find("spi")
        less = tuple(output for output in spi.produces if output.kind != said)
        liar = replace(spi, id="liar", produces=less, sigrok=kind)
        top = replace(registry.find("srd-spiflash"), consumes=kind)
        both = Registry({"liar": liar, "srd-spiflash": top}, ())
        message = rf"^decoder liar is wrong: objects {kind} of sigrok cannot be made from spi\."
        with pytest.raises(InputError, match=message):
            decode_file(bus, ["liar:clk=CLK,mosi=MOSI,cs=CS+srd-spiflash"], registry=both)


def test_a_plug_in_that_promises_objects_without_their_options_is_refused(
    registry: Registry, bus: Path
) -> None:
    liar = replace(registry.find("spi"), id="liar", options=())
    both = Registry({"liar": liar, "srd-spiflash": registry.find("srd-spiflash")}, ())
    with pytest.raises(
        InputError, match=r"^decoder liar is wrong: .* without an option 'word_bits'"
    ):
        decode_file(bus, ["liar:clk=CLK,mosi=MOSI,cs=CS+srd-spiflash"], registry=both)


def test_several_stacks_on_one_native_decoder_run_beside_each_other(
    registry: Registry, bus: Path
) -> None:
    spec = f"{SPI[0]}+srd-ff_seen_spi"
    one, two, native = decode_file(bus, [spec, spec, SPI[0]], registry=registry)[:3]
    assert (one.name, two.name) == ("spi+srd-ff_seen_spi", "spi+srd-ff_seen_spi#2")
    assert one.table.equals(two.table)
    assert native.table["kind"].to_pylist() == ["word"] * 32
    assert sum(text.startswith("['DATA'") for text in one.table["text"].to_pylist()) == 32
    assert one.table["t_ps"][0].as_py() == 0
