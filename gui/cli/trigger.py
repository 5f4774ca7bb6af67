"""``freezeframe trigger``: set what a card freezes on, and print it as it is compiled into the card."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.asked_trigger import Asked
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
    option(
        "--on",
        "TAP",
        "Watch this tap, by its name in the card file; status lists them. Once, or once for each term.",
    ),
]
TermOption = Annotated[
    list[str] | None,
    option(
        "--term",
        "TERM",
        "Match such a word: kind=HEAD|BODY|TAIL, data=VALUE/MASK, header fields flow=3, type=... "
        "Given again, the terms are a, b, c, d.",
    ),
]
ThenOption = Annotated[list[str] | None, option("--then", "TERM", "After it, match such words.")]
StepOption = Annotated[
    list[str] | None,
    option(
        "--step",
        "STEP",
        "A step over the terms, in order: 'a and not b', 'c,count=3,within=500'; after=, not-within=.",
    ),
]
PinOption = Annotated[
    Literal["rising", "falling"] | None,
    option("--pin", "EDGE", "Also freeze on an edge of the card's pin: rising or falling."),
]
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
    step: StepOption = None,
    pin: PinOption = None,
    off: OffOption = False,
    arm: ArmOption = False,
    discard: DiscardOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Set what a card freezes on, and print it as it stands in the card, read back.

    Without --on and --term it only prints. A trigger watches words from the next arm on. A card has one
    trigger: what one word must be in several ways stands in one term, joined by commas. A card that was
    built with steps has up to four terms, each at a tap, and up to three steps over them; without --step
    any of the terms fires. On other cards each option is given once. With --arm a frozen recording that
    this host has not kept is given up only with --discard; else nothing is changed.

    \b
    Examples:
      freezeframe trigger etherbone://192.0.2.7 --on rx_enq --term flow=3,type=RDMA_WRITE --arm
      freezeframe trigger etherbone://192.0.2.7 --on tx_deq --term kind=HEAD --then kind=HEAD --count 4 --limit 100
      freezeframe trigger etherbone://192.0.2.7 --on rx_in --term kind=TAIL \\
        --on rx_out --term kind=TAIL --step a --step b,not-within=5000
      freezeframe trigger etherbone://192.0.2.7
    """
    asked = Asked(on or (), term or (), then or (), step or (), count, limit, edge, pin or "")
    if off and asked.anything:
        raise InputError("--off and --on contradict each other")
    if bool(asked.on) != bool(asked.terms):
        raise InputError("a trigger needs both --on TAP and --term TERM")
    if asked.then and not asked.terms:
        raise InputError("--then needs the --term that comes before it")
    if asked.steps and not asked.terms:
        raise InputError("--step needs the --term that it names")
    if discard and not arm:
        raise InputError("--discard is for --arm, which alone gives a recording up")
    from freezeframe.gui.cli.work.trigger import trigger

    trigger(target, device, asked, off=off, arm=arm, discard=discard, json=json, log=log_accesses)
