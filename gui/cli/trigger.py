"""``freezeframe trigger``: set what a card freezes on, and print it as it is compiled into the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json, hex_word, table
from freezeframe.gui.cli.provoked import DeviceOption, chosen
from freezeframe.gui.cli.session import open_session

if TYPE_CHECKING:
    from freezeframe.capture.recorder.trigger import Trigger

__all__ = ["run"]

OnOption = Annotated[
    str | None,
    typer.Option("--on", metavar="TAP", help="Watch this tap: tx_enq, tx_deq, rx_enq, rx_deq.", show_default=False),
]  # fmt: skip
TermOption = Annotated[
    str | None,
    typer.Option(
        "--term",
        metavar="TERM",
        help="Match such a word: kind=HEAD|BODY|TAIL, data=VALUE/MASK, header fields flow=3, type=...",
        show_default=False,
    ),
]
ThenOption = Annotated[
    str | None,
    typer.Option("--then", metavar="TERM", help="After it, match such words.", show_default=False),
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
    from freezeframe.capture.recorder.control import arm_all
    from freezeframe.capture.recorder.trigger import (
        Trigger,
        clear_trigger,
        parse_term,
        read_trigger,
        set_trigger,
    )

    wanted = None
    if on is not None and term is not None:
        terms = [parse_term(text) for text in (term, then) if text is not None]
        wanted = Trigger(on, tuple(terms), count, limit, edge)
    with open_session(target, log_accesses) as devices:
        card = chosen(devices, device)
        if off:
            clear_trigger(card)
        elif wanted is not None:
            set_trigger(card, wanted)
        stands = read_trigger(card)
        if not json:
            print(_text(card.name, stands))
        if arm:
            arm_all(devices)
    if json:
        emit_json({"target": target, "device": device, **_document(stands), "armed": arm})
    elif arm:
        print("armed")


def _document(trigger: Trigger) -> dict[str, Any]:
    from freezeframe.capture.recorder.trigger import kind_names

    return {
        "enabled": trigger.enabled,
        "tap": trigger.tap,
        "edge": trigger.edge,
        "count": trigger.count,
        "limit_cycles": trigger.limit_cycles,
        "terms": [
            {
                "value": hex_word(term.value),
                "mask": hex_word(term.mask),
                "kinds": list(kind_names(term.kinds)),
            }
            for term in trigger.terms
        ],
    }


def _text(name: str, trigger: Trigger) -> str:
    from freezeframe.capture.recorder.trigger import kind_names

    if not trigger.enabled:
        return f"{name}: trigger off"
    rows = [
        (
            number,
            "|".join(kind_names(term.kinds)) or "none: never matches",
            hex_word(term.value),
            hex_word(term.mask),
        )
        for number, term in enumerate(trigger.terms)
    ]
    last = len(trigger.terms) - 1
    which = "a word" if trigger.count == 1 else f"{trigger.count:,} words"
    fires = f"fires on {which} like term {last}"
    if trigger.edge:
        fires += ", of neighbours that match only on the first"
    if last:
        within = (
            f"within {trigger.limit_cycles:,} cycles of it"
            if trigger.limit_cycles
            else "however much later"
        )
        fires = f"begins with a word like term 0; {fires} {within}"
    lines = [
        f"{name}: trigger on {trigger.tap}",
        table(("term", "kinds", "value", "mask"), rows),
        fires,
    ]
    return "\n".join(lines)
