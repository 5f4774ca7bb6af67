"""The decoders of a plug-in, a file or a package, as its worker tells of them: data, and functions that ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Channel, Decoder, Option, OptionValues, Output, Texts
from freezeframe.decoders.plugin_worker import Plugin, PluginState


def declared(path: Path) -> dict[str, Decoder]:
    """Return the decoders of a file, by the names that they have in it.

    Raises:
        InputError: it cannot be used, or its worker died.
    """
    plugin = Plugin(str(path), {"file": str(path)})
    return {str(name): _decoder(plugin, said) for name, said in plugin.described().items()}


def package(what: str, points: Mapping[str, str]) -> Callable[[str], Decoder]:
    """Return what gives the decoders of an installed package by name, each out of the value of its entry point.

    That raises an InputError where the decoder does not load, or its worker died.
    """
    plugin = Plugin(what, {"points": dict(points)})

    def decoder(name: str) -> Decoder:
        return _decoder(plugin, plugin.point(name))

    return decoder


def _decoder(plugin: Plugin, said: Mapping[str, Any]) -> Decoder:
    try:
        return _of_data(plugin, said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{plugin.what}: declares a decoder wrongly: {type(error).__name__}: {error}"
        ) from None


def _of_data(plugin: Plugin, said: Mapping[str, Any]) -> Decoder:
    name = str(said["id"])
    return Decoder(
        id=name,
        name=str(said["name"]),
        doc=str(said["doc"]),
        consumes=str(said["consumes"]),
        produces=tuple(
            _output(plugin, name, number, o) for number, o in enumerate(said["produces"])
        ),
        decode=_decode,
        left=_left,
        new_state=partial(PluginState, plugin, name, str(said["consumes"])),
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
        texts=_texts(plugin, name) if said["texts"] else None,
        hint=partial(plugin.hint, name) if said["hint"] else None,
        sigrok=str(said["sigrok"]),
    )


def _output(plugin: Plugin, name: str, number: int, said: Mapping[str, Any]) -> Output:
    wide = partial(plugin.schema, name, number, wide=True) if said["wide"] else None
    return Output(str(said["kind"]), partial(plugin.schema, name, number), str(said["doc"]), wide)


def _decode(piece: Any, options: OptionValues, state: PluginState, last: bool) -> Any:
    return state.feed(piece, last=last)


def _left(state: PluginState) -> bool:
    return state.left


def _texts(plugin: Plugin, name: str) -> Callable[[Mapping[str, Any]], Texts]:
    def words(row: Mapping[str, Any]) -> Texts:
        return Texts(*plugin.texts(name, row))

    return words
