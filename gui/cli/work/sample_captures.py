"""``freezeframe demo --samples DIR``: small captures of our own making, to try the decoders on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from freezeframe.decoders.serial.uart_encode import encode_characters
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable, shell_path

# Registers 0 to 5 of a PHY whose link is up at 100 Mb/s, full duplex (IEEE 802.3-2018, 22.2.4).
_PHY = (0x3100, 0x782D, 0x0007, 0xC0F1, 0x01E1, 0x45E1)
_CONSOLE = b"boot 1.0\r\neth0: link up, 100 Mb/s full\r\n"
_ERASED = b"\xff" * 4
# To the chip, from it: identify, write enable, page program, status busy then ready, read.
_FLASH = (
    (b"\x9f\0\0\0", b"\0\xef\x40\x18"),
    (b"\x06", b"\0"),
    (b"\x02\x00\x01\x00MAC0", b"\0" * 8),
    (b"\x05\0\0", b"\0\x03\x00"),
    (b"\x03\x00\x01\x00" + b"\0" * 8, b"\0" * 4 + b"MAC0" + _ERASED),
)


def _phy() -> Edges:
    frames = [MdioFrame(22, "read", 1, register, data) for register, data in enumerate(_PHY)]
    return encode_frames(frames, samplerate_hz=25_000_000)


def _console() -> Edges:
    return encode_characters(_CONSOLE, samplerate_hz=1_000_000, baud=115_200, name="TXD")


def _flash() -> Edges:
    transfers = [SpiTransfer(mosi, miso) for mosi, miso in _FLASH]
    return encode_transfers(transfers, samplerate_hz=10_000_000)


_SAMPLES: tuple[tuple[str, Callable[[], Edges], str], ...] = (
    ("phy.sr", _phy, "-d mdio"),
    ("console.sr", _console, "-d uart --as text"),
    ("flash.sr", _flash, "-d spi+spiflash"),
)


def write_sample_captures(folder: Path, *, force: bool) -> None:
    """Write the captures and print how each is decoded.

    Raises:
        InputError: one is there and ``force`` is not given, or the folder cannot be written.
    """
    refuse_evidence(folder)
    for name, _, _ in _SAMPLES:
        if (folder / name).exists() and not force:
            raise InputError(f"{folder / name}: exists already; --force replaces it")
    folder.mkdir(parents=True, exist_ok=True)
    for name, edges, how in _SAMPLES:
        write_sr(edges(), folder / name)
        print(printable(f"freezeframe decode {shell_path(str(folder / name))} {how}"))
