"""A sweep on a Dask scheduler: the same points as here, and every way in which it cannot be used in one line."""

from __future__ import annotations

import builtins
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import LocalCluster

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter import remote
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.adapter.what_if import sweep

SWEEPS = {"size_B": [64, 1024, 4096], "depth": [1, 2]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
    ) as running:
        yield running


def test_the_points_are_those_of_a_sweep_on_this_machine_in_the_same_order(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_TOGETHER", 2)  # three tasks
    base = load_adapter("cim250")
    seen: list[tuple[int, int]] = []
    there = sweep(
        base, {}, SWEEPS, lambda done, total: seen.append((done, total)), cluster.scheduler_address
    )
    assert there == sweep(base, {}, SWEEPS)
    assert [point.settings["size_B"] for point in there] == [64, 64, 1024, 1024, 4096, 4096]
    assert sorted(seen) == [(2, 6), (4, 6), (6, 6)]


def test_a_value_that_is_not_allowed_is_the_same_line_as_here(cluster: LocalCluster) -> None:
    base = load_adapter("cim250")
    texts = []
    for scheduler in ("", cluster.scheduler_address):
        with pytest.raises(InputError) as refused:
            sweep(base, {}, {"stage.dma.byte_ns": [-1]}, scheduler=scheduler)
        texts.append(str(refused.value))
    assert texts[0] == texts[1] and "byte_ns" in texts[0]


def test_an_address_at_which_nobody_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE_S", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match=f"--scheduler {address}: nobody answers there"):
            sweep(load_adapter("cim250"), {}, SWEEPS, scheduler=address)


@pytest.mark.parametrize("address", ["nonsense:", "xyz://127.0.0.1:1"])
def test_what_is_no_address_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE_S", 1)
    with pytest.raises(InputError, match="--scheduler"):
        sweep(load_adapter("cim250"), {}, SWEEPS, scheduler=address)


def test_a_scheduler_without_workers_says_how_to_start_one() -> None:
    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=0, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
        ) as empty,
        pytest.raises(
            InputError, match=r"it has no workers; start one: dask worker tcp://127.0.0.1"
        ),
    ):
        sweep(load_adapter("cim250"), {}, SWEEPS, scheduler=empty.scheduler_address)


def test_without_dask_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "distributed":
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        InputError, match=r"Dask is not installed here; pip install 'freezeframe\[dask\]'"
    ):
        sweep(load_adapter("cim250"), {}, SWEEPS, scheduler="tcp://127.0.0.1:1")
