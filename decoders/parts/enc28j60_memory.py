"""The state of an ENC28J60 as far as the bus shows it: registers, buffer memory, frames.

Source: Microchip DS39662E, 3.2 (buffer memory), 7.1 (transmitting), 7.2 (receiving), tables 7-1
and 7-3.
"""

from __future__ import annotations

from dataclasses import dataclass

from freezeframe.decoders.net.ethernet import FCS_B, EthernetFrame
from freezeframe.decoders.parts.enc28j60_registers import ADDRESSES, COMMON_FROM, ECON1, ECON2

_MEMORY_B = 0x2000
_RESET_REGISTERS = {
    "ERDPT": 0x05FA,
    "ERXST": 0x05FA,
    "ERXND": 0x1FFF,
    "EWRPT": 0,
    "ETXST": 0,
    "ETXND": 0,
}  # table 3-2
_BSEL, _TXRTS = 0x03, 0x08  # ECON1
_PKTDEC, _AUTOINC = 0x40, 0x80  # ECON2
_TXCRCEN, _PADCFG = 0x10, 0xE0  # MACON3
_POVERRIDE, _PCRCEN, _PPADEN = 1, 2, 4  # per-packet control byte
_STATUS_B = 6  # next packet pointer, then the receive status vector
_CRC_ERROR, _RECEIVED_OK = 0x10, 0x80  # bits 20 and 23 of the vector, in its third byte
_LONGEST_B = 0x1FFF


@dataclass(frozen=True, slots=True)
class When:
    """The time of an operation."""

    t_ps: int
    t_end_ps: int


class Chip:
    """Follows the operations on one chip; what was never written is not known."""

    def __init__(self) -> None:
        self.bank_bits: list[int | None] = [None, None]
        self._registers: dict[tuple[int, int], int] = {}
        self._autoinc = True
        self._memory: dict[int, int] = {}
        self._written = b""  # by the last write of buffer memory
        self._reads: list[tuple[int | None, bytes, When]] = []

    @property
    def bank(self) -> int:
        """The bank that is selected, -1 when that is not known."""
        low, high = self.bank_bits
        return -1 if low is None or high is None else high << 1 | low

    def reset(self) -> None:
        """Take the system reset command. Buffer memory stays as it is."""
        self._registers.clear()
        for name, value in _RESET_REGISTERS.items():
            self._set_pointer(name, value)
        self.bank_bits = [0, 0]
        self._autoinc = True
        self._reads.clear()

    def write(self, address: int, value: int, when: When) -> list[EthernetFrame]:
        """Write a control register; return the frames that this sends or releases."""
        if address < COMMON_FROM and self.bank >= 0:
            self._registers[self.bank, address] = value
        return self._control(address, value, value ^ 0xFF, when)

    def set_bits(self, address: int, mask: int, when: When) -> list[EthernetFrame]:
        """Set bits of a control register; return the frames that this sends or releases."""
        key = self.bank, address
        if key in self._registers:
            self._registers[key] |= mask
        return self._control(address, mask, 0, when)

    def clear_bits(self, address: int, mask: int, when: When) -> list[EthernetFrame]:
        """Clear bits of a control register."""
        key = self.bank, address
        if key in self._registers:
            self._registers[key] &= ~mask
        return self._control(address, 0, mask, when)

    def read_memory(self, data: bytes, when: When) -> int:
        """Take bytes read from buffer memory; return their address, -1 when it is not known."""
        address = self._pointer("ERDPT")
        if self._is_received(address):
            self._reads.append((address, data, when))
        if address is not None and self._autoinc:
            self._set_pointer("ERDPT", self._after(address, len(data)))
        return -1 if address is None else address

    def write_memory(self, data: bytes) -> int:
        """Take bytes written to buffer memory; return their address, -1 when it is not known."""
        self._written = data
        address = self._pointer("EWRPT")
        if address is None:
            return -1
        step = int(self._autoinc)
        for number, byte in enumerate(data):
            self._memory[(address + step * number) % _MEMORY_B] = byte
        self._set_pointer("EWRPT", (address + step * len(data)) % _MEMORY_B)
        return address

    def received(self) -> list[EthernetFrame]:
        """Return the frame in what was read since the last one was released, if anything was."""
        reads, self._reads = self._reads, []
        if not reads:
            return []
        when = When(reads[0][2].t_ps, reads[-1][2].t_end_ps)
        data = self._joined(reads)
        following, size_B = (int.from_bytes(data[at : at + 2], "little") for at in (0, 2))
        if len(data) < _STATUS_B or following >= _MEMORY_B or not FCS_B <= size_B <= _LONGEST_B:
            return [self._frame(when, "received", data, error="no-status")]
        body = data[_STATUS_B : _STATUS_B + size_B]
        status = data[4]
        verdict = False if status & _CRC_ERROR else (True if status & _RECEIVED_OK else None)
        frame, tail = body[: size_B - FCS_B], body[size_B - FCS_B :]
        return [
            self._frame(
                when,
                "received",
                frame,
                fcs=int.from_bytes(tail, "little") if len(tail) == FCS_B else None,
                fcs_ok=verdict,
                error="" if len(frame) == size_B - FCS_B else "part-read",
            )
        ]

    def _control(self, address: int, ones: int, zeros: int, when: When) -> list[EthernetFrame]:
        """Take bits that become 1 and 0 in ECON1 and ECON2."""
        if address == ECON1:
            for bit in (0, 1):
                if ones >> bit & 1:
                    self.bank_bits[bit] = 1
                elif zeros >> bit & 1:
                    self.bank_bits[bit] = 0
            return [self._sent(when)] if ones & _TXRTS else []
        if address == ECON2:
            if (ones | zeros) & _AUTOINC:
                self._autoinc = bool(ones & _AUTOINC)
            return self.received() if ones & _PKTDEC else []
        return []

    def _sent(self, when: When) -> EthernetFrame:
        start, end = self._pointer("ETXST"), self._pointer("ETXND")
        if start is None or end is None or end < start:
            # The control byte is before the frame.
            return self._frame(when, "sent", self._written[1:], error="unknown-bounds")
        known = []
        for address in range(start, end + 1):
            if address not in self._memory:
                break
            known.append(self._memory[address])
        data = bytes(known[1:])
        if len(known) <= end - start:
            return self._frame(when, "sent", data, error="part-written")
        if self._adds_fcs(known[0]) or len(data) < FCS_B:
            return self._frame(when, "sent", data)
        fcs = int.from_bytes(data[-FCS_B:], "little")
        return self._frame(when, "sent", data[:-FCS_B], fcs=fcs)

    def _adds_fcs(self, control: int) -> bool:
        if control & _POVERRIDE:
            return bool(control & (_PCRCEN | _PPADEN))
        macon3 = self._registers.get(ADDRESSES["MACON3"])
        # Where nobody set it in the capture: as every driver does.
        return macon3 is None or bool(macon3 & (_TXCRCEN | _PADCFG))

    def _frame(
        self,
        when: When,
        direction: str,
        data: bytes,
        *,
        fcs: int | None = None,
        fcs_ok: bool | None = None,
        error: str = "",
    ) -> EthernetFrame:
        # What is sent without a check sequence is padded by the chip.
        checked = direction == "received" or fcs is not None
        return EthernetFrame(when.t_ps, when.t_end_ps, direction, data, fcs, fcs_ok, error, checked)

    def _pointer(self, name: str) -> int | None:
        low, high = (self._registers.get(ADDRESSES[f"{name}{half}"]) for half in "LH")
        return None if low is None or high is None else (high << 8 | low) % _MEMORY_B

    def _set_pointer(self, name: str, value: int) -> None:
        self._registers[ADDRESSES[f"{name}L"]] = value & 0xFF
        self._registers[ADDRESSES[f"{name}H"]] = value >> 8

    def _is_received(self, address: int | None) -> bool:
        """Whether bytes at the address are from the receive buffer, as far as is known."""
        start, end = self._pointer("ERXST"), self._pointer("ERXND")
        if address is None or start is None or end is None:
            return True
        return start <= address <= end

    def _after(self, address: int, count: int) -> int:
        """Return the read pointer after ``count`` bytes: it wraps where the receive buffer does."""
        start, end = self._pointer("ERXST"), self._pointer("ERXND")
        if start is not None and end is not None and start <= address <= end:
            return start + (address - start + count) % (end - start + 1)
        return (address + count) % _MEMORY_B

    def _joined(self, reads: list[tuple[int | None, bytes, When]]) -> bytes:
        """Return what was read as one run of bytes, up to the first that is missing.

        Reads of the same bytes count once: a driver may look at the status first and then read the
        whole packet.
        """
        first = reads[0][0]
        if first is None or any(address is None for address, _, _ in reads):
            return b"".join(data for _, data, _ in reads)
        there: dict[int, int] = {}
        for address, data, _ in reads:
            for number, byte in enumerate(data):
                there[self._after(address or 0, number)] = byte
        joined = bytearray()
        while len(joined) < len(there):
            byte = there.get(self._after(first, len(joined)), -1)
            if byte < 0:
                break
            joined.append(byte)
        return bytes(joined)
