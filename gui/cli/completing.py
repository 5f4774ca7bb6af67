"""What a shell offers for the words of a command line: looked up when it is asked for, and only then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError

_aliases = code("freezeframe.capture.targets.aliases:aliases")
_schemes = code("freezeframe.capture.targets.base:target_schemes")
_analyses = code("freezeframe.analyzers.registry:load_analyses")
_decoders = code("freezeframe.decoders.registry:load_decoders")


def targets(incomplete: str) -> list[str]:
    """Offer the user's names of targets, and the schemes of URLs; these alone where the file is unreadable."""
    try:
        names = list(_aliases().urls)
    except InputError:  # a verb tells it; here it would stand in the midst of the line
        names = []
    return _beginning([*names, *(f"{scheme}:" for scheme in _schemes())], incomplete)


def analyses(incomplete: str) -> list[str]:
    """Offer the analyses."""
    return _beginning(["all", *_analyses().analyses], incomplete)


def decoders(incomplete: str) -> list[str]:
    """Offer decoders; behind a ``+`` those that may be stacked."""
    lead, plus, rest = incomplete.rpartition("+")
    return [f"{lead}{plus}{name}" for name in _beginning(_decoders().decoders, rest)]


def table(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what offers the keys of a table of a module."""

    def offered(incomplete: str) -> list[str]:
        return _beginning(getattr(import_module(module), name), incomplete)

    return offered


faults = table("freezeframe.emulator.faults.registry", "FAULTS")
export_formats = table("freezeframe.gui.export.formats", "FORMATS")
file_formats = table("freezeframe.capture.files.open", "FORMATS")


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted(word for word in words if word.startswith(incomplete))
