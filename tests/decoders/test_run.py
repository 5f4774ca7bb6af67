"""From a file and what the user asks for to tables, in memory and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders import run
from freezeframe.decoders.contract import EDGES, Channel, Decoder, OptionValues, Output
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.decoders.run import StackRun, decode_file
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from freezeframe.decoders.spec import parse_spec
from tests.capture.files.captures import metadata, write_session
from tests.decoders.trace.captures import capture, device, image
from tests.decoders.trace.recorder_model import BODY, record_stream

FRAMES = [MdioFrame(22, "read", 1, n % 32, 0x1000 + n) for n in range(200)]
COUNTED = pa.proxy_memory_pool(pa.default_memory_pool())  # must outlive what comes from it


@pytest.fixture
def bus(tmp_path: Path) -> Path:
    path = tmp_path / "bus.sr"
    write_sr(encode_frames(FRAMES, samplerate_hz=10_000_000), path)
    return path


def count_schema() -> pa.Schema:
    return pa.schema([("t_ps", pa.int64()), ("source", pa.string()), ("kind", pa.string())])


def rows(*found: tuple[int, str, str]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(("t_ps", "source", "kind"), row, strict=True)) for row in found],
        schema=count_schema(),
    )


def decode_reads(table: pa.Table, options: OptionValues, state: list[int], last: bool) -> pa.Table:
    """Count frames; say how many when the stream ends."""
    state[0] += sum(kind == "frame" for kind in table["kind"].to_pylist())
    return rows((0, "bus", f"{state[0]} frames")) if last else rows()


def decode_both(
    edges: Edges, options: OptionValues, state: None, last: bool
) -> Mapping[str, pa.Table]:
    found = [(0, ",".join(edges.channels), "seen")] if last else []
    return {"both.a": rows(*found), "both.b": rows()}


COUNT = Decoder(
    "count",
    "Count",
    "frames",
    consumes="mdio",
    produces=(Output("count", count_schema),),
    decode=decode_reads,
    new_state=lambda options: [0],
)
BOTH = Decoder(
    "both",
    "Both",
    "two tables",
    consumes=EDGES,
    produces=(Output("both.a", count_schema), Output("both.b", count_schema)),
    decode=decode_both,
    channels=(Channel("mdio", "data"), Channel("reset", "reset", optional=True)),
)
LIAR = Decoder(
    "liar",
    "Liar",
    "another table than it declares",
    consumes="mdio",
    produces=(Output("liar", count_schema),),
    decode=lambda table, options, state, last: table,
)
REGISTRY = Registry({**load_decoders().decoders, "count": COUNT, "both": BOTH, "liar": LIAR})


def test_a_spec_gives_a_table_under_its_name(bus: Path) -> None:
    ((name, table),) = decode_file(bus, ["mdio"])
    assert name == "mdio"
    assert table["data"].to_pylist() == [frame.data for frame in FRAMES]
    assert table["t_ps"].to_pylist() == sorted(table["t_ps"].to_pylist())


def test_several_specs_read_the_file_once_and_have_different_names(bus: Path) -> None:
    seen: list[int] = []
    decoded = decode_file(
        bus,
        ["mdio", "mdio:clause=45", "mdio+count", "both"],
        registry=REGISTRY,
        progress=lambda done, total: seen.append(done),
    )
    assert [name for name, _ in decoded] == ["mdio", "mdio#2", "mdio+count", "both.a", "both.b"]
    assert [table.num_rows for _, table in decoded] == [200, 200, 1, 1, 0]
    assert seen == sorted(set(seen))


def test_a_stacked_decoder_gets_the_rows_of_the_one_below(bus: Path) -> None:
    ((_, table),) = decode_file(bus, ["mdio+count"], registry=REGISTRY)
    assert table["kind"].to_pylist() == ["200 frames"]


def test_pieces_of_any_size_give_the_same_table(bus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, whole),) = decode_file(bus, ["mdio"])
    monkeypatch.setattr("freezeframe.capture.files.sigrok_sr._PIECE_B", 997)
    monkeypatch.setattr(run, "_EDGES_AT_ONCE", 10)
    ((_, parts),) = decode_file(bus, ["mdio"])
    assert parts.equals(whole)


def test_channels_are_handed_over_in_the_declared_order(bus: Path) -> None:
    decoded = decode_file(bus, ["both:mdio=MDC"], registry=REGISTRY)
    # The probe that stands for the channel, and nothing for the optional one.
    assert decoded[0].table["source"].to_pylist() == ["MDC,"]


def test_a_given_sample_rate_dates_the_rows(bus: Path) -> None:
    ((_, table),) = decode_file(bus, ["mdio"], samplerate_hz=1_000_000)
    ((_, tenfold),) = decode_file(bus, ["mdio"])
    assert table["t_ps"].to_pylist() == [10 * t for t in tenfold["t_ps"].to_pylist()]


@pytest.mark.parametrize(
    ("specs", "says"),
    [
        ([], "no decoder is named; `freezeframe decoders` lists them"),
        (["mdio:mdc=X"], "decoder mdio: channel mdc: there is no probe 'X'; .*: MDC, MDIO"),
        (["trace"], r"bus\.sr is a file of samples, but trace takes capture; .*: .*both, .*mdio, "),
        (["count"], r"count takes mdio; stack it: mdio\+count; decoders for a file of samples"),
        (["mdio+liar"], "decoder liar is wrong: liar has columns t_ps int64, .*tell its author"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(specs: list[str], says: str, bus: Path) -> None:
    with pytest.raises(InputError, match=says):
        decode_file(bus, specs, registry=REGISTRY)


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.sr: there is no such file or folder"):
        decode_file(tmp_path / "none.sr", ["mdio"])


def test_a_folder_takes_decoders_of_captures_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a capture folder, but mdio takes edges; .*: trace"):
        decode_file(tmp_path, ["mdio"])
    with pytest.raises(CaptureFormatError, match=r"manifest"):
        decode_file(tmp_path, ["trace"])


def test_more_samples_than_allowed_are_refused(bus: Path) -> None:
    with pytest.raises(InputError, match="more than the 1000 allowed"):
        decode_file(bus, ["mdio"], max_samples=1000)


def test_damage_at_the_end_gives_no_table(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [bytes(3)], metadata(["MDC", "MDIO"], unitsize=2))
    with pytest.raises(CaptureFormatError, match="the samples end with 1 B"):
        decode_file(path, ["mdio"])


def test_the_rows_are_handed_over_without_being_there_twice() -> None:
    whole = Output("wide", lambda: pa.schema([(name, pa.int64()) for name in "abcdefgh"]))

    def decode(edges: Edges, options: OptionValues, state: None, last: bool) -> pa.Table:
        columns = [pa.repeat(pa.scalar(place), 100_000) for place in range(8)]
        return pa.Table.from_arrays(columns, schema=whole.schema())

    wide = Decoder("wide", "", "", EDGES, (whole,), decode, channels=(Channel("a", "a"),))
    wide_run = StackRun(parse_spec("wide", Registry({"wide": wide})))
    edge = np.zeros(1, dtype=np.int64)
    piece = Edges(edge, edge.astype(np.uint64), ("a",), 1_000_000, 0, 1)
    before = pa.default_memory_pool()
    pa.set_memory_pool(COUNTED)
    try:
        for _ in range(10):
            wide_run.feed(piece, last=False)
        ((_, table),) = wide_run.tables()
        peak_B = COUNTED.max_memory()
    finally:
        pa.set_memory_pool(before)
    assert table["h"].to_numpy().tolist() == [7] * 1_000_000
    assert all(column.num_chunks == 1 for column in table.columns)
    assert peak_B < 1.4 * table.nbytes


NAMED = Output("named", lambda: pa.schema([("name", pa.dictionary(pa.int32(), pa.string()))]))


def named(*pieces: list[str]) -> pa.Table:
    """Return the table of a decoder that gives these names, piece by piece."""
    given = iter(pieces)

    def decode(edges: Edges, options: OptionValues, state: None, last: bool) -> pa.Table:
        names = pa.array(next(given), pa.string()).dictionary_encode()
        return pa.Table.from_arrays([names], schema=NAMED.schema())

    decoder = Decoder("named", "", "", EDGES, (NAMED,), decode, channels=(Channel("a", "a"),))
    run = StackRun(parse_spec("named", Registry({"named": decoder})))
    edge = np.zeros(1, dtype=np.int64)
    for _ in pieces:
        run.feed(Edges(edge, edge.astype(np.uint64), ("a",), 1_000_000, 0, 1), last=False)
    ((_, table),) = run.tables()
    return table


@pytest.mark.parametrize(
    "pieces",
    [
        ([], []),
        ([], ["x", "y", "x"], []),
        (["x", "y"], ["x", "y", "y"]),
        (["x", "y"], [], ["y", "z"], ["x"]),
    ],
    ids=["none", "one piece", "the same names", "other names"],
)
def test_names_of_all_pieces_become_one_column(pieces: tuple[list[str], ...]) -> None:
    table = named(*pieces)
    assert table["name"].to_pylist() == [name for piece in pieces for name in piece]
    assert table["name"].num_chunks <= 1
    found = table["name"].combine_chunks().dictionary.to_pylist()
    assert sorted(found) == sorted({name for piece in pieces for name in piece})


def test_a_capture_folder_is_decoded_by_trace(tmp_path: Path) -> None:
    records = record_stream([(5, BODY, 0xAB), (6, BODY, 0xCD)], 0, 60)
    folder = tmp_path / "fault.ff"
    capture(device(0, image("tx_enq", records)), path=folder)
    decoded = dict(decode_file(folder, ["trace"]))
    assert sorted(decoded) == ["trace.events", "trace.intervals", "trace.packets", "trace.words"]
    assert decoded["trace.words"]["data"].to_pylist() == [0xAB, 0xCD]
