"""Decoders out of a user's own Python file, for ``--plugin FILE``; an installed package needs none.

The file is run as it stands, with the rights of the user. Every `Decoder` that is the value of a
name in it is taken, but for those that it has only imported from an installed package.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.registry import Registry, load_decoders

__all__ = ["load_for", "load_with_plugins", "with_plugin"]


def load_with_plugins(files: Sequence[str | Path]) -> Registry:
    """Return the installed decoders and those of these files.

    Raises:
        InputError: as `with_plugin`.
    """
    registry = load_decoders()
    for file in files:
        registry = with_plugin(registry, file)
    return registry


def load_for(specs: Sequence[str], consumes: str, files: Sequence[str | Path]) -> Registry:
    """Return as many decoders as these stacks on ``consumes`` need; all where one does not fit.

    What is wrong is told with the names of all that there are, so it is left to others.

    Raises:
        InputError: as `with_plugin`.
    """
    from freezeframe.decoders.spec import parse_spec, step_names

    if files:
        return load_with_plugins(files)
    registry = load_decoders(only={name for spec in specs for name in step_names(spec)})
    try:
        fits = all(parse_spec(spec, registry).consumes == consumes for spec in specs)
    except InputError:
        fits = False
    return registry if fits else load_decoders()


def with_plugin(registry: Registry, file: str | Path) -> Registry:
    """Return a registry that has the decoders of this file too.

    Raises:
        InputError: the file cannot be read or run, holds no decoder, or one whose name is taken.
    """
    path = Path(file)
    known = {id(decoder) for decoder in registry.decoders.values()}
    found: dict[str, Decoder] = {}
    for name, value in vars(_run(path)).items():
        if not isinstance(value, Decoder) or id(value) in known:
            continue
        if value.id in registry.decoders:
            raise InputError(
                f"{path}: {name} is a decoder {value.id!r}, and there is one of that id already; "
                "give it another id"
            )
        if found.setdefault(value.id, value) is not value:
            raise InputError(f"{path}: {name} is a second decoder {value.id!r}; give it another id")
    if not found:
        raise InputError(
            f"{path}: there is no Decoder in it; bind one to a name: MINE = Decoder(id=..., ...), "
            "see docs/adding-a-decoder.md"
        )
    return Registry({**registry.decoders, **found}, registry.broken)


def _run(path: Path) -> ModuleType:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    import hashlib  # 6 ms, which only a plug-in is to cost

    # Two plug-ins may have one file name; the classes in them must know their own module.
    name = f"freezeframe_plugin_{path.stem}_{hashlib.sha256(bytes(path.resolve())).hexdigest()[:8]}"
    spec = spec_from_loader(name, loader=None, origin=str(path))
    if spec is None:
        raise InputError(f"{path}: is no module")
    module = module_from_spec(spec)
    module.__file__ = str(path)
    try:
        code = compile(source, str(path), "exec")
    except SyntaxError as error:
        raise InputError(f"{path}: line {error.lineno}: {error.msg}") from None
    except ValueError as error:  # null bytes
        raise InputError(f"{path}: is no Python file: {error}") from None
    sys.modules[name] = module
    try:
        exec(code, vars(module))
    # The user's file can fail in any way; a mistake in it is bad input, with its place.
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(
            f"{path}: {_line(path, error)}{type(error).__name__}: "
            f"{' '.join(str(error).split()) or 'no message'}"
        ) from None
    return module


def _line(path: Path, error: BaseException) -> str:
    """Return the last line of the file itself that was being run."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f"line {lines[-1]}: " if lines else ""
