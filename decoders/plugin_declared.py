"""The decoders of a plug-in as its worker tells of them: data, and functions that ask the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Channel, Decoder, Option, OptionValues, Output, Texts
from freezeframe.decoders.plugin_worker import PluginFile, PluginState


def declared(path: Path) -> dict[str, Decoder]:
    """Return the decoders of a file, by the names that they have in it.

    Raises:
        InputError: it cannot be used, or its worker died.
    """
    file = PluginFile(path)
    try:
        return {str(name): _decoder(file, said) for name, said in file.described().items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: declares a decoder wrongly: {type(error).__name__}: {error}"
        ) from None


def _decoder(file: PluginFile, said: Mapping[str, Any]) -> Decoder:
    name = str(said["id"])
    return Decoder(
        id=name,
        name=str(said["name"]),
        doc=str(said["doc"]),
        consumes=str(said["consumes"]),
        produces=tuple(_output(file, name, number, o) for number, o in enumerate(said["produces"])),
        decode=_decode,
        left=_left,
        new_state=partial(PluginState, file, name, str(said["consumes"])),
        channels=tuple(
            Channel(str(c["id"]), str(c["doc"]), bool(c["optional"]), tuple(map(str, c["aliases"])))
            for c in said["channels"]
        ),
        options=tuple(
            Option(
                str(o["id"]),
                o["default"],
                str(o["doc"]),
                choices=tuple(o["choices"]),
                minimum=o["minimum"],
                maximum=o["maximum"],
                unit=str(o["unit"]),
                aliases=tuple(map(str, o["aliases"])),
                bits=tuple(map(str, o["bits"])),
            )
            for o in said["options"]
        ),
        texts=_texts(file, name) if said["texts"] else None,
        hint=partial(file.hint, name) if said["hint"] else None,
        sigrok=str(said["sigrok"]),
    )


def _output(file: PluginFile, name: str, number: int, said: Mapping[str, Any]) -> Output:
    wide = partial(file.schema, name, number, wide=True) if said["wide"] else None
    return Output(str(said["kind"]), partial(file.schema, name, number), str(said["doc"]), wide)


def _decode(piece: Any, options: OptionValues, state: PluginState, last: bool) -> Any:
    return state.feed(piece, last=last)


def _left(state: PluginState) -> bool:
    return state.left


def _texts(file: PluginFile, name: str) -> Callable[[Mapping[str, Any]], Texts]:
    def words(row: Mapping[str, Any]) -> Texts:
        return Texts(*file.texts(name, row))

    return words
