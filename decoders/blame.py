"""A fault inside a decoder that is not ours is bad input in one line; one inside ours is our mistake."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from freezeframe.capture.code import Code
from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.contract import Decoder

_OURS = "freezeframe."


@contextmanager
def blamed(decoder: Decoder, function: Callable[..., Any]) -> Iterator[None]:
    """Turn what ``function`` of a plug-in raises into one line with the place in its file.

    Raises:
        InputError: it failed, and is not of this package; the errors of ours keep their traceback.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, FreezeframeError) or not _is_foreign(function):
            raise
        raise failed(decoder, function, error) from error


def texts_of(decoder: Decoder) -> Callable[[Mapping[str, Any]], str] | None:
    """Return what puts a row into words of normal length; None where the decoder has none.

    A failure in it is raised as `blamed` does.
    """
    texts = decoder.texts
    if texts is None:
        return None

    def words(row: Mapping[str, Any]) -> str:
        # Not `blamed`: a context for every row costs as much as the words.
        try:
            return texts(row).normal
        except Exception as error:
            if isinstance(error, FreezeframeError) or not _is_foreign(texts):
                raise
            raise failed(decoder, texts, error) from error

    return words


def _is_foreign(function: Callable[..., Any]) -> bool:
    return not _module(function).startswith(_OURS)


def failed(decoder: Decoder, function: Callable[..., Any], error: Exception) -> InputError:
    return InputError(
        f"decoder {decoder.id} failed: {type(error).__name__}: {str(error) or 'no message'} "
        f"({_place(error, _module(function))}); tell its author"
    )


def _module(function: Callable[..., Any]) -> str:
    if isinstance(function, Code):
        return function.module
    return getattr(function, "__module__", None) or ""


def _place(error: BaseException, module: str) -> str:
    """Return file and line that were being run last in the module, else the last at all."""
    own = getattr(sys.modules.get(module), "__file__", None)
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if frame.filename == own), frames[-1])
    return f"{Path(last.filename).name} line {last.lineno}"
