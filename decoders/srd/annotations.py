"""Annotations of sigrok's decoders as columns, and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import PS_PER_S, Edges, samples_to_ps
from freezeframe.decoders.columns import name_type, names, one_name, table, whole
from freezeframe.decoders.srd.catalogue import SrdDescription

_NO_ROW = "annotation"  # the kind of a class that stands in no annotation row


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations in the order in which the decoder gave them.

    ``start`` and ``end`` are ``(n,)`` int64 samples, ``ann_class`` and ``text`` ``(n,)`` int32;
    ``text`` counts the lists of wordings, the longest of each first: ``texts`` has those of the first
    list, then of the second, and ``ends`` is ``(k,)`` int32, where in ``texts`` each list ends.
    """

    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    ann_class: npt.NDArray[np.int32]
    text: npt.NDArray[np.int32]
    texts: list[str]
    ends: npt.NDArray[np.int32]


class _Stream(Protocol):
    def feed(self, piece: Edges, *, last: bool) -> Annotations: ...


def annotation_schema() -> pa.Schema:
    """Return the columns of annotations, in the order in which the decoder gives them.

    ``source`` is the instance as sigrok names it, ``kind`` the annotation row, ``class`` the
    annotation class; ``text`` is the longest wording and ``texts`` has all. ``sample`` and
    ``end_sample`` are what the decoder says, even where that is outside the capture.
    """
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


def decode(described: SrdDescription, piece: Edges, state: _Stream, last: bool) -> pa.Table:
    """Return the annotations that a decoder gives up to the end of a piece.

    Raises:
        FreezeframeError: the decoder or its worker failed.
    """
    annotations = state.feed(piece, last=last)
    classes = sorted(set(described.classes))
    class_of = np.array([classes.index(name) for name in described.classes], dtype=np.int32)
    kinds = [_NO_ROW, *sorted({name for name, _ in described.rows} - {_NO_ROW})]
    kind_of = np.zeros(len(described.classes), dtype=np.int32)
    for name, members in reversed(described.rows):
        for member in members:
            kind_of[member] = kinds.index(name)
    latest = (2**63 // PS_PER_S - 1) * (piece.samplerate_hz or 1)

    def t_ps(sample: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        # A decoder may say -1, or a sample that no time fits.
        return samples_to_ps(np.clip(sample, 0, latest), piece.samplerate_hz)

    longest: dict[str, int] = {}
    texts = annotations.texts
    begins = [0, *annotations.ends.tolist()]
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
        annotation_schema(),
        {
            "t_ps": t_ps(annotations.start),
            "source": one_name(f"{described.id}-1", len(annotations.start)),
            "kind": names(kind_of[annotations.ann_class], kinds),
            "t_end_ps": t_ps(annotations.end),
            "class": names(class_of[annotations.ann_class], classes),
            "text": names(first[annotations.text], list(longest)),
            "texts": wordings.take(pa.array(annotations.text)),
            "sample": annotations.start,
            "end_sample": annotations.end,
        },
    )
