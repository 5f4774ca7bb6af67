"""Credits and descriptors of the event log in words: what was freed, and by how much more."""

from __future__ import annotations

import pandas as pd
import pytest

from freezeframe.capture.registers.layouts import CREDIT
from freezeframe.decoders.trace.views import event_texts

_MODULUS = 1 << CREDIT.fields["freed"][1]


def _credit(t_ps: int, flow: int, code: str, freed: int) -> dict[str, object]:
    value = CREDIT.pack(**dict.fromkeys(CREDIT.fields, 0) | {"freed": freed})
    value &= (1 << 40) - 1
    if value.bit_count() % 2 == 0:
        value ^= 1 << 4  # any bit beside the count makes the parity odd, as it is sent
    return {
        "t_ps": t_ps, "t_unc_ps": 0, "cycle": 0, "device": "A", "kind": "CREDIT", "flow": flow,
        "code": code, "value": value,
    }  # fmt: skip


def test_a_credit_says_what_was_freed_and_the_step_from_the_one_before_of_its_flow() -> None:
    events = pd.DataFrame(
        [
            _credit(1, 0, "sent", 192),
            _credit(2, 3, "sent", 10),
            _credit(3, 0, "sent", 256),
            _credit(4, 0, "taken", 256),
        ]
    )
    said = list(event_texts(events).values())
    assert said == [
        "sent f0: freed 192",
        "sent f3: freed 10",
        "sent f0: freed 256 (+64)",
        "taken f0: freed 256",
    ]


@pytest.mark.parametrize("step", [1, 64, 300])
def test_the_step_of_a_count_that_wrapped_is_what_it_went_on(step: int) -> None:
    first = _MODULUS - 1
    events = pd.DataFrame(
        [_credit(1, 0, "sent", first), _credit(2, 0, "sent", (first + step) % _MODULUS)]
    )
    assert f"(+{step})" in event_texts(events)[1]
