"""What ``freezeframe decode`` is asked to do, known before anything large is loaded.

While the rest of the program loads, a copy of the process that is still small can already unpack the file:
so little is imported here, not even dataclasses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["DecodeOptions", "begin_reading", "plain_options"]


class DecodeOptions(NamedTuple):
    """The options of ``freezeframe decode``; their meaning stands in its help."""

    file: Path
    decoder: tuple[str, ...] = ()
    output: Path | None = None
    max_samples: int | None = None
    samplerate: str | None = None
    format: str | None = None
    channel: tuple[str, ...] = ()
    threshold: tuple[str, ...] = ()
    cut: str | None = None
    plugin: tuple[Path, ...] = ()
    force: bool = False
    json: bool = False


_VALUED = {"-d", "--decoder", "-o", "--output", "--max-samples", "--samplerate", "--format"}
_VALUED |= {"--channel", "--threshold", "--cut", "--plugin"}
_FLAGS = {"--force", "--json"}
_SEVERAL = {"decoder": str, "channel": str, "threshold": str, "plugin": Path}


def plain_options(arguments: Sequence[str]) -> DecodeOptions | None:
    """Return the options behind the verb, None where typer is to look at them: for help, or a mistake.

    To load typer takes a fifth of the time that a capture of a billion samples needs, so plain arguments
    are read here; about whatever is not plain its words are the better ones.
    """
    given: dict[str, list[str]] = {}
    files: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            given[name] = [""]
        elif word in _VALUED or (equals and word.startswith("--") and name in _VALUED):
            value = value if equals else next(rest, "-")
            if value.startswith("-"):
                return None
            name = {"-d": "--decoder", "-o": "--output"}.get(name, name)
            given.setdefault(name, []).append(value)
        elif word.startswith("-") or not word:
            return None
        else:
            files.append(word)
    samples = given.get("--max-samples", ["1"])[-1]
    if len(files) != 1 or not (samples.isascii() and samples.isdigit() and int(samples)):
        return None
    options: dict[str, Any] = {}
    for name, values in given.items():
        key = name.removeprefix("--").replace("-", "_")
        if name in _FLAGS:
            options[key] = True
        elif key in _SEVERAL:
            options[key] = tuple(map(_SEVERAL[key], values))
        else:
            options[key] = {"output": Path, "max_samples": int}.get(key, str)(values[-1])
    return DecodeOptions(Path(files[0]), **options)


def begin_reading(options: DecodeOptions) -> None:
    """Begin to unpack the file where its samples are read as they stand there, by decoders that need
    only changes; `decoding.decode` ends that."""
    from freezeframe.gui.cli.memory import keep_freed_memory

    keep_freed_memory()
