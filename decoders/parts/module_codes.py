"""Codes that the pages of pluggable modules share.

Source: SFF-8024 rev. 4.11, tables 4-1 (identifier), 4-2 (encoding), 4-3 (connector), 4-4 (extended
compliance).
"""

from __future__ import annotations

IDENTIFIERS = {
    0x00: "unspecified",
    0x01: "GBIC",
    0x02: "soldered to the board",
    0x03: "SFP",
    0x04: "300-pin XBI",
    0x05: "XENPAK",
    0x06: "XFP",
    0x07: "XFF",
    0x08: "XFP-E",
    0x09: "XPAK",
    0x0A: "X2",
    0x0B: "DWDM-SFP",
    0x0C: "QSFP",
    0x0D: "QSFP+",
    0x0E: "CXP",
    0x11: "QSFP28",
    0x18: "QSFP-DD",
}

CONNECTORS = {
    0x00: "unspecified",
    0x01: "SC",
    0x02: "Fibre Channel style 1 copper",
    0x03: "Fibre Channel style 2 copper",
    0x04: "BNC/TNC",
    0x05: "Fibre Channel coax",
    0x06: "Fiber Jack",
    0x07: "LC",
    0x08: "MT-RJ",
    0x09: "MU",
    0x0A: "SG",
    0x0B: "optical pigtail",
    0x0C: "MPO 1x12",
    0x0D: "MPO 2x16",
    0x20: "HSSDC II",
    0x21: "copper pigtail",
    0x22: "RJ45",
    0x23: "no separable connector",
    0x24: "MXC 2x16",
}

ENCODINGS = {
    0x00: "unspecified",
    0x01: "8B/10B",
    0x02: "4B/5B",
    0x03: "NRZ",
    0x04: "Manchester",
    0x05: "SONET scrambled",
    0x06: "64B/66B",
    0x07: "256B/257B",
    0x08: "PAM4",
}

EXTENDED_COMPLIANCE = {
    0x00: "unspecified",
    0x01: "25GAUI active optical cable, BER 5e-5",
    0x02: "25GBASE-SR",
    0x03: "25GBASE-LR",
    0x04: "25GBASE-ER",
    0x08: "25GAUI active copper cable, BER 5e-5",
    0x0B: "25GBASE-CR CA-25G-L",
    0x0C: "25GBASE-CR CA-25G-S",
    0x0D: "25GBASE-CR CA-25G-N",
    0x16: "10GBASE-T with SFI",
    0x1C: "10GBASE-T short reach",
    0x1D: "5GBASE-T",
    0x1E: "2.5GBASE-T",
}
