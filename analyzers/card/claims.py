"""A claim about a card, the witnesses it entails, and the finding that is left of it.

A name stands only while no witness that could have seen it is against it: else the claim falls to a candidate, and
what contradicts it is printed. How often a name is right has not been counted yet on cards of this kind, so no
finding carries a confidence that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.analyzers.card.names import BYTES_ROTATED
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Says, Witness
from freezeframe.decoders.tap.checked import Wrong

NOT_COUNTED = "Confidence: not counted yet."

FEW = 4  # packets from which on a format is judged

_SAID = {
    Wrong.CRC: "its CRC is wrong",
    Wrong.USER: "the user bit at its end says that it is bad",
    Wrong.RUNT: "it is shorter than the format allows",
    Wrong.GIANT: "it is longer than the format allows",
    Wrong.CONSTANT: "a field that is constant holds another value",
    Wrong.LENGTH: "its length is not the one its header says",
    Wrong.PREAMBLE: "no preamble stands before it",
    Wrong.HEADER_CRC: "the CRC of its header is wrong",
}


def said_of(wrong: int) -> str:
    """Return the checks that a packet fails, in words."""
    return ", ".join(text for bit, text in _SAID.items() if wrong & bit)


@dataclass(frozen=True, slots=True)
class Claim:
    """This happened, here, to this packet.

    Attributes:
        name: the general name. Others that fit as well are ``candidates``.
        where: taps of the stretch, or the one tap; of a link with their devices, ``("A.out", "B.in")``.
        packet: number of the packet in the first tap's memory, from 0.
        falsifier: what would have shown it wrong.
        lanes: bytes of a beat of ``width`` that changed; of crossed lanes those of one sort are told as one.
        after: what came of it: packets in the second tap's memory.
        used: how many packets of the first tap, from ``packet`` on, came out in those.
    """

    name: str
    text: str
    where: tuple[str, ...]
    packet: int | None = None
    beat: int | None = None
    t_ps: int | None = None
    t_unc_ps: int | None = None
    witnesses: tuple[Witness, ...] = ()
    falsifier: str = ""
    candidates: tuple[str, ...] = ()
    lanes: tuple[int, ...] = ()
    width: int = 1
    after: tuple[int, ...] = ()
    used: int = 1


def findings_of(claims: Sequence[Claim], device: str) -> list[Finding]:
    """Return a finding for each sort of claim, the first in time standing for all, oldest first."""
    groups: dict[tuple[object, ...], list[Claim]] = {}
    for claim in claims:
        contradicted = any(witness.says is Says.AGAINST for witness in claim.witnesses)
        sort = claim.lanes if claim.name == BYTES_ROTATED else ()
        key = (claim.name, claim.where, claim.candidates, contradicted, sort)
        groups.setdefault(key, []).append(claim)
    found = [_finding(group, device) for group in groups.values()]
    return sorted(found, key=lambda f: f.t_ps if f.t_ps is not None else 1 << 62)


def _finding(group: Sequence[Claim], device: str) -> Finding:
    claim = group[0]
    against = [witness for witness in claim.witnesses if witness.says is Says.AGAINST]
    name, candidates = claim.name, claim.candidates
    if candidates or against:
        name, candidates = UNDETERMINED, candidates or (claim.name,)
    more = ""
    if len(group) > 1:
        numbers = ", ".join(str(other.packet) for other in group[1:9] if other.packet is not None)
        named = f": packet {numbers}{', ...' * (len(group) > 9)}" if numbers else ""
        more = f" The same befell {len(group) - 1} more{named}."
    doubt = "".join(f" Against it: {witness.text}." for witness in against)
    # Over a link it is told of the sender, whose packet it is.
    tap = next((name.rpartition(".")[2] for name in claim.where if "." in name), None)
    if tap is None and claim.where:
        tap = claim.where[-1]
    place = device if not claim.where else claim.where[-1]
    evidence = [
        Evidence(f"{witness.says.value.capitalize()}: {witness.text}", device, place, witness.rows)
        for witness in claim.witnesses
    ]
    if claim.falsifier:
        evidence.append(
            Evidence(f"Would have shown it wrong, and was looked at: {claim.falsifier}", device)
        )
    evidence.append(Evidence(NOT_COUNTED, device))
    return Finding(
        name,
        f"{claim.text}{more}{doubt}",
        device=device,
        tap=tap,
        direction=" -> ".join(claim.where) if len(claim.where) > 1 else None,
        packet=claim.packet,
        word=claim.beat,
        t_ps=claim.t_ps,
        t_uncertainty_ps=claim.t_unc_ps,
        candidates=candidates if name == UNDETERMINED else (),
        evidence=tuple(evidence),
    )
