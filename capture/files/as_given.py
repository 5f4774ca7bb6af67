"""Errors and notes about a copy of a file, which is gone afterwards, that name the file that was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.source import ReadSettings


@contextmanager
def named_as_given(given: Mapping[str, str], settings: ReadSettings) -> Iterator[ReadSettings]:
    """Give settings whose notes, and raise errors whose texts, have the given names.

    Args:
        given: by the path of the copy.
    """

    def named(text: str) -> str:
        for copy, path in given.items():
            text = text.replace(copy, path)
        return text

    note = settings.note
    try:
        yield settings if note is None else replace(settings, note=lambda text: note(named(text)))
    except FreezeframeError as error:
        raise type(error)(named(str(error))) from error
