"""Edges in pieces of any size give the same table; chunks, wide samples, parallel stacks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.run import StackRun, decode_file
from freezeframe.decoders.spec import parse_spec
from freezeframe.decoders.srd.expand import fill, packed
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.pieces import between
from tests.decoders.serial.mdio_bus import random_capture
from tests.decoders.srd.sigrok_side import our_lines, sigrok_lines, workers_of

RATE_HZ = 1_000_000


def edges_of(samples: bytes, *channels: str) -> Edges:
    sample, value = EdgeReducer(1, range(len(channels))).feed(samples)
    return Edges(sample, value, channels, RATE_HZ, 0, len(samples))


def cut(edges: Edges, at: list[int]) -> Iterator[tuple[Edges, bool]]:
    bounds = [0, *sorted(at), edges.end_sample]
    for begin, end in pairwise(bounds):
        yield between(edges, begin, end), end == edges.end_sample


@pytest.mark.parametrize(
    ("begin", "sample", "value", "held", "samples", "used", "after"),
    [
        (0, [0], [1], 0, [1, 1, 1, 1], 1, 1),
        (0, [0, 3], [1, 2], 0, [1, 1, 1, 2], 2, 2),
        (100, [], [], 7, [7, 7, 7, 7], 0, 7),
        (100, [101, 102, 104], [1, 2, 3], 7, [7, 1, 2, 2], 2, 2),
        (100, [104], [3], 7, [7, 7, 7, 7], 0, 7),
    ],
    ids=["first", "two", "none", "one-is-left", "all-are-left"],
)
def test_edges_become_samples(
    begin: int,
    sample: list[int],
    value: list[int],
    held: int,
    samples: list[int],
    used: int,
    after: int,
) -> None:
    out = np.full(4, 99, dtype=np.uint8)
    got = fill(
        out,
        begin,
        np.array(sample, dtype=np.int64),
        np.array(value, dtype=np.uint64),
        np.uint64(held),
    )
    assert out.tolist() == samples
    assert (int(got[0]), int(got[1])) == (used, after)


def test_absent_channels_take_no_bit() -> None:
    value = np.array([0b0000, 0b1010, 0b0010], dtype=np.uint64)
    assert packed(value, (1, 3)).tolist() == [0b00, 0b11, 0b01]
    assert packed(value, (0, 1)) is value


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_do_not_depend_on_where_pieces_end(seed: int) -> None:
    edges = edges_of(random_capture(seed), "MDC", "MDIO")
    stack = parse_spec("srd-mdio", load_decoders())
    rng = random.Random(seed)
    tables = []
    for cuts in ([], [1], rng.sample(range(1, edges.end_sample), 7)):
        run = StackRun(stack)
        for piece, last in cut(edges, cuts):
            run.feed(piece, last=last)
        tables.append(run.tables()[0].table.to_pylist())
    assert len(tables[0]) > 100
    assert tables[0] == tables[1] == tables[2]


def test_a_piece_that_does_not_follow_is_refused_and_the_worker_ends() -> None:
    edges = edges_of(random_capture(0), "MDC", "MDIO")
    (first, _), (_, _), (third, _) = cut(edges, [50, 60])
    run = StackRun(parse_spec("srd-mdio", load_decoders()))
    run.feed(first, last=False)
    assert len(workers_of()) == 1
    with pytest.raises(ValueError, match="a piece that begins at sample 60, not 50"):
        run.feed(third, last=True)
    assert workers_of() == []


def test_a_run_that_is_stopped_before_its_worker_starts_fails_at_once() -> None:
    run = StackRun(parse_spec("srd-mdio", load_decoders()))
    run.stop()
    with pytest.raises(FreezeframeError, match="died of SIGKILL"):
        run.feed(edges_of(random_capture(0), "MDC", "MDIO"), last=True)
    assert workers_of() == []


def test_a_capture_of_many_chunks_gives_what_sigrok_cli_prints(tmp_path: Path) -> None:
    # 16 bits a sample, 5 chunks and a bit; a change in every 997 samples, and idle stretches.
    count = 5 * (1 << 19) + 12_345
    wide = np.cumsum(np.arange(count) % 997 == 0).astype("<u2") * 0x0101
    wide[700_000:1_900_000] = 0xFFFF
    names = [f"P{n}" for n in range(16)]
    path = write_session(tmp_path / "w.sr", [wide.tobytes()], metadata(names, unitsize=2))
    theirs = "parallel:clk=P0:d0=P1:d1=P9:d2=P10:d3=P11:d4=P12:d5=P13:d6=P14:d7=P15"
    said = sigrok_lines(path, theirs, "parallel")
    assert our_lines(path, "srd-" + theirs.replace(":", ",").replace(",", ":", 1)) == said
    assert len(said) > 700


def test_two_stacks_beside_each_other_give_what_they_give_alone() -> None:
    path = real_capture("xfp.sr")
    below = "srd-i2c:scl=SCL,sda=SDA"
    specs = [below, f"{below}+srd-xfp", f"{below}+srd-eeprom24xx", "srd-jitter:clk=SCL,sig=SDA"]
    together = decode_file(path, specs)
    assert [name for name, _ in together] == [
        "srd-i2c",
        "srd-i2c+srd-xfp",
        "srd-i2c+srd-eeprom24xx",
        "srd-jitter",
    ]
    for spec, (_, table) in zip(specs, together, strict=True):
        ((_, alone),) = decode_file(path, [spec])
        assert table.to_pylist() == alone.to_pylist()
    assert together[0].table.num_rows > 10_000
    assert workers_of() == []


def test_native_and_sigrok_decoders_read_one_file_together() -> None:
    path = real_capture("lan8720a_read_all_plugged.sr")
    native, sigrok = (table for _, table in decode_file(path, ["mdio", "srd-mdio"]))
    said = [row["text"] for row in sigrok.to_pylist() if row["class"] == "decode"]
    read = [row["data"] for row in native.to_pylist()]
    assert [int(text.split()[1], 16) for text in said] == read
    assert len(read) == 32


def test_a_decoder_without_one_probe_is_refused(tmp_path: Path) -> None:
    path = write_session(tmp_path / "q.sr", [bytes(100)], metadata(["x"]))
    with pytest.raises(FreezeframeError, match=r"uart: no channel has a probe; say one of rx, tx"):
        decode_file(path, ["srd-uart"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("srd-uart:rx=x,parity=maybe", r"srd-uart: option parity=maybe: not a choice"),
        ("srd-uart:rx=x,baudrate=fast", r"option baudrate=fast: not a whole number"),
        ("srd-uart:rx=y", r"channel rx: there is no probe 'y'"),
        ("srd-uart:volume=1", r"srd-uart has no option or channel volume"),
        (
            "srd-uart:rx=x+srd-spiflash",
            r"srd-spiflash takes srd\.spi, but srd-uart makes srd\.uart",
        ),
        ("srd-spiflash", r"srd-spiflash takes srd\.spi; stack it: spi\+srd-spiflash"),
        ("srd-nothing", r"no decoder 'srd-nothing'.*`freezeframe decoders` lists them"),
    ],
    ids=["choice", "number", "probe", "option", "stack", "alone", "name"],
)
def test_what_does_not_fit_is_refused_before_anything_runs(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_session(tmp_path / "q.sr", [bytes(100)], metadata(["x"]))
    load_decoders()
    started: list[object] = []
    monkeypatch.setattr("subprocess.Popen", lambda *a, **k: started.append(a))
    with pytest.raises(InputError, match=message):
        decode_file(path, [spec])
    assert started == []


def test_a_worker_ends_when_reading_fails(tmp_path: Path, slow_chunks: Callable[[], bytes]) -> None:
    # The second chunk holds half a sample: that is known only when the first is being decoded.
    path = write_session(
        tmp_path / "cut.sr", [slow_chunks(), b"\x00"], metadata(["MDC", "MDIO"], unitsize=2)
    )
    with pytest.raises(InputError, match="the samples end with 1 B of a sample of 2 B"):
        decode_file(path, ["srd-mdio"])
    assert workers_of() == []


@pytest.fixture
def slow_chunks() -> Callable[[], bytes]:
    return lambda: np.frombuffer(random_capture(1) * 50, dtype=np.uint8).astype("<u2").tobytes()
