"""A target that logs every access as one line, so that grep finds who touched which register."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freezeframe.capture.card.registers import places_map
from freezeframe.capture.errors import TargetError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import MAP_SIZE
from freezeframe.capture.targets._checks import checked_addresses, checked_write
from freezeframe.capture.targets.base import Target, Words

_AT_FORMAT, _CARD_FORMAT = 4, 2
_PLACES = places_map()


class LoggedTarget:
    """Passes every call on, and hands each access to ``line``: ``A rd ctl.state addr=.. data=..``.

    The device is the letter of its place, the name that of the register map; where an access fails
    the line ends with ``fail=`` and the error.
    """

    def __init__(self, target: Target, line: Callable[[str], None]) -> None:
        self._target = target
        self._line = line
        self._map = names.MAP_1  # until a device says that it is of map 2

    @property
    def url(self) -> str:
        return self._target.url

    def read(self, addresses: Words | Sequence[int]) -> Words:
        asked = checked_addresses(addresses)
        try:
            words = self._target.read(asked)
        except TargetError as error:
            for address in asked.tolist():
                self._line(f"{self._place('rd', address)} fail={type(error).__name__}")
            raise
        for address, word in zip(asked.tolist(), words.tolist(), strict=True):
            if address == _AT_FORMAT and word >> 16 == _CARD_FORMAT:
                self._map = _PLACES
            self._line(f"{self._place('rd', address)} data={word:#010x}")
        return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        first, data = checked_write(address, words)
        outcome = " fail=TargetError"
        try:
            self._target.write(first, data)
            outcome = ""
        except TargetError as error:
            outcome = f" fail={type(error).__name__}"
            raise
        finally:
            for at, word in enumerate(data.tolist()):
                self._line(f"{self._place('wr', first + 4 * at)} data={word:#010x}{outcome}")

    def close(self) -> None:
        self._target.close()

    def _place(self, verb: str, address: int) -> str:
        device, offset = divmod(address, MAP_SIZE)
        letter = chr(ord("A") + device) if device < 26 else f"D{device}"
        return f"{letter} {verb} {self._map.describe(offset)} addr={address:#010x}"
