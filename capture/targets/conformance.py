"""What every target must do, as checks that can be run over any: ours, and one of your own package.

Usage in a test of your own::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_target_conforms(check):
        check(Subject(open=..., words=..., outside=..., writable=...))

Source: the ``Target`` protocol in base.py; docs/adding-a-target.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from freezeframe.capture.errors import BusError, TargetError
from freezeframe.capture.targets.base import Target, Words, open_target

_ONES = 0xFFFFFFFF


class ConformanceError(AssertionError):
    """A target does not do what the protocol says."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A target to be checked, and what is known of its device.

    Attributes:
        open: opens the target again, to the same device.
        words: byte address to word, of words that stand still; a few hundred at least, and among
            them stretches of neighbours longer than the transport's largest request.
        outside: an address that the device answers with an error.
        writable: address of a word that can be written and read back; None for a recording.
        by_url: whether ``open_target(target.url)`` opens it too.
    """

    open: Callable[[], Target]
    words: Mapping[int, int]
    outside: int
    writable: int | None
    by_url: bool = True


Check = Callable[[Subject], None]


def words_come_in_the_order_asked(subject: Subject) -> None:
    """Ascending, descending and shuffled addresses give the same word for each address."""
    ascending = sorted(subject.words)[:600]
    shuffled = random.Random(1).sample(ascending, len(ascending))
    with _opened(subject) as target:
        for addresses in (ascending, ascending[::-1], shuffled):
            _same(subject, addresses, target.read(addresses))


def an_address_may_be_asked_for_many_times(subject: Subject) -> None:
    """Duplicates, next to each other and apart, get their word each time."""
    few = sorted(subject.words)[:7]
    addresses = [few[0]] * 300 + few * 3 + few[::-1]
    with _opened(subject) as target:
        _same(subject, addresses, target.read(addresses))


def lists_longer_than_any_request_are_read_whole(subject: Subject) -> None:
    """Every known word in one call, and lengths around the largest request of 255 words."""
    addresses = sorted(subject.words)
    with _opened(subject) as target:
        _same(subject, addresses, target.read(addresses))
        for length in (1, 2, 254, 255, 256, 257, 509, 510, 511):
            _same(subject, addresses[:length], target.read(addresses[:length]))


def every_known_word_alone(subject: Subject) -> None:
    """One word a call; a 32-bit word of all ones and one of zero are data like any other."""
    chosen = random.Random(2).sample(sorted(subject.words), 16)
    chosen += [a for a, word in subject.words.items() if word in (0, _ONES)][:4]
    with _opened(subject) as target:
        for address in chosen:
            _same(subject, [address], target.read([address]))


def an_answer_is_an_array_of_its_own(subject: Subject) -> None:
    """``(n,)`` uint32; writing into it changes no later answer, nor the list of addresses."""
    addresses = np.array(sorted(subject.words)[:300], np.uint32)
    before = addresses.copy()
    with _opened(subject) as target:
        first = target.read(addresses)
        _require(isinstance(first, np.ndarray), f"read returned {type(first).__name__}")
        _require(first.dtype == np.uint32, f"read returned dtype {first.dtype}, not uint32")
        _require(first.shape == (300,), f"read of 300 words returned shape {first.shape}")
        first[:] = 0x5A5A5A5A
        _require(bool((addresses == before).all()), "read changed the list of addresses")
        _same(subject, addresses.tolist(), target.read(addresses))


def any_kind_of_list_will_do(subject: Subject) -> None:
    """Tuple, list and arrays of any integer type give the same; no address gives no word."""
    addresses = sorted(subject.words)[:5]
    with _opened(subject) as target:
        _same(subject, addresses, target.read(tuple(addresses)))
        for kind in (np.int64, np.uint64):
            _same(subject, addresses, target.read(np.array(addresses, kind).astype(np.uint32)))
            _same(subject, addresses, target.read(list(np.array(addresses, kind))))
        nothing = target.read([])
        _require(nothing.shape == (0,), f"read of nothing returned shape {nothing.shape}")


def an_error_answer_is_a_bus_error_or_all_ones(subject: Subject) -> None:
    """Outside the map: BusError or 0xFFFFFFFF, never a word; and what is asked next is right."""
    good = sorted(subject.words)[:20]
    with _opened(subject) as target:
        for addresses in ([subject.outside], [*good[:10], subject.outside, *good[10:]]):
            try:
                words = target.read(addresses).tolist()
            except BusError:
                pass
            else:
                bad = words.pop(addresses.index(subject.outside))
                _require(bad == _ONES, f"{subject.outside:#010x} was answered with {bad:#010x}")
                rest = [a for a in addresses if a != subject.outside]
                _same(subject, rest, np.array(words, np.uint32))
            _same(subject, good, target.read(good))


def a_wrong_address_is_a_value_error(subject: Subject) -> None:
    """Not a multiple of 4, negative, above 32 bits: ValueError for reads and writes."""
    good = min(subject.words)
    with _opened(subject) as target:
        for wrong in (good + 1, good + 2, good + 3, -4, 1 << 32, (1 << 32) + good):
            for call in (
                partial(target.read, [wrong]),
                partial(target.read, [good, wrong, good]),
                partial(target.write, wrong, [0]),
            ):
                _raises(ValueError, call, f"address {wrong:#x}")
        _same(subject, [good], target.read([good]))


def a_word_that_does_not_fit_is_a_value_error(subject: Subject) -> None:
    """A word below 0 or above 32 bits is refused, and none of the write is carried out."""
    at = subject.writable if subject.writable is not None else min(subject.words)
    with _opened(subject) as target:
        before = int(target.read([at])[0])
        for wrong in (-1, 1 << 32):
            _raises(ValueError, partial(target.write, at, [0, wrong]), f"word {wrong}")
        after = int(target.read([at])[0])
        _require(after == before, f"a refused write changed {before:#010x} to {after:#010x}")


def what_is_written_is_read_back(subject: Subject) -> None:
    """A write is carried out once; a recording refuses it with TargetError."""
    with _opened(subject) as target:
        at = subject.writable
        if at is None:
            address = min(subject.words)
            _raises(TargetError, lambda: target.write(address, [0]), "write to a recording")
            _same(subject, [address], target.read([address]))
            return
        before = int(target.read([at])[0])
        for word in (0x00000001, 0x80000000, 0x12345678, _ONES ^ 1, before):
            target.write(at, [word])
            found = int(target.read([at])[0])
            _require(found == word, f"wrote {word:#010x}, read back {found:#010x}")


def closing_twice_is_harmless_and_use_after_it_is_not(subject: Subject) -> None:
    """Close works twice; read and write then raise TargetError; another open works."""
    target = subject.open()
    target.close()
    target.close()
    address = min(subject.words)
    for call in (
        lambda: target.read([address]),
        lambda: target.read([]),
        lambda: target.write(address, [0]),
    ):
        _raises(TargetError, call, "use after close")
    with _opened(subject) as again:
        _same(subject, [address], again.read([address]))


def the_url_opens_it_again(subject: Subject) -> None:
    """``url`` is a text that names the scheme; ``open_target(url)`` reads the same words."""
    with _opened(subject) as target:
        url = target.url
        _require(":" in url, f"url is {url!r}, without a scheme")
    if subject.by_url:
        again = open_target(url)
        try:
            addresses = sorted(subject.words)[:3]
            _same(subject, addresses, again.read(addresses))
        finally:
            again.close()


CHECKS: tuple[Check, ...] = (
    words_come_in_the_order_asked,
    an_address_may_be_asked_for_many_times,
    lists_longer_than_any_request_are_read_whole,
    every_known_word_alone,
    an_answer_is_an_array_of_its_own,
    any_kind_of_list_will_do,
    an_error_answer_is_a_bus_error_or_all_ones,
    a_wrong_address_is_a_value_error,
    a_word_that_does_not_fit_is_a_value_error,
    what_is_written_is_read_back,
    closing_twice_is_harmless_and_use_after_it_is_not,
    the_url_opens_it_again,
)
"""Every check; each opens the subject for itself and raises ConformanceError."""


@contextmanager
def _opened(subject: Subject) -> Iterator[Target]:
    target = subject.open()
    try:
        yield target
    finally:
        target.close()


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ConformanceError(otherwise)


def _same(subject: Subject, addresses: list[int], words: Words) -> None:
    _require(len(words) == len(addresses), f"{len(words)} words for {len(addresses)} addresses")
    for place, (address, word) in enumerate(zip(addresses, words.tolist(), strict=True)):
        want = subject.words[address]
        _require(
            word == want,
            f"{address:#010x} (number {place} of {len(addresses)}): {word:#010x}, not {want:#010x}",
        )


def _raises(kind: type[Exception], call: Callable[[], object], what: str) -> None:
    try:
        call()
    except kind:
        return
    except Exception as error:
        raise ConformanceError(
            f"{what}: {type(error).__name__} ({error}), not {kind.__name__}"
        ) from error
    raise ConformanceError(f"{what}: no {kind.__name__}")
