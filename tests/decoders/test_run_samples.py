"""A file of samples goes to the decoders as samples where they change often, and as edges elsewhere."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import Decoder, OptionValues, Output
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded, decode_file
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from freezeframe.decoders.serial.uart import UART

RATE_HZ = 10**8
QUIET = 10_000_000  # samples: more than two pieces of the reader


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A busy bus, a long pause, and a busy bus again: CLK, MISO, MOSI, CS."""
    rng = random.Random(1)
    sent = [
        SpiTransfer(
            [rng.randrange(256) for _ in range(500)], [rng.randrange(256) for _ in range(500)]
        )
        for _ in range(10)
    ]
    busy = encode_transfers(sent, samplerate_hz=RATE_HZ, half_period_samples=2)
    again = busy.end_sample + QUIET
    whole = replace(
        busy,
        sample=np.concatenate((busy.sample, busy.sample + again)),
        value=np.concatenate((busy.value, busy.value)),
        end_sample=busy.end_sample + again,
    )
    path = tmp_path_factory.mktemp("capture") / "busy.sr"
    write_sr(whole, path)
    return path


def decoded(
    path: Path, decoders: Mapping[str, Decoder], source: SourceChoice | None = None
) -> list[Decoded]:
    specs = ["spi", "uart:rx=MOSI,baud=1000000", "pieces"]
    return decode_file(path, specs, registry=Registry(dict(decoders)), source=source)


def counting(forms: list[str]) -> Decoder:
    """A decoder that takes edges alone and gives the number of changes of CLK."""
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("t_ps", pa.int64()),
            pa.field("source", pa.string()),
            pa.field("kind", pa.string()),
        ]
    )

    def decode(piece: Edges, options: OptionValues, state: dict[str, int], last: bool) -> Any:
        forms.append(type(piece).__name__)
        for value in piece.value.tolist():
            state["changes"] += value != state["value"]
            state["value"] = value
        rows = [{"t_ps": state["changes"], "source": "", "kind": "count"}] if last else []
        return pa.Table.from_pylist(rows, schema=schema)

    return Decoder(
        id="pieces",
        name="Pieces",
        doc="counts",
        consumes="edges",
        produces=(Output("pieces", lambda: schema),),
        decode=decode,
        new_state=lambda options: {"changes": 0, "value": -1},
        channels=(SPI.channels[0],),
    )


def test_the_tables_do_not_depend_on_the_form_and_both_forms_are_used(capture: Path) -> None:
    forms: list[str] = []
    spi_forms: list[tuple[str, int]] = []

    def samples_seen(piece: Samples, options: OptionValues, state: Any, last: bool) -> Any:
        spi_forms.append(("samples", len(piece)))
        assert SPI.decode_samples is not None
        return SPI.decode_samples(piece, options, state, last)

    def edges_seen(piece: Edges, options: OptionValues, state: Any, last: bool) -> Any:
        spi_forms.append(("edges", piece.total_samples))
        return SPI.decode(piece, options, state, last)

    watched = replace(SPI, decode=edges_seen, decode_samples=samples_seen)
    straight = decoded(capture, {"spi": watched, "uart": UART, "pieces": counting(forms)})
    over_edges = decoded(
        capture,
        {
            "spi": replace(SPI, decode_samples=None),
            "uart": replace(UART, decode_samples=None),
            "pieces": counting([]),
        },
    )
    assert [name for name, _ in straight] == [name for name, _ in over_edges]
    for (name, table), (_, other) in zip(straight, over_edges, strict=True):
        assert table.to_pylist() == other.to_pylist(), name
    assert {form for form, _ in spi_forms} == {"samples", "edges"}
    assert set(forms) == {"Edges"}, "a decoder of edges alone never sees samples"
    words = dict(straight)["spi.words"]
    assert len(words) == 2 * 10 * 500


def test_a_cut_of_the_file_is_decoded_over_edges(capture: Path) -> None:
    forms: list[str] = []

    def refused(piece: Samples, options: OptionValues, state: Any, last: bool) -> Any:
        raise AssertionError("a cut has edges only")

    watched = replace(SPI, decode_samples=refused)
    tables = decoded(
        capture,
        {"spi": watched, "uart": replace(UART, decode_samples=None), "pieces": counting(forms)},
        SourceChoice(cut_ps=(0, 1_000_000_000)),
    )
    assert len(dict(tables)["spi.words"]) > 1000


def test_a_decoder_that_takes_samples_must_take_edges() -> None:
    with pytest.raises(ValueError, match="decoder spi: takes samples but consumes 'mdio'"):
        replace(SPI, consumes="mdio", channels=())
