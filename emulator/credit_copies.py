"""Credits copied into payloads: the debug aid by which every credit is seen a second time, at the word taps.

The driver puts each credit that its card sent or took at the beginning of the payload of the next message it posts,
oldest first; the message is as much longer. A copy is the credit word with bits 40-47 set to 0x43, flags 1 (sent) or 2
(taken), with new parity and CRC.

Source: FORTH, section 3.5 ("inject credits into the payload of the packets"); docs/formats.md section 3 (credit word).
"""

from __future__ import annotations

from collections import deque

import numpy as np

from freezeframe.capture.registers.layouts import CREDIT_FLAGS_LSB, CREDIT_FLAGS_MASK
from freezeframe.decoders.trace.encode import crc16_ibm3740, words_to_bytes
from freezeframe.emulator.memory import Words

SENT, TAKEN = 1, 2

_MARK = 0x43 << 40
_PARITY = 1 << 15
_FIELDS = (1 << 40) - 1 & ~_PARITY & ~(CREDIT_FLAGS_MASK << CREDIT_FLAGS_LSB)
_MOST = 4096  # a card whose host posts nothing keeps the newest


class CreditCopies:
    """The credits of one card that no payload holds yet."""

    def __init__(self, wanted: bool) -> None:
        self._words: deque[int] | None = deque(maxlen=_MOST) if wanted else None

    def add(self, credit: int, flag: int) -> None:
        """Note a credit word that was sent or taken, if copies are wanted."""
        if self._words is not None:
            low = credit & _FIELDS | flag << CREDIT_FLAGS_LSB | _MARK
            low |= 0 if low.bit_count() & 1 else _PARITY
            self._words.append(low | crc16_ibm3740(words_to_bytes((low,))[:6]) << 48)

    def before(self, payload: Words, most_words: int) -> Words:
        """Return the payload after as many copies as fit ``most_words``; each copy is used once."""
        if not self._words:
            return payload
        count = min(len(self._words), most_words - len(payload))
        copies = [self._words.popleft() for _ in range(count)]
        return np.concatenate([np.array(copies, dtype=np.uint64), payload])
