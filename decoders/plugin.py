"""Decoders out of a user's own Python file, for ``--plugin FILE``; an installed package needs none.

The file is run by workers that have shut themselves in (`plugin_worker`), never by this process: what it declares
comes as data, and what its decoders make as Arrow tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.decoders.plugin_file import taken
from freezeframe.decoders.registry import Registry, load_decoders

_declared = code("freezeframe.decoders.plugin_declared:declared")


def load_with_plugins(files: Sequence[str | Path]) -> Registry:
    """Return the installed decoders and those of these files.

    Raises:
        InputError: a file cannot be read or run, holds no decoder, or one whose name is taken; or its worker died.
    """
    registry = load_decoders()
    added: dict[str, Path] = {}
    for path in map(Path, files):
        if path.resolve() in added.values():
            continue
        for name, decoder in _declared(path).items():
            if decoder.id in added:
                raise InputError(taken(path, name, decoder.id))
            registry.add(decoder)
            added[decoder.id] = path.resolve()
    return registry
