"""Each broken copy of our stack fails the requirement that it breaks, and not what does not follow."""

from __future__ import annotations

import pytest

from freezeframe.emulator.iwarp.conform.outcome import FAIL
from freezeframe.emulator.iwarp.conform.requirement import REQUIREMENTS
from freezeframe.emulator.iwarp.conform.suite import judge
from freezeframe.emulator.iwarp.quirks import QUIRKS, Quirks
from tests.emulator.iwarp.broken_copies import INITIATORS, RESPONDERS
from tests.emulator.iwarp.ends import let_compile
from tests.emulator.iwarp.subject import initiator, responder


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    let_compile()


BY_NUMBER = {r.number: r for r in REQUIREMENTS}
BESIDE = {"responder": (101, 303, 404), "initiator": (151, 303)}
"""What every copy is put to as well; it must not fail where it does not follow."""


@pytest.mark.parametrize("number", RESPONDERS)
def test_a_broken_responder_fails(number: int) -> None:
    options, follow = RESPONDERS[number]
    with responder(options) as subject:
        for other in set(BESIDE["responder"]) - {number, *follow}:
            assert judge(BY_NUMBER[other], subject)[0].outcome != FAIL, other
        subject.patience_s = subject.limit_s = 0.4  # for what it does not do
        assert judge(BY_NUMBER[number], subject)[0].outcome == FAIL


@pytest.mark.parametrize("number", INITIATORS)
def test_a_broken_initiator_fails(number: int) -> None:
    options, _ = INITIATORS[number]
    with initiator(options) as subject:
        subject.patience_s = subject.limit_s = 0.4
        assert judge(BY_NUMBER[number], subject)[0].outcome == FAIL


def test_every_requirement_has_its_broken_copy() -> None:
    assert {*RESPONDERS, *INITIATORS} == set(BY_NUMBER)


def test_every_quirk_is_tried() -> None:
    tried: set[str] = set()
    for options, _ in (*RESPONDERS.values(), *INITIATORS.values()):
        tried |= options.quirks.names
    assert tried == set(QUIRKS)


def test_a_quirk_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no quirk 'none'"):
        Quirks(frozenset(["none"]))
