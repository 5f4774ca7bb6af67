"""``freezeframe trigger``: set what a card freezes on, and print it as it is compiled into the card."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import (
    DeviceOption,
    DiscardOption,
    JsonOption,
    LogOption,
    TargetArgument,
    option,
)

OnOption = Annotated[
    list[str] | None,
    option("--on", "TAP", "Watch this tap, by its name in the card file; status lists them.")
]  # fmt: skip
TermOption = Annotated[
    list[str] | None,
    option(
        "--term",
        "TERM",
        "Match such a word: kind=HEAD|BODY|TAIL, data=VALUE/MASK, header fields flow=3, type=...",
    ),
]
ThenOption = Annotated[list[str] | None, option("--then", "TERM", "After it, match such words.")]
CountOption = Annotated[
    int, typer.Option("--count", metavar="N", min=1, help="So many matches of the last term.")
]
LimitOption = Annotated[
    int,
    typer.Option(
        "--limit", metavar="CYCLES", min=0, help="Within so many cycles of the first term; 0: any."
    ),
]
EdgeOption = Annotated[
    bool, typer.Option("--edge", help="Only where the word before did not match.")
]
OffOption = Annotated[bool, typer.Option("--off", help="Switch the trigger off.")]
ArmOption = Annotated[bool, typer.Option("--arm", help="Arm every device of the card afterwards.")]


def run(
    target: TargetArgument,
    device: DeviceOption = "A",
    on: OnOption = None,
    term: TermOption = None,
    then: ThenOption = None,
    count: CountOption = 1,
    limit: LimitOption = 0,
    edge: EdgeOption = False,
    off: OffOption = False,
    arm: ArmOption = False,
    discard: DiscardOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Set what a card freezes on, and print it as it stands in the card, read back.

    Without --on and --term it only prints. A trigger watches words from the next arm on; the event
    log tells every step it reaches. It has one tap and two terms, so each option is given once; what
    one word must be in several ways stands in one term, joined by commas. With --arm a frozen
    recording that this host has not kept is given up only with --discard; else nothing is changed.

    \b
    Examples:
      freezeframe trigger etherbone://192.0.2.7 --on rx_enq --term flow=3,type=RDMA_WRITE --arm
      freezeframe trigger etherbone://192.0.2.7 --on tx_deq --term kind=HEAD --then kind=HEAD --count 4 --limit 100
      freezeframe trigger etherbone://192.0.2.7
    """
    taps, first, second = _once(on, "--on"), _once(term, "--term"), _once(then, "--then")
    if off and (taps or first):
        raise InputError("--off and --on contradict each other")
    if len(taps) != len(first):
        raise InputError("a trigger needs both --on TAP and --term TERM")
    if second and not first:
        raise InputError("--then needs the --term that comes before it")
    if discard and not arm:
        raise InputError("--discard is for --arm, which alone gives a recording up")
    from freezeframe.gui.cli.work.trigger import trigger

    tap = taps[0] if taps else None
    trigger(
        target, device, tap, [*first, *second], count, limit,
        edge=edge, off=off, arm=arm, discard=discard, json=json, log=log_accesses,
    )  # fmt: skip


_WHY_ONCE = {
    "--on": "a card has one trigger, which watches one tap",
    "--term": "join what one word must be by commas: --term 'type=RDMA_WRITE,flow=0'",
    "--then": "the trigger has two terms, --term and --then",
}


def _once(values: list[str] | None, name: str) -> list[str]:
    """Return an option's value; refuse a second one, which would silently take the place of the first."""
    if values and len(values) > 1:
        raise InputError(f"{name} is given {len(values)} times: {_WHY_ONCE[name]}")
    return values or []
