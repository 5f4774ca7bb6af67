"""Sigrok decoders as decoders of Freezeframe, named ``srd-`` and their name in sigrok.

A stack of them runs as one in one worker (`joined`), because what goes from one to the next are
Python objects; where it stands on a native decoder, the objects for the lowest are made of its tables
(fed_stream.py). The table of a stack has the annotations of the decoder on top.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from freezeframe.decoders.contract import (
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
    Texts,
)
from freezeframe.decoders.srd.catalogue import SrdDescription
from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.srd.stream import SrdStep, SrdStream

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.decoders.srd.stream import Annotations

__all__ = [
    "PREFIX",
    "SrdDecode",
    "annotation_texts",
    "fed_decoder",
    "joined_decoder",
    "srd_decoder",
    "srd_schema",
]

PREFIX = "srd-"
_NO_ROW = "annotation"  # the kind of a class that stands in no annotation row
_MAX_CHANNELS = 64


def srd_schema() -> pa.Schema:
    """Return the columns of annotations, in the order in which the decoder gives them.

    ``source`` is the instance as sigrok names it, ``kind`` the annotation row, ``class`` the
    annotation class; ``text`` is the longest wording and ``texts`` has all. ``sample`` and
    ``end_sample`` are what the decoder says, even where that is outside the capture.
    """
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("class", name_type(), nullable=False),
            pa.field("text", name_type(), nullable=False),
            pa.field("texts", pa.list_(pa.string()), nullable=False),
            pa.field("sample", pa.int64(), nullable=False),
            pa.field("end_sample", pa.int64(), nullable=False),
        ]
    )


def annotation_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `srd_schema` into words."""
    texts = row["texts"] or [""]
    return Texts(
        texts[-1], f"{row['class']}: {texts[0]}", f"{row['source']} {row['class']}: {texts[0]}"
    )


@dataclass(frozen=True, slots=True)
class SrdDecode:
    """The function of a sigrok decoder: its place, and what it says of itself."""

    location: SrdLocation
    description: SrdDescription

    def __call__(self, piece: Edges, options: OptionValues, state: SrdStream, last: bool) -> Any:
        """Decode a piece.

        Raises:
            FreezeframeError: a decoder or its worker failed.
        """
        return _table(state.feed(piece, last=last), self.description, piece.samplerate_hz)

    def step(self, options: OptionValues) -> SrdStep:
        """Return the decoder with its options under their own names."""
        names = [option.id for option in self.description.options]
        return SrdStep(
            self.description.id,
            dict(zip(names, (options[_fitting(name)] for name in names), strict=True)),
        )


def srd_decoder(location: SrdLocation, said: SrdDescription) -> Decoder:
    """Return a sigrok decoder as one of ours.

    Raises:
        ValueError: it declares what ours cannot; the message says what.
    """
    if len(said.inputs) != 1:
        raise ValueError(f"takes {len(said.inputs)} inputs: {', '.join(said.inputs)}")
    on_wires = said.inputs[0] == "logic"
    if on_wires and len(said.channels) > _MAX_CHANNELS:
        raise ValueError(f"has {len(said.channels)} channels; {_MAX_CHANNELS} are possible")
    decode = SrdDecode(location, said)
    channels = said.channels if on_wires else ()
    kind = f"srd.{_fitting(said.outputs[0])}" if said.outputs else PREFIX + _fitting(said.id)

    def new_state(options: OptionValues) -> SrdStream:
        return SrdStream(location, [decode.step(options)], [c.id for c in channels])

    return Decoder(
        id=PREFIX + _fitting(said.id),
        name=said.name,
        doc=" ".join(said.doc.split()),
        consumes=EDGES if on_wires else f"srd.{_fitting(said.inputs[0])}",
        produces=(Output(kind, srd_schema, "annotations of the sigrok decoder"),),
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
            for o in said.options
        ),
        texts=annotation_texts,
    )


def joined_decoder(below: Decoder, steps: list[SrdStep], top: Decoder) -> Decoder:
    """Return the decoder on top as one that takes edges, with the ``steps`` in its worker."""
    if not isinstance(top.decode, SrdDecode) or not isinstance(below.decode, SrdDecode):
        raise TypeError(f"{below.id} and {top.id} are not both sigrok's")
    location = top.decode.location
    channels = [channel.id for channel in below.decode.description.channels]

    def new_state(options: OptionValues) -> SrdStream:
        return SrdStream(location, steps, channels)

    return replace(top, consumes=EDGES, channels=below.channels, new_state=new_state)


def fed_decoder(
    native: Decoder, native_options: OptionValues, steps: list[SrdStep], top: Decoder
) -> Decoder:
    """Return the decoder on top as one that takes edges, on a native one, with the ``steps`` in its
    worker."""
    from freezeframe.decoders.srd.fed_stream import FedStream

    if not isinstance(top.decode, SrdDecode):
        raise TypeError(f"{top.id} is not sigrok's")
    location = top.decode.location

    def new_state(options: OptionValues) -> FedStream:
        return FedStream(location, (native, native_options), steps)

    return replace(top, consumes=EDGES, channels=native.channels, new_state=new_state)


def _table(found: Annotations, said: SrdDescription, samplerate_hz: int) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    from freezeframe.capture.files.edges import PS_PER_S, samples_to_ps
    from freezeframe.decoders.columns import names, one_name, table, whole

    classes = sorted(set(said.classes))
    class_of = np.array([classes.index(name) for name in said.classes], dtype=np.int32)
    kinds = [_NO_ROW, *sorted({name for name, _ in said.rows} - {_NO_ROW})]
    kind_of = np.zeros(len(said.classes), dtype=np.int32)
    for name, members in reversed(said.rows):
        for member in members:
            kind_of[member] = kinds.index(name)
    latest = (2**63 // PS_PER_S - 1) * samplerate_hz

    def t_ps(sample: Any) -> Any:
        # A decoder may say -1, or a sample that no time fits.
        return samples_to_ps(np.clip(sample, 0, latest), samplerate_hz)

    longest: dict[str, int] = {}
    texts = found.texts
    begins = [0, *found.ends.tolist()]
    first = np.array(
        [
            longest.setdefault(texts[begin] if begin < end else "", len(longest))
            for begin, end in pairwise(begins)
        ],
        dtype=np.int32,
    )
    wordings = pa.ListArray.from_arrays(
        whole(np.array(begins, dtype=np.int32)), pa.array(texts, pa.string())
    )
    return table(
        srd_schema(),
        {
            "t_ps": t_ps(found.start),
            "source": one_name(f"{said.id}-1", len(found.start)),
            "kind": names(kind_of[found.ann_class], kinds),
            "t_end_ps": t_ps(found.end),
            "class": names(class_of[found.ann_class], classes),
            "text": names(first[found.text], list(longest)),
            "texts": wordings.take(pa.array(found.text)),
            "sample": found.start,
            "end_sample": found.end,
        },
    )


def _fitting(name: str) -> str:
    """Return an id that the contract takes; those of the installed decoders all are."""
    fit = re.sub(r"[^a-z0-9_-]", "_", name.lower())
    return fit if fit[:1].isalpha() else f"x{fit}"
