"""CRCs by the names of the catalogue of parametrised CRC algorithms.

Source: G. Cook, "Catalogue of parametrised CRC algorithms"; parameters as R. Williams's guide writes them.
"""

from __future__ import annotations

from freezeframe.capture.card.tables import CrcCheck
from freezeframe.decoders.crc import CRC16_IBM_3740, CRC32_ISO_HDLC, Crc

CATALOGUE: dict[str, Crc] = {
    crc.name: crc
    for crc in (
        Crc("CRC-8/SMBUS", 8, 0x07, 0x00, False, False, 0x00),
        Crc("CRC-8/I-432-1", 8, 0x07, 0x00, False, False, 0x55),
        Crc("CRC-8/ROHC", 8, 0x07, 0xFF, True, True, 0x00),
        Crc("CRC-8/AUTOSAR", 8, 0x2F, 0xFF, False, False, 0xFF),
        Crc("CRC-8/MAXIM-DOW", 8, 0x31, 0x00, True, True, 0x00),
        Crc("CRC-16/ARC", 16, 0x8005, 0x0000, True, True, 0x0000),
        Crc("CRC-16/MODBUS", 16, 0x8005, 0xFFFF, True, True, 0x0000),
        Crc("CRC-16/USB", 16, 0x8005, 0xFFFF, True, True, 0xFFFF),
        Crc("CRC-16/XMODEM", 16, 0x1021, 0x0000, False, False, 0x0000),
        Crc("CRC-16/KERMIT", 16, 0x1021, 0x0000, True, True, 0x0000),
        Crc("CRC-16/IBM-SDLC", 16, 0x1021, 0xFFFF, True, True, 0xFFFF),
        Crc("CRC-16/GENIBUS", 16, 0x1021, 0xFFFF, False, False, 0xFFFF),
        CRC16_IBM_3740,
        Crc("CRC-24/OPENPGP", 24, 0x864CFB, 0xB704CE, False, False, 0x000000),
        CRC32_ISO_HDLC,
        Crc("CRC-32/BZIP2", 32, 0x04C11DB7, 0xFFFFFFFF, False, False, 0xFFFFFFFF),
        Crc("CRC-32/MPEG-2", 32, 0x04C11DB7, 0xFFFFFFFF, False, False, 0x00000000),
        Crc("CRC-32/CKSUM", 32, 0x04C11DB7, 0x00000000, False, False, 0xFFFFFFFF),
        Crc("CRC-32/JAMCRC", 32, 0x04C11DB7, 0xFFFFFFFF, True, True, 0x00000000),
        Crc("CRC-32/ISCSI", 32, 0x1EDC6F41, 0xFFFFFFFF, True, True, 0xFFFFFFFF),
        Crc("CRC-64/XZ", 64, 0x42F0E1EBA9EA3693, (1 << 64) - 1, True, True, (1 << 64) - 1),
        Crc("CRC-64/ECMA-182", 64, 0x42F0E1EBA9EA3693, 0, False, False, 0),
    )
}


def crc_of_check(check: CrcCheck) -> Crc:
    """Return the CRC that a check of a card file names or describes.

    Raises:
        ValueError: the catalogue has no such name, or the parameters make no CRC that can be computed.
    """
    if check.crc:
        if check.crc not in CATALOGUE:
            raise ValueError(
                f"no CRC {check.crc!r} in the catalogue; known are {', '.join(CATALOGUE)}"
            )
        return CATALOGUE[check.crc]
    return Crc("own", check.width, check.poly, check.init, check.refin, check.refout, check.xorout)
