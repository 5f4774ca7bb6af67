"""``freezeframe trigger``: set what a card freezes on, and print it as it is compiled into the card."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import DeviceOption, JsonOption, LogOption, TargetArgument, option

OnOption = Annotated[
    str | None,
    option("--on", "TAP", "Watch this tap, by its name in the card file; status lists them.")
]  # fmt: skip
TermOption = Annotated[
    str | None,
    option(
        "--term",
        "TERM",
        "Match such a word: kind=HEAD|BODY|TAIL, data=VALUE/MASK, header fields flow=3, type=...",
    ),
]
ThenOption = Annotated[str | None, option("--then", "TERM", "After it, match such words.")]
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
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Set what a card freezes on, and print it as it stands in the card, read back.

    Without --on and --term it only prints. A trigger watches words from the next arm on; the event
    log tells every step it reaches.

    \b
    Examples:
      freezeframe trigger etherbone://192.0.2.7 --on rx_enq --term flow=3,type=RDMA_WRITE --arm
      freezeframe trigger etherbone://192.0.2.7 --on tx_deq --term kind=HEAD --then kind=HEAD --count 4 --limit 100
      freezeframe trigger etherbone://192.0.2.7
    """
    if off and (on or term):
        raise InputError("--off and --on contradict each other")
    if (on is None) != (term is None):
        raise InputError("a trigger needs both --on TAP and --term TERM")
    if then is not None and term is None:
        raise InputError("--then needs the --term that comes before it")
    from freezeframe.gui.cli.work.trigger import trigger

    terms = [text for text in (term, then) if text is not None]
    trigger(
        target, device, on, terms, count, limit, edge=edge, off=off, arm=arm, json=json, log=log_accesses
    )  # fmt: skip
