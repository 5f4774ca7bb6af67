"""The decoders of a user's own Python file; what runs it is a worker that has shut itself in (`plugin_main`).

Every `Decoder` that is the value of a name in the file is taken, but for those that it has only imported from
an installed package. A file that an installed package has already loaded may be given too.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.registry import load_decoders


def decoders_of_file(path: Path) -> dict[str, Decoder]:
    """Run the file and return its decoders, by the names that they have in it.

    Raises:
        InputError: it cannot be read or run, holds no decoder, or one whose id is taken.
    """
    registry = load_decoders()
    names: dict[str, str] = {}
    found: dict[str, Decoder] = {}
    ours = False
    for name, value in vars(_run(path)).items():
        if not isinstance(value, Decoder) or found.get(names.get(value.id, "")) is value:
            continue
        if value.id in names:
            raise InputError(f"{path}: {name} is a second decoder {value.id!r}; give it another id")
        known = registry.get(value.id)
        if known is value:  # imported from an installed package
            continue
        if known is not None and not _is_of_file(known, name, path):
            raise InputError(taken(path, name, value.id))
        if known is not None:
            ours = True
            continue
        names[value.id] = name
        found[name] = value
    if not found and not ours:
        raise InputError(
            f"{path}: there is no Decoder in it; bind one to a name: MINE = Decoder(id=..., ...), "
            "see docs/adding-a-decoder.md"
        )
    return found


def taken(path: Path, name: str, decoder: str) -> str:
    """Return that a file's decoder has the id of another one, in words."""
    return (
        f"{path}: {name} is a decoder {decoder!r}, and there is one of that id already; "
        "give it another id"
    )


def _is_of_file(decoder: Decoder, name: str, path: Path) -> bool:
    """Return whether an installed package has loaded this decoder, by this name, from this file."""
    modules = [vars(each) for each in list(sys.modules.values()) if isinstance(each, ModuleType)]
    files = [each.get("__file__") for each in modules if each.get(name) is decoder]
    return any(file and Path(file).resolve() == path.resolve() for file in files)


def _run(path: Path) -> ModuleType:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
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
