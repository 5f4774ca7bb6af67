"""What registers of a debug port and of a MEM-AP are called.

Source: Arm IHI 0031, ADIv5.2, B2.2 (by address and DPBANKSEL), C2.6 (by address and APBANKSEL).
"""

_ANY = -1
# (address, bank): name; those that differ, for reads and for writes.
_DP_READ = {
    **{(0x0, bank): "DPIDR" for bank in range(_ANY, 16)},
    (0x4, _ANY): "CTRL/STAT",
    (0x4, 0): "CTRL/STAT",
    (0x4, 1): "DLCR",
    (0x4, 2): "TARGETID",
    (0x4, 3): "DLPIDR",
    (0x4, 4): "EVENTSTAT",
    **{(0x8, bank): "RESEND" for bank in range(_ANY, 16)},
    **{(0xC, bank): "RDBUFF" for bank in range(_ANY, 16)},
}
_DP_WRITE = {
    **{(0x0, bank): "ABORT" for bank in range(_ANY, 16)},
    (0x4, _ANY): "CTRL/STAT",
    (0x4, 0): "CTRL/STAT",
    (0x4, 1): "DLCR",
    **{(0x8, bank): "SELECT" for bank in range(_ANY, 16)},
    **{(0xC, bank): "TARGETSEL" for bank in range(_ANY, 16)},
}
_AP = {
    (0x0, 0x0): "CSW",
    (0x4, 0x0): "TAR",
    (0x8, 0x0): "TAR high",
    (0xC, 0x0): "DRW",
    (0x0, 0x1): "BD0",
    (0x4, 0x1): "BD1",
    (0x8, 0x1): "BD2",
    (0xC, 0x1): "BD3",
    (0x0, 0x2): "MBT",
    (0x0, 0xF): "BASE high",
    (0x4, 0xF): "CFG",
    (0x8, 0xF): "BASE",
    (0xC, 0xF): "IDR",
}


def register_name(ap: bool, read: bool, address: int, bank: int) -> str:
    """Return the name of a register, empty where there is none; ``bank`` -1 is not known."""
    names = _AP if ap else _DP_READ if read else _DP_WRITE
    return names.get((address, bank), "")
