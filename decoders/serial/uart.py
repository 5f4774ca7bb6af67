"""UART: one line of asynchronous characters of 5 to 9 bits.

Source: the asynchronous frame of ITU-T V.4 and TIA-232.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import (
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
    Texts,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples

__all__ = ["UART", "decode_uart", "decode_uart_samples", "uart_schema", "uart_texts"]

_ROWS_AT_ONCE = 4096
_MIN_SAMPLES_A_BIT = 3  # with fewer, the middle of a bit is not inside the bit


@cache
def uart_schema() -> pa.Schema:
    """Return the columns of UART frames and errors, in the order of their end.

    ``kind`` is ``frame`` or ``error``, and then ``error`` says which; an error about a frame stands
    after it and repeats its values. ``t_ps`` and ``sample`` of a frame are the falling edge of its
    start bit. ``parity`` is the bit as received. -1 stands for what is not there; the two verdicts
    are null then.
    """
    import pyarrow as pa
    from freezeframe.decoders.columns import name_type

    places = ("sample", "data_sample", "data_end_sample", "end_sample")
    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("error", name_type()),
            pa.field("data", pa.int16()),
            pa.field("parity", pa.int8()),
            pa.field("parity_ok", pa.bool_()),
            pa.field("stop_ok", pa.bool_()),
            *(pa.field(name, pa.int64()) for name in places),
        ]
    )


def decode_uart(edges: Edges, options: OptionValues, state: Any, last: bool) -> pa.Table:
    """Decode a piece of a capture; ``edges`` has the one channel of the line.

    Raises:
        InputError: the baud rate leaves fewer than 3 samples a bit.
    """
    from freezeframe.decoders.serial.uart_kernels import frames

    settings = _settings(edges.samplerate_hz, options)

    def step(done: int, rows: Any) -> tuple[int, int]:
        left = (edges.sample[done:], edges.value[done:])
        return frames(left, edges.end_sample, settings, state, rows)

    # One step beyond the last edge, for what ends between it and the end of the piece.
    return _decoded(edges, step, len(edges) + 1, settings, state, last)


def decode_uart_samples(
    samples: Samples, options: OptionValues, state: Any, last: bool
) -> pa.Table:
    """Decode a piece of a capture, as `decode_uart` does, straight from its samples.

    Raises:
        InputError: the baud rate leaves fewer than 3 samples a bit.
    """
    from freezeframe.decoders.serial.uart_sample_kernels import frames_of_samples

    settings = _settings(samples.samplerate_hz, options)
    masks = samples.masks()

    def step(done: int, rows: Any) -> tuple[int, int]:
        left = samples.data[done:], samples.begin_sample + done
        return frames_of_samples(left, masks, settings, state, rows)

    return _decoded(samples, step, len(samples), settings, state, last)


def _decoded(
    piece: Edges | Samples,
    step: Callable[[int, Any], tuple[int, int]],
    steps: int,
    settings: npt.NDArray[np.void],
    state: Any,
    last: bool,
) -> pa.Table:
    """Take steps until ``steps`` edges or samples are used up, and make the table.

    Args:
        step: decodes from an edge or sample on, into rows; returns how many it consumed and filled.
    """
    import numpy as np
    from freezeframe.decoders.columns import by_column, end_to_end
    from freezeframe.decoders.serial.uart_kernels import ROW, close

    rows = np.empty(_ROWS_AT_ONCE, dtype=ROW)
    found = []
    done = 0
    while done < steps:
        consumed, count = step(done, rows)
        done += consumed
        found.append(by_column(rows[:count]))
    if last or not found:
        count = close(piece.end_sample, settings, state, rows) if last else 0
        found.append(by_column(rows[:count]))
    return _table(end_to_end(found), piece)


def uart_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `uart_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        long = f"{row['source']}: {error}: {_ERROR_TEXTS[error]}{_seen(error, row)}"
        return Texts("!", error, long)
    data = row["data"]
    value = f"{data:02x}"
    char = f" {chr(data)!r}" if 0x20 <= data < 0x7F else ""
    wrong = [name for name in ("parity", "stop") if row[f"{name}_ok"] is False]
    verdict = f", bad {' and '.join(wrong)}" if wrong else ""
    return Texts(value, f"{value}{char}", f"{row['source']}: 0x{value}{char}{verdict}")


def _seen(error: str, row: Mapping[str, Any]) -> str:
    """Return what the line should have said and what it said, where both are known."""
    if error == "bad-parity" and row["parity"] >= 0:
        about = f" of {row['data']:#04x}" if row["data"] >= 0 else ""
        return f": expected {1 - row['parity']}{about}, seen {row['parity']}"
    return ": expected 1, seen 0" if error == "bad-stop" else ""


_ERROR_TEXTS = {
    "bad-start": "the line fell, but was high again in the middle of the start bit",
    "bad-parity": "the parity bit is not that of the data",
    "bad-stop": "the stop bit is 0: another baud rate, another number of bits, or a break",
    "break": "the line was low for a whole frame or longer",
    "cut-frame": "the capture ends inside the frame",
}


def _settings(samplerate_hz: int, options: OptionValues) -> npt.NDArray[np.void]:
    import numpy as np
    from freezeframe.decoders.serial.uart_kernels import PARITIES, SETTINGS

    baud = options.integer("baud")
    if samplerate_hz < _MIN_SAMPLES_A_BIT * baud:
        raise InputError(
            f"decoder uart: option baud={baud}: {samplerate_hz} samples a second are "
            f"{samplerate_hz / baud:.2f} a bit; at least {_MIN_SAMPLES_A_BIT} are needed"
        )
    parity = options.text("parity")
    # Halves of bits: start, data, parity, stop.
    halves = 2 * (1 + options.integer("bits") + (parity != "none")) + round(
        2 * options.number("stop")
    )
    settings = np.zeros(1, dtype=SETTINGS)
    settings["samplerate_hz"] = samplerate_hz
    settings["baud"] = baud
    settings["bits"] = options.integer("bits")
    settings["parity"] = PARITIES.index(parity)
    settings["break_samples"] = -(-halves * samplerate_hz // (2 * baud))
    settings["msb_first"] = options.text("order") == "msb-first"
    settings["invert"] = options.flag("invert")
    return settings


def _table(rows: Mapping[str, npt.NDArray[np.int64]], piece: Edges | Samples) -> pa.Table:
    import numpy as np
    from freezeframe.capture.files.edges import samples_to_ps
    from freezeframe.decoders.columns import names, one_name, table, verdicts
    from freezeframe.decoders.serial.uart_kernels import ERRORS

    schema = uart_schema()
    columns: dict[str, Any] = {name: rows[name] for name in schema.names if name in rows}
    columns.update(
        t_ps=samples_to_ps(rows["sample"], piece.samplerate_hz),
        t_end_ps=samples_to_ps(rows["end_sample"], piece.samplerate_hz),
        source=one_name(piece.channels[0], len(rows["sample"])),
        kind=names((rows["error"] != 0).astype(np.int32), ("frame", "error")),
        error=names(rows["error"], ERRORS),
        parity_ok=verdicts(rows["parity_ok"]),
        stop_ok=verdicts(rows["stop_ok"]),
    )
    return table(schema, columns)


def _new_state(options: OptionValues) -> Any:
    from freezeframe.decoders.serial.uart_kernels import new_state

    return new_state()


UART = Decoder(
    id="uart",
    name="UART",
    doc="asynchronous characters on one line; decode a second line with a second -d",
    consumes=EDGES,
    produces=(Output("uart", uart_schema, "frames and errors"),),
    decode=decode_uart,
    decode_samples=decode_uart_samples,
    new_state=_new_state,
    channels=(Channel("rx", "the line"),),
    options=(
        Option("baud", 115200, "bits a second", minimum=1, maximum=10**9, unit="Bd"),
        Option("bits", 8, "data bits", minimum=5, maximum=9),
        Option(
            "parity",
            "none",
            "how the parity bit is checked",
            choices=("none", "odd", "even", "zero", "one", "ignore"),
        ),
        Option("stop", 1.0, "stop bits, for the length of a break", choices=(0.5, 1.0, 1.5, 2.0)),
        Option("order", "lsb-first", "bit that comes first", choices=("lsb-first", "msb-first")),
        Option("invert", False, "the line idles low"),
    ),
    texts=uart_texts,
)
