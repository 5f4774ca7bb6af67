"""On every real capture our table and what sigrok-cli prints are the same: samples, class, texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.decoders.run import decode_file
from tests.capture.files.captures import real_capture, without_idle
from tests.decoders.srd.sigrok_side import our_lines, sigrok_lines, table_lines

I2C = ("i2c:scl=SCL:sda=SDA", "srd-i2c:scl=SCL,sda=SDA")
JTAG = (
    "jtag:tdi=TDI:tdo=TDO:tck=TCK:tms=TMS:trst=TRST",
    "srd-jtag:tdi=TDI,tdo=TDO,tck=TCK,tms=TMS,trst=TRST",
)
SPI = (
    "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS",
    "srd-spi:clk=CLK,miso=MISO,mosi=MOSI,cs=CS",
)
XFP, EEPROM = "xfp.sr", "24aa025uid_bytewrite16_6ms_delay.sr"
COUNT, AMPEL = "uart_count_19200_8n1.sr", "ampel64_4800_8n1_frame_errors.sr"
OLIMEX, ENC = "olimex_stm32-h103_irscan_drscan.sr", "enc28j60-init-and-ping.sr"
CASES = [
    (XFP, *I2C, 11_498),
    (XFP, f"{I2C[0]},xfp", f"{I2C[1]}+srd-xfp", 168),
    (XFP, f"{I2C[0]},i2cfilter:address=80,eeprom24xx",
     f"{I2C[1]}+srd-i2cfilter:address=80+srd-eeprom24xx", 1),
    (EEPROM, *I2C, 1),
    (EEPROM, f"{I2C[0]},eeprom24xx:chip=microchip_24aa025uid",
     f"{I2C[1]}+srd-eeprom24xx:chip=microchip_24aa025uid", 1),
    ("lan8720a_read_all_plugged.sr", "mdio:mdc=MDC:mdio=MDIO", "srd-mdio", 2304),
    ("clause45_read_no_address.sr", "mdio:mdc=MDC:mdio=MDIO", "srd-mdio:mdc=MDC", 1),
    (COUNT, "uart:rx=rx:tx=tx:baudrate=19200", "srd-uart:baudrate=19200", 1),
    (COUNT, "uart:rx=rx:tx=tx:baudrate=19200:format=dec,modbus",
     "srd-uart:baudrate=19200,format=dec+srd-modbus", 1),
    (AMPEL, "uart:rx=RX:tx=TX:baudrate=4800", "srd-uart:baudrate=4800", 1),
    (AMPEL, "uart:rx=RX:tx=TX:baudrate=4800,midi", "srd-uart:baudrate=4800+srd-midi", 1),
    (AMPEL, "counter:data=TX", "srd-counter:data=TX", 1),
    (AMPEL, "timing:data=TX", "srd-timing:data=TX", 1),
    (AMPEL, "guess_bitrate:data=TX", "srd-guess_bitrate:data=TX", 1),
    (EEPROM, "parallel:clk=SCL:d0=SDA:d3=2", "srd-parallel:clk=SCL,d0=SDA,d3=2", 1),
    (OLIMEX, *JTAG, 1),
    (OLIMEX, f"{JTAG[0]},jtag_stm32", f"{JTAG[1]}+srd-jtag_stm32", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "theirs", "spec", "at_least"), CASES, ids=[f"{c[0][:7]}-{c[2]}" for c in CASES]
)
def test_a_real_capture_gives_what_sigrok_cli_prints(
    file: str, theirs: str, spec: str, at_least: int
) -> None:
    path = real_capture(file)
    top = theirs.rpartition(",")[2].partition(":")[0]
    said = sigrok_lines(path, theirs, top)
    assert our_lines(path, spec) == said
    assert len(said) >= at_least


def test_a_long_real_capture_gives_what_sigrok_cli_prints(tmp_path: Path) -> None:
    path = without_idle(real_capture(ENC), tmp_path / ENC)
    said = sigrok_lines(path, f"{SPI[0]},enc28j60", "spi,enc28j60")
    spi, enc = decode_file(path, [SPI[1], f"{SPI[1]}+srd-enc28j60"])
    assert table_lines(spi.table) == [line for line in said if " spi-1: " in line]
    assert table_lines(enc.table) == [line for line in said if " enc28j60-1: " in line]
    assert spi.table.num_rows > 100_000
    assert enc.table.num_rows > 1000
