"""An Ethernet PHY on MDIO: registers with literal values in, their words and the reason of a link out."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.parts.phy import PHY
from freezeframe.decoders.parts.phy_code import phy_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.mdio import MDIO
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.capture.files.captures import real_capture

REGISTRY = Registry({"mdio": MDIO, "phy": PHY})


def decoded(
    folder: Path, *frames: MdioFrame, spec: str = "mdio+phy"
) -> tuple[list[str], list[str]]:
    """Return the texts of both tables."""
    path = folder / "phy.sr"
    write_sr(encode_frames(frames, samplerate_hz=10_000_000), path)
    registers, links = (
        [phy_texts(row).normal for row in table.table.to_pylist()]
        for table in decode_file(path, [spec], registry=REGISTRY)
    )
    return registers, links


def read(**registers: int) -> list[MdioFrame]:
    """Return reads of PHY 3: ``read(r1=0x7809)``."""
    return [
        MdioFrame(22, "read", phy=3, reg=int(name[1:]), data=value)
        for name, value in registers.items()
    ]


def links(folder: Path, **registers: int) -> list[str]:
    return decoded(folder, *read(**registers))[1]


def test_bits_of_registers_are_in_words_and_changed_bits_are_told(tmp_path: Path) -> None:
    frames = [
        *read(r0=0x3100, r1=0x7809, r2=0x0022),
        MdioFrame(22, "write", phy=3, reg=0, data=0x2100),
    ]
    registers, _ = decoded(tmp_path, *frames)
    assert registers == [
        "PHY 3 register 0 control -> 0x3100: auto-negotiation on",
        "PHY 3 register 1 status -> 0x7809: 100 full, 100 half, 10 full, 10 half, can negotiate, "
        "extended registers",
        "PHY 3 register 2 PHY identifier 1 -> 0x0022",
        "PHY 3 register 0 control <- 0x2100: 100 full",
    ]
    (table, _) = decode_file(tmp_path / "phy.sr", ["mdio+phy"], registry=REGISTRY)
    assert table.table.column("changed").to_pylist() == [0, 0, 0, 0x1000]


@pytest.mark.parametrize(
    ("registers", "why"),
    [
        # 28B.3: the best mode of both; 22.2.4.2.13: bit 2 of status is the link
        ({"r1": 0x782D, "r4": 0x01E1, "r5": 0xC1E1}, "up, 100 full"),
        ({"r1": 0x782D, "r4": 0x01E1, "r5": 0x4081}, "up, 100 half"),
        ({"r1": 0x796D, "r4": 0x01E1, "r5": 0xC1E1, "r9": 0x0200, "r10": 0x3800}, "up, 1000 full"),
        ({"r1": 0x796D, "r4": 0x01E1, "r5": 0xC1E1}, "up, 100 full or better: registers 9 and 10 were not read"),
        # no register 9 and 10 in a PHY of 100 Mbit/s: the bus gives ones
        ({"r1": 0x782D, "r4": 0x01E1, "r5": 0xC1E1, "r9": 0xFFFF, "r10": 0xFFFF}, "up, 100 full"),
        ({"r1": 0x7949, "r4": 0x0101, "r5": 0x4001, "r9": 0x0000, "r10": 0x0800},
         "down: no common mode: here 100 full; there 1000 full"),
        ({"r1": 0x7809, "r4": 0x0061, "r5": 0x4101}, "down: no common mode: here 10 full, 10 half; there 100 full"),
        ({"r1": 0x7809, "r4": 0x01E1, "r5": 0x0000},
         "down: nothing from the partner; no cable, no power there, or it does not negotiate"),
        ({"r1": 0x7809}, "down: why is not known, for own advertisement (register 4) and partner's ability "
         "(register 5) was not read"),
        ({"r0": 0x0800, "r1": 0x7809}, "down: powered down"),
        ({"r0": 0x1C00, "r1": 0x7809}, "down: powered down"),
        ({"r0": 0x1400, "r1": 0x7809}, "down: isolated from the MAC"),
        ({"r0": 0x2100, "r1": 0x7809}, "down, 100 full without auto-negotiation: the partner must be set to the "
         "same, and the cable whole"),
        ({"r0": 0x0140, "r1": 0x7969}, "down, 1000 full without auto-negotiation: the partner must be set to the "
         "same, and the cable whole"),
        ({"r0": 0x2000, "r1": 0x780D}, "up, 100 half without auto-negotiation"),
        ({"r1": 0x7819, "r4": 0x01E1, "r5": 0x61E1}, "down: the partner reports a fault"),
        ({"r1": 0x7809, "r6": 0x0010}, "down: parallel detection fault, the partner's signal fits more than one mode "
         "or breaks off"),
        ({"r1": 0x7949, "r9": 0x1A00, "r10": 0x8000}, "down: MASTER-SLAVE fault, both ends want the same role; this "
         "end is set to MASTER by hand"),
        ({"r1": 0x7949, "r4": 0x0001, "r5": 0x4001, "r9": 0x0200, "r10": 0x1800},
         "down: 1000 full is common, but the local receiver is not good: look at the four pairs"),
        ({"r1": 0x7829, "r4": 0x0101, "r5": 0x4101}, "down: 100 full is common, auto-negotiation complete; the link "
         "may have been lost only for a moment: read status twice"),
        # 1000BASE-X, by its register 15 or a selector of zeros (37.2.5.1)
        ({"r15": 0x8000, "r1": 0x0149, "r4": 0x0020, "r5": 0x4040},
         "down: no common mode: here 1000 full; there 1000 half"),
        ({"r1": 0x016D, "r4": 0x0020, "r5": 0x4020}, "up, 1000 full"),
    ],
)  # fmt: skip
def test_the_reason_of_a_link_is_what_its_registers_say(
    tmp_path: Path, registers: dict[str, int], why: str
) -> None:
    assert links(tmp_path, **registers) == [f"PHY 3 link {why}"]


def test_a_link_is_told_again_only_where_something_changed(tmp_path: Path) -> None:
    frames = [
        *read(r0=0x1000, r4=0x0101, r5=0x0000), *read(r1=0x7809), *read(r1=0x7809),
        *read(r5=0x4101), *read(r1=0x782D), *read(r1=0x782D),
    ]  # fmt: skip
    assert decoded(tmp_path, *frames)[1] == [
        "PHY 3 link down: nothing from the partner; no cable, no power there, or it does not negotiate",
        "PHY 3 link down: 100 full is common, auto-negotiation not complete",
        "PHY 3 link up, 100 full",
    ]


def test_what_nothing_answers_is_no_register(tmp_path: Path) -> None:
    """The pull-up gives ones, with the turnaround of nobody (22.2.4.5.5) or one that a bridge made."""
    silent = [MdioFrame(22, "read", phy=9, reg=1, data=0xFFFF, ta=0b11)]
    assert decoded(tmp_path, *silent) == ([], [])
    (tmp_path / "phy.sr").unlink()
    registers, told = decoded(tmp_path, *read(r1=0xFFFF))
    assert (registers, told) == (
        ["PHY 3 register 1 status -> 0xffff: all ones: nothing answers"],
        [],
    )


def test_clause_45_says_which_layer_has_no_link(tmp_path: Path) -> None:
    def status(device: int, value: int) -> list[MdioFrame]:
        return [
            MdioFrame(45, "address", phy=2, reg=device, data=1),
            MdioFrame(45, "read", phy=2, reg=device, data=value),
        ]

    registers, told = decoded(tmp_path, *status(1, 0x0006), *status(3, 0x0082), *status(3, 0x0002))
    assert registers[0] == (
        "port 2 device 1 PMA/PMD register 0x0001 status 1 -> 0x0006: link up, has low power"
    )
    assert told == ["port 2 PMA/PMD link up", "port 2 PCS link down, it reports a fault"]


def test_the_registers_of_a_real_phy_say_that_its_link_is_up() -> None:
    """A LAN8720A with a cable: ones in registers that it has not, MASTER-SLAVE status among them."""
    _, told = decode_file(
        real_capture("lan8720a_read_all_plugged.sr"), ["mdio+phy"], registry=REGISTRY
    )
    assert [phy_texts(row).normal for row in told.table.to_pylist()] == ["PHY 1 link up, 100 full"]
