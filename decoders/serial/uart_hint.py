"""What may be wrong where a line read as a UART has many frames without a stop bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from freezeframe.decoders.columns import numbers

_FEW_WRONG = 8  # frames for each without a stop bit; of random bits every second has none


def uart_hint(table: pa.Table) -> str:
    """Say what may be wrong where many frames of a table of `uart_schema` have no stop bit."""

    counts: dict[str, int] = {}
    for name in ("kind", "error"):
        for chunk in table.column(name).chunks:
            texts = chunk.dictionary.to_pylist()
            each = np.bincount(numbers(chunk.indices), minlength=len(texts)).tolist()
            for text, count in zip(texts, each, strict=True):
                counts[text] = counts.get(text, 0) + count
    frames, wrong = counts.get("frame", 0), counts.get("bad-stop", 0)
    if wrong * _FEW_WRONG <= frames:
        return ""
    source = table.column("source")[0].as_py()
    why = "another rate (say baud=)" if counts.get("baud") else "another rate (baud=0 measures it)"
    return (
        f"uart: {wrong} of {frames} frames of {source} have no stop bit: {why}, another size or parity "
        "(bits=, parity=), an inverted line (invert=yes), or no UART"
    )
