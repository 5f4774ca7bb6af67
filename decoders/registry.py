"""Find decoders by the entry-point group ``freezeframe.decoders``, and those of sigrok; list those
that do not load.

A decoder is imported when it is asked for by its name, so that none costs the time of another; that of another
package in its jail, never here.

Source: Python Packaging User Guide, entry points specification.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.decoders.contract import Decoder

GROUP = "freezeframe.decoders"
SIGROK = "srd-"  # what the ids of sigrok's decoders begin with
_OURS = "freezeframe."  # the modules of this package

_package = code("freezeframe.decoders.plugin_declared:package")
_sigrok_decoders = code("freezeframe.decoders.srd.installed:installed_decoders")


@dataclass(frozen=True, slots=True)
class BrokenDecoder:
    """An entry point that gave no decoder: its name, where it came from, and why, in one line."""

    name: str
    origin: str
    error: str


class Registry:
    """Decoders by id, each imported when it is first asked for, and those that do not load."""

    def __init__(
        self,
        decoders: Mapping[str, Decoder] | None = None,
        broken: Iterable[BrokenDecoder] = (),
        *,
        points: Iterable[EntryPoint] = (),
        sigrok: bool = False,
        jailed: bool = True,
    ) -> None:
        """Take decoders that are there already, and where the others come from.

        Args:
            points: entry points of decoders.
            sigrok: whether the decoders of sigrok on this machine belong to it.
            jailed: whether other packages than this one run in their jails.
        """
        self._added = dict(decoders or {})
        self._of_points: dict[str, Decoder] = {}
        self._of_sigrok: dict[str, Decoder] = {}
        self._broken = list(broken)
        self._points: dict[str, list[EntryPoint]] = {}  # not loaded yet
        for point in sorted(points, key=lambda p: (p.name, p.value)):
            self._points.setdefault(point.name, []).append(point)
        self._names = frozenset(self._points)
        self._sigrok = sigrok  # not loaded yet
        self._foreign = [
            each
            for of_name in self._points.values()
            for each in of_name
            if jailed and each.dist is not None and not each.value.startswith(_OURS)
        ]
        self._packages: dict[str, Callable[[str], Decoder]] = {}  # what loads the foreign ones

    @property
    def native(self) -> Mapping[str, Decoder]:
        """All decoders by id but those of sigrok, which need not be loaded for them."""
        return {**self._by_name(), **self._added}

    @property
    def decoders(self) -> Mapping[str, Decoder]:
        """All decoders by id: those of packages, those of sigrok, those that were added."""
        self._load_sigrok()
        return {**self._by_name(), **self._of_sigrok, **self._added}

    @property
    def broken(self) -> tuple[BrokenDecoder, ...]:
        """All entry points that gave no decoder, those of sigrok last."""
        self._by_name()
        self._load_sigrok()
        return tuple(sorted(self._broken, key=lambda b: (b.name.startswith(SIGROK), b.name)))

    def get(self, name: str) -> Decoder | None:
        """Return the decoder with this id; None where there is none, or it does not load."""
        for point in self._points.pop(name, ()):
            self._load(point)
        if name.startswith(SIGROK):
            self._load_sigrok()
        for decoders in (self._of_points, self._of_sigrok, self._added):
            if name in decoders:
                return decoders[name]
        return None

    def find(self, name: str) -> Decoder:
        """Return the decoder with this id.

        Raises:
            InputError: there is none; the message says which there are, or why this one did not
                load.
        """
        decoder = self.get(name)
        if decoder is not None:
            return decoder
        broken = self.failed(name)
        if broken is not None:
            raise InputError(f"decoder {name} ({broken.origin}) does not load: {broken.error}")
        told = no_such("decoder", name, self.decoders, f"there is {shortened(self.decoders)}")
        raise InputError(f"{told} (`freezeframe decoders` lists them)")

    def failed(self, name: str) -> BrokenDecoder | None:
        """Return why the decoder of this name did not load when it was asked for; None where it did."""
        # A whole family may be missing: srd-* without libsigrokdecode.
        return next((each for each in self._broken if fnmatch.fnmatchcase(name, each.name)), None)

    def add(self, decoder: Decoder) -> None:
        """Take one more decoder; its id must be free."""
        self._added[decoder.id] = decoder

    def _by_name(self) -> dict[str, Decoder]:
        """Return the decoders of all entry points, sorted."""
        for name in list(self._points):
            self.get(name)
        return dict(sorted(self._of_points.items()))

    def _load(self, point: EntryPoint) -> None:
        try:
            loaded = self._loaded(point)
            problem = _problem(point, loaded, self._of_points)
        except InputError as error:  # of a jail, with the cause in it
            problem = str(error)
        # Someone else's module can fail in any way, and whatever it is belongs in the list.
        except (Exception, SystemExit) as error:
            message = " ".join(str(error).split()) or "no message"
            problem = f"{type(error).__name__}: {message}"
        if problem:
            self._broken.append(BrokenDecoder(point.name, _origin(point), problem))
        else:
            self._of_points[point.name] = loaded

    def _loaded(self, point: EntryPoint) -> Any:
        if point not in self._foreign:
            return point.load()
        package = _package_of(point)
        if package not in self._packages:
            points = {
                each.name: each.value for each in self._foreign if _package_of(each) == package
            }
            self._packages[package] = _package(package, points)
        return self._packages[package](point.name)

    def _load_sigrok(self) -> None:
        if not self._sigrok:
            return
        self._sigrok = False
        decoders, broken = _sigrok_decoders()
        self._of_sigrok = {n: d for n, d in decoders.items() if n not in self._names}
        self._broken += [BrokenDecoder(name, *why) for name, why in broken.items()]


def load_decoders(points: Iterable[EntryPoint] | None = None) -> Registry:
    """Return every decoder that an installed package offers.

    Args:
        points: the entry points of the decoders; by default those of the group in this environment,
            and the installed decoders of sigrok with them.
    """
    if points is None:
        return Registry(points=entry_points(group=GROUP), sigrok=True)
    return Registry(points=points)


def shortened(names: Iterable[str]) -> str:
    """Return the names for a message, sorted; those of sigrok, over a hundred, as ``srd-...``."""
    own = sorted(name for name in names if not name.startswith(SIGROK))
    others = any(name.startswith(SIGROK) for name in names)
    return ", ".join([*own, *([f"{SIGROK}... (sigrok)"] if others else [])]) or "none"


def _problem(point: EntryPoint, loaded: object, decoders: Mapping[str, Decoder]) -> str:
    if not isinstance(loaded, Decoder):
        return f"{point.value} is a {type(loaded).__name__}, not a Decoder"
    if loaded.id != point.name:
        return f"the entry point is named {point.name} but the decoder says it is {loaded.id}"
    if point.name in decoders:
        return "another package already offers a decoder of this name"
    return ""


def _origin(point: EntryPoint) -> str:
    package = _package_of(point)
    return f"{point.value} of {package}" if package else point.value


def _package_of(point: EntryPoint) -> str:
    dist = point.dist
    return f"{dist.name} {dist.version}" if dist else ""
