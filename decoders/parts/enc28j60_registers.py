"""Control registers of the ENC28J60 by bank and address.

Source: Microchip DS39662E, table 3-1 (control register map).
"""

from __future__ import annotations

COMMON_FROM = 0x1B  # these addresses are the same register in all banks
ECON2, ECON1 = 0x1E, 0x1F

_COMMON = "EIE EIR ESTAT ECON2 ECON1"
_BANKS = (
    "ERDPTL ERDPTH EWRPTL EWRPTH ETXSTL ETXSTH ETXNDL ETXNDH ERXSTL ERXSTH ERXNDL ERXNDH "
    "ERXRDPTL ERXRDPTH ERXWRPTL ERXWRPTH EDMASTL EDMASTH EDMANDL EDMANDH EDMADSTL EDMADSTH "
    "EDMACSL EDMACSH - - Reserved",
    "EHT0 EHT1 EHT2 EHT3 EHT4 EHT5 EHT6 EHT7 EPMM0 EPMM1 EPMM2 EPMM3 EPMM4 EPMM5 EPMM6 EPMM7 "
    "EPMCSL EPMCSH - - EPMOL EPMOH Reserved Reserved ERXFCON EPKTCNT Reserved",
    "MACON1 Reserved MACON3 MACON4 MABBIPG - MAIPGL MAIPGH MACLCON1 MACLCON2 MAMXFLL MAMXFLH "
    "Reserved Reserved Reserved - Reserved Reserved MICMD - MIREGADR Reserved MIWRL MIWRH MIRDL "
    "MIRDH Reserved",
    "MAADR5 MAADR6 MAADR3 MAADR4 MAADR1 MAADR2 EBSTSD EBSTCON EBSTCSL EBSTCSH MISTAT - - - - - - "
    "- EREVID - - ECOCON Reserved EFLOCON EPAUSL EPAUSH Reserved",
)

# REGISTERS[bank][address]; "-" is not there, "Reserved" must not be touched.
REGISTERS = tuple(tuple(f"{bank} {_COMMON}".split()) for bank in _BANKS)

# Name to (bank, address); a common register stands with the first bank.
ADDRESSES = {
    name: (number, address)
    for number, bank in reversed(list(enumerate(REGISTERS)))
    for address, name in enumerate(bank)
    if name not in ("-", "Reserved")
}
