"""The hypotheses of CRC forensics, a function each: which changes of the message would make its CRC right.

Each tries all places at once: what a change at a place does to the register is looked up, not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.crc.message import SHOWN, Explanation, Message, Place
from freezeframe.decoders.crc import (
    Crc,
    Registers,
    advance,
    prefixes,
    reverse_bits,
    rewound,
)

_RARE = 0.5  # bursts are searched up to the length at which chance explains every second message

Test = Callable[[Message], Iterator[Explanation]]


def hypotheses(word_B: int) -> tuple[tuple[str, int | None, Test], ...]:
    """Return the kinds, by how much the message is too long then (None: any), and the tests."""
    return (
        ("one-bit", 0, _one_bit),
        ("two-bits", 0, _two_bits),
        ("burst", 0, _burst),
        ("byte-swap", 0, _swaps),
        ("order", 0, _orders),
        ("wrong-crc", 0, _wrong_crc),
        ("neighbour", None, _neighbours),
        ("cut", None, _cuts),
        ("word-put-in", word_B, _put_in),
        ("word-lost", -word_B, _lost),
    )


def _one_bit(m: Message) -> Iterator[Explanation]:
    places = [
        Place(byte, f"bit {bit} of byte {byte}", ((byte, bit),))
        for byte, bit in np.argwhere(m.effects == np.uint64(m.syndrome)).tolist()
    ]
    yield m.explanation("one-bit", "one flipped bit", m.effects.size, places)
    value = m.crc.value(int(m.registers[-1]))
    wrong = m.received ^ value
    for count, kind in ((1, "one flipped bit"), (2, "two flipped bits")):
        tested = m.crc.width if count == 1 else m.crc.width * (m.crc.width - 1) // 2
        bits = [bit for bit in range(m.crc.width) if wrong >> bit & 1]
        place = [Place(len(m.data), f"bit {', '.join(map(str, bits))} of the CRC")]
        yield m.explanation(
            "crc-itself", f"{kind} of the CRC itself", tested, place if len(bits) == count else []
        )


def _two_bits(m: Message) -> Iterator[Explanation]:
    """Meet in the middle: for every bit look up the effect that the other would need."""
    effects = m.effects.reshape(-1)
    n = len(effects)
    if n < 2:
        return
    order = np.argsort(effects, kind="stable")
    ordered = effects[order]
    wanted = effects ^ np.uint64(m.syndrome)
    low, high = (np.searchsorted(ordered, wanted, side) for side in ("left", "right"))
    first = np.repeat(np.arange(n), high - low)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    second = order[np.repeat(low, high - low) + offset] if len(first) else first
    pairs = np.stack([first, second], axis=1)[first < second]
    word = 8 * m.word_B
    same = pairs[:, 0] // word == pairs[:, 1] // word
    lengths = np.diff(np.append(np.arange(0, n, word), n))
    within = int((lengths * (lengths - 1) // 2).sum())
    for kind, text, chosen, tested in (
        ("two-bits-one-word", "two flipped bits of one word", pairs[same], within),
        (
            "two-bits",
            "two flipped bits of different words",
            pairs[~same],
            n * (n - 1) // 2 - within,
        ),
    ):
        places = [_bits_place([a, b]) for a, b in chosen[:SHOWN].tolist()]
        yield m.explanation(kind, text, tested, places, len(chosen))


def _bits_place(bits: Sequence[int]) -> Place:
    pairs = tuple(sorted(divmod(bit, 8) for bit in bits))
    return Place(
        pairs[0][0], " and ".join(f"bit {bit} of byte {byte}" for byte, bit in pairs), pairs
    )


def _burst(m: Message) -> Iterator[Explanation]:
    """Every window of the CRC's width has exactly one error that fits; the shortest of them are reported.

    The register before the last k bits, had they all been right, holds that error bit by bit.
    """
    width, n = m.crc.width, 8 * len(m.data)
    if n < width:
        return
    errors = rewound(m.crc, m.syndrome, n)[
        width:
    ]  # [i]: the window ends i bits before the message does
    if not m.crc.refin:  # the window's first bit lowest in both forms
        errors = np.array([reverse_bits(int(e), 64) for e in errors.tolist()], np.uint64)
    begins = (errors & np.uint64(1)) == 1
    lengths = np.zeros(len(errors), np.int64)
    left = errors.copy()
    while left.any():
        lengths += left > 0
        left >>= np.uint64(1)
    lengths[~begins] = width + 1
    longest = 2
    while longest < width and n * 0.5 ** (width - longest + 1) < _RARE:
        longest += 1
    shortest = int(lengths.min())
    if not 3 <= shortest <= longest:  # one or two bits side by side are reported as such
        yield m.explanation("burst", "a burst of flipped bits", n << (longest - 2), [])
        return
    places = []
    fitting = np.flatnonzero(lengths == shortest)
    for i in fitting[:SHOWN].tolist():
        start = n - width - i
        error = int(errors[i])
        bits = [_stream_bit(m.crc, start + k) for k in range(shortest) if error >> k & 1]
        places.append(_bits_place(bits))
    text = f"a burst of {shortest} bits, {shortest} being the distance from its first flipped bit to its last"
    yield m.explanation("burst", text, n << (shortest - 2), places, len(fitting))


def _stream_bit(crc: Crc, bit: int) -> int:
    """Return ``8 * byte + bit of the byte`` of the n-th bit as it enters the CRC."""
    byte, place = divmod(bit, 8)
    return 8 * byte + (place if crc.refin else 7 - place)


def _change_effects(m: Message, other: npt.NDArray[np.uint8]) -> Registers:
    """Return, byte by byte, what replacing the message by ``other`` (same length) changes."""
    change = m.bytes ^ other
    total = np.zeros(len(change), np.uint64)
    for bit in range(8):
        total ^= np.where(change >> bit & 1, m.effects[:, bit], np.uint64(0))
    return total


def _swaps(m: Message) -> Iterator[Explanation]:
    """Two neighbours that changed places: bytes, 32-bit halves and words; each place is a hypothesis."""
    n = len(m.bytes)
    for kind, text, size, step in (
        ("byte-swap", "two neighbouring bytes swapped", 1, 1),
        ("half-swap", "the two halves of a word swapped", m.word_B // 2, m.word_B),
        ("word-swap", "two neighbouring words swapped", m.word_B, m.word_B),
    ):
        if size == 0 or n < 2 * size:
            continue
        begins = np.arange(0, n - 2 * size + 1, step)
        effect = np.zeros(len(begins), np.uint64)
        differ = np.zeros(len(begins), np.bool_)
        for k in range(size):
            a, b = m.bytes[begins + k], m.bytes[begins + size + k]
            differ |= a != b
            for bit in range(8):
                flips = (a ^ b) >> bit & 1
                both = m.effects[begins + k, bit] ^ m.effects[begins + size + k, bit]
                effect ^= np.where(flips, both, np.uint64(0))
        fitting = begins[differ & (effect == np.uint64(m.syndrome))]
        places = [Place(at, f"bytes {at} to {at + 2 * size - 1}") for at in fitting.tolist()]
        yield m.explanation(kind, text, int(differ.sum()), places)


def _orders(m: Message) -> Iterator[Explanation]:
    """The whole message in another order, or from some word on to its end: lanes, bytes, bits."""
    n = len(m.bytes) // m.word_B * m.word_B
    if not n:
        return
    words = m.bytes[:n].reshape(-1, m.word_B)
    forms: dict[str, npt.NDArray[np.uint8]] = {
        "the bytes of every word in reverse order": words[:, ::-1],
        "the bits of every byte in reverse order": np.unpackbits(words, axis=1, bitorder="little")
        .reshape(len(words), m.word_B, 8)[:, :, ::-1]
        .reshape(len(words), -1),
    }
    bits = forms["the bits of every byte in reverse order"]
    forms["the bits of every byte in reverse order"] = np.packbits(bits, axis=1, bitorder="little")
    if m.word_B % 2 == 0:
        half = m.word_B // 2
        forms["the two lanes swapped (even and odd bytes)"] = words.reshape(len(words), half, 2)[
            :, :, ::-1
        ].reshape(words.shape)
        forms["the halves of every word swapped"] = np.roll(words, half, axis=1)
        for lane in range(2):
            for by in range(1, half):
                turned = words.copy()
                turned[:, lane::2] = np.roll(words[:, lane::2], by, axis=1)
                forms[f"lane {lane} turned by {by} B in every word"] = turned
    places: list[Place] = []
    tested = 0
    for name, form in forms.items():
        other = np.append(form.reshape(-1), m.bytes[n:])
        effect = _change_effects(m, other)
        after = np.bitwise_xor.accumulate(effect[::-1])[::-1][: n : m.word_B]
        moved = (form != words).any(axis=1)
        tested += int(moved.sum())
        for word in np.flatnonzero((after == np.uint64(m.syndrome)) & moved).tolist():
            where = "" if word == 0 else f", from word {word} on"
            places.append(Place(word * m.word_B, name + where))
    yield m.explanation("order", "bytes or lanes in another order", tested, places)


def _wrong_crc(m: Message) -> Iterator[Explanation]:
    """The CRC made another way: initial value, final exclusive-or, bit and byte order."""
    ones = (1 << m.crc.width) - 1
    places: list[Place] = []
    values: dict[int, str] = {}
    for init in dict.fromkeys((m.crc.init, 0, ones)):
        for refin in (m.crc.refin, not m.crc.refin):
            other = Crc("", m.crc.width, m.crc.poly, init, refin, refin, 0)
            plain = other.of(m.data)
            for refout in (refin, not refin):
                for xorout in dict.fromkeys((m.crc.xorout, 0, ones)):
                    value = (
                        plain if refout == refin else reverse_bits(plain, m.crc.width)
                    ) ^ xorout
                    settings = (init, refin, refout, xorout)
                    values.setdefault(value, _how_made(m.crc, *settings))
    if m.crc.width % 8 == 0:
        for value, text in list(values.items()):
            swapped = int.from_bytes(value.to_bytes(m.crc.width // 8, "little"), "big")
            values.setdefault(swapped, f"{text}, its bytes in reverse order".lstrip(", "))
    right = m.crc.of(m.data)
    values.pop(right, None)
    if m.received in values:
        places.append(Place(None, values[m.received]))
    yield m.explanation("wrong-crc", "the CRC made another way", len(values), places)


def _how_made(crc: Crc, init: int, refin: bool, refout: bool, xorout: int) -> str:
    differences = []
    if init != crc.init:
        differences.append(f"initial value {init:#x} instead of {crc.init:#x}")
    if refin != crc.refin:
        differences.append(f"bits of a byte taken {'least' if refin else 'most'} significant first")
    if refout != (crc.refout ^ crc.refin ^ refin):
        differences.append("the result's bits in reverse order")
    if xorout != crc.xorout:
        differences.append(f"final exclusive-or {xorout:#x} instead of {crc.xorout:#x}")
    return ", ".join(differences)


def _neighbours(m: Message) -> Iterator[Explanation]:
    places = [
        Place(None, f"it is the CRC of {name}")
        for name, other in m.neighbours
        if other != m.data and m.crc.of(other) == m.received
    ]
    yield m.explanation("neighbour", "the CRC of a neighbour", len(m.neighbours), places)


def _cuts(m: Message) -> Iterator[Explanation]:
    """The CRC is that of a part of the message: foreign bytes stand before or after it."""
    n = len(m.data)
    if not n:
        return
    behind = np.flatnonzero(m.registers[:-1] == np.uint64(m.target))
    places = [
        Place(int(k), f"the message ends at byte {k}; {n - k} B behind it are not its own")
        for k in behind
    ]
    yield m.explanation("extended", "bytes behind the message that are not its own", n, places)
    # The CRC of data[k:]: the register after the whole, with what stood in it at k taken out and init put in.
    after = np.arange(n - 1, -1, -1, dtype=np.int64)
    change = m.registers[1:] ^ np.uint64(m.crc.first_register)
    total = np.uint64(m.registers[-1]) ^ advance(m.crc, change, after)
    fitting = np.flatnonzero(total == np.uint64(m.target)) + 1
    places = [
        Place(k, f"the message begins at byte {k}; {k} B before it are not its own")
        for k in fitting.tolist()
    ]
    yield m.explanation("cut", "bytes before the message that are not its own", n, places)


def _put_in(m: Message) -> Iterator[Explanation]:
    """Take each word out: where the CRC is right then, it was too many; distinguished by equal neighbours."""
    size, n = m.word_B, len(m.data)
    begins = np.arange(0, n - size + 1, size, dtype=np.int64)
    if not len(begins):
        return
    change = m.registers[begins] ^ m.registers[begins + size]
    total = np.uint64(m.registers[-1]) ^ advance(m.crc, change, n - size - begins)
    fitting = total == np.uint64(m.target)
    words = m.bytes[: len(begins) * size].reshape(-1, size)
    again = np.zeros(len(begins), np.bool_)
    again[1:] = (words[1:] == words[:-1]).all(axis=1)
    first = np.append(again[1:], False)  # of two equal words the second is named
    for kind, text, mask in (
        ("word-repeated", "a word that came twice", again),
        ("word-put-in", "a word too many, unlike its neighbours", ~again & ~first),
    ):
        places = [
            Place(int(at), f"word {at // size}, without which the CRC is right")
            for at in begins[mask & fitting].tolist()
        ]
        yield m.explanation(kind, text, int(mask.sum()), places, change_B=size)


def _lost(m: Message) -> Iterator[Explanation]:
    """A lost word: with a value that can be guessed its place can be tested; with any value it fits everywhere."""
    size, n = m.word_B, len(m.data)
    begins = np.arange(0, n + 1, size, dtype=np.int64)
    suffix = n - begins
    places: list[Place] = []
    tested = 0
    words = [m.data[at - size : at] for at in begins.tolist()]
    for text, guess in (
        ("equal to the one before it", words),
        ("of zeros", [bytes(size)] * len(begins)),
    ):
        after = np.array(
            [
                int(prefixes(m.crc, word, first=int(register))[-1]) if len(word) == size else 0
                for word, register in zip(guess, m.registers[begins], strict=True)
            ],
            np.uint64,
        )
        usable = np.array([len(word) == size for word in guess])
        total = np.uint64(m.registers[-1]) ^ advance(m.crc, m.registers[begins] ^ after, suffix)
        tested += int(usable.sum())
        for at in begins[usable & (total == np.uint64(m.target))].tolist():
            places.append(Place(at, f"a word {text} lost before word {at // size}"))
    yield m.explanation(
        "word-lost-equal", "a lost word of a known value", tested, places, change_B=-size
    )
    if 8 * size >= m.crc.width:
        values = 1 << (8 * size - m.crc.width)
        text = (
            f"a lost word: at each of {len(begins):,} places {values:,} values of it make the CRC right, "
            "whatever happened; the CRC does not say where"
        )
        yield Explanation(
            "word-lost", text, len(begins) * values, len(begins) << 8 * size,
            float(len(begins)) * values, (), -size,
        )  # fmt: skip
