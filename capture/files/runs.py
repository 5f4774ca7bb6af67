"""Where samples change, found in the bytes as they are: nothing is imported, not even numpy.

A capture whose lines rest is runs of one sample. What follows a change is compared with stretches made of
that sample alone, by the C library at the speed of the cache: first with one sample, then with two, four
and so on, and where a stretch differs with shorter ones again. So rest costs what it costs in
`few_changes` and a change one or two microseconds, and who asks need not wait until numpy is loaded.
"""

from __future__ import annotations

from array import array

__all__ = ["changes_in_bytes"]

_LONGEST_B = 1 << 16  # a stretch; it stays in the cache beside the samples
_MOST_KNOWN = 64  # samples of which stretches are kept: 8 MiB


def changes_in_bytes(data: bytes, unit_B: int, limit: int) -> array[int] | None:
    """Return where samples differ from the one before.

    Args:
        data: whole samples.
        unit_B: the bytes of a sample.
        limit: that many are too many.
    Returns:
        ``(m,)`` int64, rising, the first sample always among them; None where there are ``limit`` or
        more, or no sample.
    """
    if not data:
        return None
    found = array("q")
    is_next = data.startswith
    known: dict[bytes, list[bytes]] = {}
    at_B, end_B = 0, len(data)
    while at_B < end_B:
        found.append(at_B // unit_B)
        if len(found) >= limit:
            return None
        sample = data[at_B : at_B + unit_B]
        stretches = known.get(sample)
        if stretches is None:
            if len(known) == _MOST_KNOWN:
                known.clear()
            stretches = known[sample] = [sample]
        at_B += unit_B
        size = 0
        while is_next(stretches[size], at_B):
            at_B += unit_B << size
            if unit_B << size < _LONGEST_B:
                size += 1
                if size == len(stretches):
                    stretches.append(sample * (1 << size))
        while size:
            size -= 1
            if is_next(stretches[size], at_B):
                at_B += unit_B << size
    return found
