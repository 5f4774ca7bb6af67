"""Names of the standard registers and devices that MDIO reaches.

Source: IEEE 802.3-2018, tables 22-6 (registers) and 45-1 (MDIO manageable devices).
"""

from __future__ import annotations

REGISTERS = {
    0: "control",
    1: "status",
    2: "PHY identifier 1",
    3: "PHY identifier 2",
    4: "auto-negotiation advertisement",
    5: "auto-negotiation link partner ability",
    6: "auto-negotiation expansion",
    7: "auto-negotiation next page transmit",
    8: "auto-negotiation link partner next page",
    9: "MASTER-SLAVE control",
    10: "MASTER-SLAVE status",
    11: "PSE control",
    12: "PSE status",
    13: "MMD access control",
    14: "MMD access address data",
    15: "extended status",
}

DEVICES = {
    1: "PMA/PMD",
    2: "WIS",
    3: "PCS",
    4: "PHY XS",
    5: "DTE XS",
    6: "TC",
    7: "auto-negotiation",
    8: "separated PMA (1)",
    9: "separated PMA (2)",
    10: "separated PMA (3)",
    11: "separated PMA (4)",
    29: "clause 22 extension",
    30: "vendor specific 1",
    31: "vendor specific 2",
}
