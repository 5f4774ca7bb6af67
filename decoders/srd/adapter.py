"""Sigrok decoders as decoders of Freezeframe, named ``srd-`` and their name in sigrok.

A stack of them runs as one in one worker (`joined_decoder`), because what goes from one to the next are
Python objects; where it stands on a native decoder, the objects for the lowest are made of its tables
(fed_stream.py). The table of a stack has the annotations of the decoder on top.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from freezeframe.capture.code import code
from freezeframe.decoders.contract import (
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
    Texts,
)
from freezeframe.decoders.registry import SIGROK
from freezeframe.decoders.srd.catalogue import SrdDescription
from freezeframe.decoders.srd.location import SrdLocation

_MAX_CHANNELS = 64

_decode = code("freezeframe.decoders.srd.annotations:decode")
_schema = code("freezeframe.decoders.srd.annotations:annotation_schema")
_new_stream = code("freezeframe.decoders.srd.stream:SrdStream")
_new_fed_stream = code("freezeframe.decoders.srd.fed_stream:FedStream")


@dataclass(frozen=True, slots=True)
class SrdStep:
    """A decoder of the stack with all its options, by their names in sigrok."""

    id: str
    options: Mapping[str, Any]


def annotation_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of annotations into words."""
    texts = row["texts"] or [""]
    return Texts(
        texts[-1], f"{row['class']}: {texts[0]}", f"{row['source']} {row['class']}: {texts[0]}"
    )


@dataclass(frozen=True, slots=True)
class SrdDecode:
    """The function of a sigrok decoder: its place, and what it says of itself."""

    location: SrdLocation
    description: SrdDescription

    def __call__(self, piece: Any, options: OptionValues, state: Any, last: bool) -> Any:
        """Decode a piece; a pyarrow Table of annotations.

        Raises:
            FreezeframeError: a decoder or its worker failed.
        """
        return _decode(self.description, piece, state, last)

    def step(self, options: OptionValues) -> SrdStep:
        """Return the decoder with its options under their own names."""
        names = [option.id for option in self.description.options]
        return SrdStep(
            self.description.id,
            dict(zip(names, (options[_fitting(name)] for name in names), strict=True)),
        )


def srd_decoder(location: SrdLocation, described: SrdDescription) -> Decoder:
    """Return a sigrok decoder as one of ours.

    Raises:
        ValueError: it declares what ours cannot; the message says what.
    """
    if len(described.inputs) != 1:
        raise ValueError(f"takes {len(described.inputs)} inputs: {', '.join(described.inputs)}")
    on_wires = described.inputs[0] == "logic"
    if on_wires and len(described.channels) > _MAX_CHANNELS:
        raise ValueError(f"has {len(described.channels)} channels; {_MAX_CHANNELS} are possible")
    decode = SrdDecode(location, described)
    channels = described.channels if on_wires else ()
    kind = (
        f"srd.{_fitting(described.outputs[0])}"
        if described.outputs
        else SIGROK + _fitting(described.id)
    )

    def new_state(options: OptionValues) -> Any:
        return _new_stream(location, [decode.step(options)], [c.id for c in channels])

    return Decoder(
        id=SIGROK + _fitting(described.id),
        name=described.name,
        doc=" ".join(described.doc.split()),
        consumes=EDGES if on_wires else f"srd.{_fitting(described.inputs[0])}",
        produces=(Output(kind, _schema, "annotations of the sigrok decoder"),),
        decode=decode,
        new_state=new_state,
        channels=tuple(Channel(_fitting(c.id), c.desc, c.optional) for c in channels),
        options=tuple(
            Option(
                _fitting(o.id),
                o.default,
                o.desc,
                # One of 0.5.3 has a default that is not among its own values.
                choices=o.values
                if not o.values or o.default in o.values
                else (o.default, *o.values),
            )
            for o in described.options
        ),
        texts=annotation_texts,
    )


def joined_decoder(below: Decoder, steps: list[SrdStep], top: Decoder) -> Decoder:
    """Return the decoder on top as one that takes edges, with the ``steps`` in its worker."""
    if not isinstance(top.decode, SrdDecode) or not isinstance(below.decode, SrdDecode):
        raise TypeError(f"{below.id} and {top.id} are not both sigrok's")
    location = top.decode.location
    channels = [channel.id for channel in below.decode.description.channels]

    def new_state(options: OptionValues) -> Any:
        return _new_stream(location, steps, channels)

    return replace(top, consumes=EDGES, channels=below.channels, new_state=new_state)


def fed_decoder(
    native: Decoder, native_options: OptionValues, steps: list[SrdStep], top: Decoder
) -> Decoder:
    """Return the decoder on top as one that takes edges, on a native one, with the ``steps`` in its
    worker."""
    if not isinstance(top.decode, SrdDecode):
        raise TypeError(f"{top.id} is not sigrok's")
    location = top.decode.location

    def new_state(options: OptionValues) -> Any:
        return _new_fed_stream(location, (native, native_options), steps)

    return replace(top, consumes=EDGES, channels=native.channels, new_state=new_state)


def _fitting(name: str) -> str:
    """Return an id that the contract takes; those of the installed decoders all are."""
    fit = re.sub(r"[^a-z0-9_-]", "_", name.lower())
    return fit if fit[:1].isalpha() else f"x{fit}"
