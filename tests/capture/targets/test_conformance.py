"""One suite over every target: the same device, the same bits (docs/adding-a-target.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import BusError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import REGISTERS
from freezeframe.capture.targets.base import Target, open_target
from freezeframe.capture.targets.conformance import CHECKS, Check, ConformanceError, Subject
from freezeframe.capture.targets.logged import LoggedTarget
from tests.capture.targets.fake_device import OUTSIDE, FakeTarget
from tests.capture.targets.places import known_words, pci_tree, recorded
from tests.capture.targets.serve_fake import python_module, spawned

# Deep enough for requests of every length, shallow enough for LiteX's word at a time.
SHAPE = {"devices": 2, "depth": 96, "sampler_depth": 32, "max_burst": 255, "seed": 7}
WRITABLE = names.offset("provoke.traffic_seed")


def fake() -> FakeTarget:
    return FakeTarget(**SHAPE)  # type: ignore[arg-type]  # frozen is a bool and not among them


def subject(open_: Callable[[], Target], **changes: object) -> Subject:
    parts = {"words": known_words(fake()), "outside": OUTSIDE, "writable": WRITABLE} | changes
    return Subject(open=open_, **parts)  # type: ignore[arg-type]  # the types are those above


def by_url(stack: ExitStack, tmp: Path, kind: str) -> Subject:
    return subject(partial(open_target, stack.enter_context(spawned(kind, **SHAPE))))


def in_memory(stack: ExitStack, tmp: Path) -> Subject:
    return subject(fake, by_url=False)


def logged(stack: ExitStack, tmp: Path) -> Subject:
    return subject(lambda: LoggedTarget(fake(), lambda line: None), by_url=False)


def litex(stack: ExitStack, tmp: Path) -> Subject:
    pytest.importorskip("litex", reason="LiteX comes with the extra 'peers'")
    url = stack.enter_context(spawned("etherbone", **SHAPE))
    host, port = url.removeprefix("etherbone://").split(":")
    server = python_module("tests.peers.serve_litex", host, port)
    return subject(partial(open_target, stack.enter_context(server)))


def pci(stack: ExitStack, tmp: Path) -> Subject:
    pci_tree(tmp, fake())
    # A file has no error answers: outside means beyond the BAR.
    return subject(
        partial(open_target, f"pci:0000:03:00.0?sysfs={tmp}"), outside=fake().devices << 24
    )


def file(stack: ExitStack, tmp: Path) -> Subject:
    folder = recorded(tmp / "known.ff", fake())
    return subject(partial(open_target, f"file:{folder}"), writable=None)


def emulated(stack: ExitStack, tmp: Path) -> Subject:
    if find_spec("freezeframe.emulator.target") is None:
        pytest.skip("the emulator is not part of this installation")
    url = "emu:?profile=forth&fault=none&seed=3"
    first = open_target(url)
    stack.callback(first.close)
    still = [
        names.offset(name, *indices)
        for info in REGISTERS
        if info.parameter or info.name.startswith("frozen_flow.")
        for name, indices in ((info.name, i) for i in names.elements(info))
    ]
    words = dict(zip(still, first.read(still).tolist(), strict=True))
    return subject(partial(open_target, url), words=words)


PLACES: dict[str, Callable[[ExitStack, Path], Subject]] = {
    "in-memory": in_memory,
    "logged": logged,
    "etherbone": partial(by_url, kind="etherbone"),
    "uart": partial(by_url, kind="uart"),
    "litex": litex,
    "pci": pci,
    "file": file,
    "emu": emulated,
}


@pytest.fixture(scope="module", params=PLACES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Subject]:
    with ExitStack() as stack:
        yield PLACES[request.param](stack, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_target_does_what_the_protocol_says(place: Subject, check: Check) -> None:
    check(place)


def test_the_registered_schemes_are_those_that_are_checked() -> None:
    from freezeframe.capture.targets.base import target_schemes

    ours = {name for name, where in target_schemes().items() if where.startswith("freezeframe.")}
    assert ours == set(PLACES) - {"in-memory", "logged"}


class Broken(FakeTarget):
    """A fake that can be given one wrong habit."""

    def __init__(self, habit: str) -> None:
        super().__init__(**SHAPE)  # type: ignore[arg-type]  # as above
        self.habit = habit

    def read(self, addresses):  # type: ignore[no-untyped-def]  # passes on whatever comes
        if self.habit == "sorts" and len(addresses) > 1:
            addresses = sorted(addresses)
        if self.habit == "dedups":
            addresses = list(dict.fromkeys(np.asarray(addresses).tolist()))
        if self.habit == "cuts":
            addresses = addresses[:255]
        if self.habit == "rounds":
            addresses = [int(a) & 0xFFFFFFFC for a in addresses]
        if self.habit == "stays-open":
            self.closed = False
        try:
            words = super().read(addresses)
        except BusError:
            if self.habit == "invents":
                return np.zeros(len(addresses), np.uint32)
            raise
        if self.habit == "wide":
            return words.astype(np.int64)
        return words

    def write(self, address, words):  # type: ignore[no-untyped-def]  # passes on whatever comes
        if self.habit == "masks":
            words = [word & 0xFFFFFFFF for word in words]
        if self.habit != "forgets":
            super().write(address, words)


@pytest.mark.parametrize(
    "habit",
    ["sorts", "dedups", "cuts", "rounds", "stays-open", "invents", "wide", "masks", "forgets"],
)
def test_the_suite_finds_a_target_with_a_wrong_habit(habit: str) -> None:
    found = []
    for check in CHECKS:
        try:
            check(subject(lambda: Broken(habit), by_url=False))
        except ConformanceError as error:
            found.append(f"{check.__name__}: {error}")
    assert found, f"no check noticed a target that {habit}"


def test_fake_sysfs_can_be_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pci_tree(tmp_path, fake())
    monkeypatch.setitem(os.environ, "FREEZEFRAME_SYSFS", str(tmp_path))
    target = open_target("pci:03:00.0/bar0")
    assert target.read([0]).tolist() == [0x46525A46]
    target.close()
