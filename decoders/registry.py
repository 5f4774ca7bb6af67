"""Find decoders by the entry-point group ``freezeframe.decoders``, and those of sigrok; list those
that do not load.

Source: Python Packaging User Guide, entry points specification.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Decoder

__all__ = ["GROUP", "BrokenDecoder", "Registry", "load_decoders", "shortened"]

GROUP = "freezeframe.decoders"
_SIGROK = "srd-"


@dataclass(frozen=True, slots=True)
class BrokenDecoder:
    """An entry point that gave no decoder: its name, where it came from, and why, in one line."""

    name: str
    origin: str
    error: str


@dataclass(frozen=True, slots=True)
class Registry:
    """The decoders that loaded, by id, and those that did not."""

    decoders: Mapping[str, Decoder] = field(default_factory=dict)
    broken: tuple[BrokenDecoder, ...] = ()

    def find(self, name: str) -> Decoder:
        """Return the decoder with this id.

        Raises:
            InputError: there is none; the message says which there are, or why this one did not
                load.
        """
        if name in self.decoders:
            return self.decoders[name]
        for broken in self.broken:
            # A whole family may be missing: srd-* without libsigrokdecode.
            if fnmatch.fnmatchcase(name, broken.name):
                raise InputError(f"decoder {name} ({broken.origin}) does not load: {broken.error}")
        near = difflib.get_close_matches(name, self.decoders, n=1)
        hint = f", did you mean {near[0]}?" if near else "."
        raise InputError(
            f"there is no decoder {name!r}{hint} There is: "
            f"{shortened(self.decoders)} (`freezeframe decoders` lists them)"
        )


def load_decoders(
    points: Iterable[EntryPoint] | None = None, *, only: Collection[str] | None = None
) -> Registry:
    """Load every decoder that an installed package offers.

    Args:
        points: the entry points to load; by default those of the group in this environment, and
            the installed decoders of sigrok with them.
        only: the names to load, where others are not needed: all of them are a tenth of a second.
    """
    decoders: dict[str, Decoder] = {}
    broken: list[BrokenDecoder] = []
    found = entry_points(group=GROUP) if points is None else points
    for point in sorted(found, key=lambda p: (p.name, p.value)):
        if only is not None and point.name not in only:
            continue
        try:
            loaded = point.load()
        # Someone else's module can fail in any way, and whatever it is belongs in the list.
        except (Exception, SystemExit) as error:
            broken.append(
                BrokenDecoder(point.name, _origin(point), f"{type(error).__name__}: {_line(error)}")
            )
            continue
        problem = _problem(point, loaded, decoders)
        if problem:
            broken.append(BrokenDecoder(point.name, _origin(point), problem))
        else:
            decoders[point.name] = loaded
    if points is None and (only is None or any(name.startswith(_SIGROK) for name in only)):
        from freezeframe.decoders.srd.installed import installed_decoders

        of_sigrok, not_loaded = installed_decoders()
        decoders = {**decoders, **{k: d for k, d in of_sigrok.items() if k not in decoders}}
        broken += [BrokenDecoder(name, *why) for name, why in not_loaded.items()]
    return Registry(decoders, tuple(broken))


def shortened(names: Iterable[str]) -> str:
    """Return the names for a message, sorted; those of sigrok, over a hundred, as ``srd-...``."""
    own = sorted(name for name in names if not name.startswith("srd-"))
    others = any(name.startswith("srd-") for name in names)
    return ", ".join([*own, *(["srd-... (sigrok)"] if others else [])]) or "none"


def _problem(point: EntryPoint, loaded: object, decoders: Mapping[str, Decoder]) -> str:
    if not isinstance(loaded, Decoder):
        return f"{point.value} is a {type(loaded).__name__}, not a Decoder"
    if loaded.id != point.name:
        return f"the entry point is named {point.name} but the decoder says it is {loaded.id}"
    if point.name in decoders:
        return "another package already offers a decoder of this name"
    return ""


def _origin(point: EntryPoint) -> str:
    dist = point.dist
    return f"{point.value} of {dist.name} {dist.version}" if dist else point.value


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text or "no message"
