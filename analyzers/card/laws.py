"""The laws of a card, own and derived, against its counters at the freeze."""

from __future__ import annotations

from dataclasses import dataclass

from freezeframe.capture.card.elaborated import ElaboratedLaw
from freezeframe.capture.card.recording import CardRecording, Feature


@dataclass(frozen=True, slots=True)
class LawVerdict:
    """What the counters say of a law: ``holds`` is None where one of them was not built or not read."""

    law: ElaboratedLaw
    value: int | None
    holds: bool | None
    text: str


def check_laws(recording: CardRecording) -> list[LawVerdict]:
    """Return the verdict on each law of the card."""
    built = {
        **(recording.counters if Feature.COUNTERS in recording.features else {}),
        **(recording.bank if Feature.BANK in recording.features else {}),
    }
    return [_checked(law, built) for law in recording.card.laws]


def _checked(law: ElaboratedLaw, values: dict[str, int]) -> LawVerdict:
    absent = [name for name in (*law.plus, *law.minus) if name not in values]
    if absent:
        return LawVerdict(
            law, None, None, f"law {law.name}: {', '.join(absent)} was not built or not read"
        )
    value = sum(values[name] for name in law.plus) - sum(values[name] for name in law.minus)
    holds = (law.least is None or value >= law.least) and (law.most is None or value <= law.most)
    terms = " + ".join(f"{name} {values[name]:,}" for name in law.plus)
    terms += "".join(f" - {name} {values[name]:,}" for name in law.minus)
    bounds = [f"at least {law.least:,}"] if law.least is not None else []
    bounds += [f"at most {law.most:,}"] if law.most is not None else []
    return LawVerdict(
        law, value, holds, f"law {law.name}: {terms} = {value:,}; must be {' and '.join(bounds)}"
    )
