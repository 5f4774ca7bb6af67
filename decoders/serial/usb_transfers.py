"""Transactions of USB to transfers: control transfers with their stages, and those of other endpoints.

Source: USB 2.0, 8.5 (transactions), 5.5 to 5.8 (transfer types).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.serial.usb_descriptors import SETUP_B, Setup, endpoint_kinds, in_words
from freezeframe.decoders.serial.usb_kernels import ACK, IN, NAK, OUT, SETUP, STALL

_NEEDED = (
    *("error", "sample", "end_sample", "token", "address", "endpoint"),
    *("first_byte", "bytes", "data_pid", "handshake"),
)
_Key = tuple[int, int]  # address of the device, endpoint with bit 7 for IN; 0 for control


@dataclass(slots=True)
class Transfer:
    """A transfer; ``status`` is the PID of its last handshake, -1 without one. Places are samples."""

    sample: int
    end_sample: int
    address: int
    endpoint: int
    setup: bytes = b""
    data: bytearray = field(default_factory=bytearray)
    status: int = -1
    naks: int = 0
    transactions: int = 0
    kind: str = "control"
    error: str = ""
    largest: int = 0  # packet, 0 where it is not known

    @property
    def reads(self) -> bool:
        return bool(self.setup[0] & 0x80) if self.setup else bool(self.endpoint & 0x80)

    @property
    def request(self) -> str:
        return Setup.of(self.setup).name if len(self.setup) == SETUP_B else ""

    @property
    def about(self) -> str:
        return in_words(Setup.of(self.setup), bytes(self.data)) if self.request else ""


class Transfers:
    """The transfers of a bus that go on, and what its devices said of their endpoints."""

    def __init__(self) -> None:
        self._open: dict[_Key, Transfer] = {}
        self._kinds: dict[_Key, tuple[str, int]] = {}

    def feed(self, rows: npt.NDArray[np.void], data: npt.NDArray[np.uint8]) -> list[Transfer]:
        """Take transactions, in the order of time; return the transfers that end with them."""
        ended: list[Transfer] = []
        octets = data.tobytes()
        columns = [rows[name].tolist() for name in _NEEDED]
        for error, begin, end, token, address, endpoint, first, size, data_pid, handshake in zip(
            *columns, strict=True
        ):
            if error or token < 0:
                continue
            key = (address, endpoint | (0x80 if token == IN and endpoint else 0))
            transfer = self._open.get(key)
            if token == SETUP:
                if transfer is not None:
                    transfer.error = "cut-transfer"
                    ended.append(transfer)
                transfer = None
            if transfer is None:
                transfer = self._open[key] = Transfer(begin, end, *key)
                if token != SETUP:
                    transfer.kind, transfer.largest = self._kinds.get(key, ("bulk or interrupt", 0))
            transfer.end_sample = end
            if handshake == NAK:
                transfer.naks += 1
                continue
            transfer.transactions += 1
            piece = octets[first : first + size]
            if self._goes_on(transfer, token, piece, data_pid, handshake):
                continue
            del self._open[key]
            ended.append(transfer)
            self._learn(transfer)
        return ended

    def rest(self) -> list[Transfer]:
        """Return what the end of the capture cut."""
        left = sorted(self._open.values(), key=lambda transfer: transfer.sample)
        for transfer in left:
            if transfer.transactions:
                transfer.error = "cut-transfer"
            else:
                transfer.status = NAK  # it was put off each time
        self._open = {}
        return left

    def _goes_on(
        self, transfer: Transfer, token: int, piece: bytes, data_pid: int, handshake: int
    ) -> bool:
        """Add a transaction; return whether more have to come."""
        transfer.status = handshake
        if token == SETUP:
            transfer.setup = piece
            return handshake == ACK and len(piece) == SETUP_B
        if transfer.setup:
            if (token == IN) != transfer.reads or (token == IN and _without_data(transfer)):
                return False  # the status stage
            if handshake == ACK:
                transfer.data += piece
            return handshake != STALL
        if handshake < 0:
            if transfer.kind in ("bulk", "interrupt"):
                transfer.error = "no-reply"
            elif data_pid >= 0:
                transfer.kind = "isochronous"
        if handshake >= 0 and transfer.endpoint & 0x7F == 0:
            transfer.kind = "control"
            transfer.error = "cut-transfer"
        if token in (IN, OUT) and handshake in (ACK, -1):
            transfer.data += piece
        full = transfer.largest and len(piece) == transfer.largest
        return bool(transfer.kind == "bulk" and full and handshake == ACK)

    def _learn(self, transfer: Transfer) -> None:
        """Keep what a configuration says of the endpoints of a device."""
        if not transfer.request or transfer.error:
            return
        if Setup.of(transfer.setup).descriptor == 2:
            for endpoint, said in endpoint_kinds(bytes(transfer.data)).items():
                self._kinds[transfer.address, endpoint] = said


def _without_data(transfer: Transfer) -> bool:
    return not transfer.reads or int.from_bytes(transfer.setup[6:8], "little") == 0
