"""What a card of C hooks alone may say: a card without a tap, whose processor records by ``firmware-hooks/c``.

Nothing of it is built but the C header with its numbers; docs/c-hooks.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.tables import CardFile

_MOST_CAUSES = 13  # ff_ring has a mask of 16, of which three are those of every card
_OF_A_DEVICE = ("path", "counter", "bank", "histogram", "law")


def problems_of_hooks(card: CardFile) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what a card has that needs a device, and what a device has to have and lacks."""
    if card.tap:
        for table, parts in (("event", card.event), ("states", card.states)):
            for name, part in parts.items():
                if not part.wire:
                    yield (
                        (table, name),
                        f"{table} {name}: wire is missing; only a card without a [tap], one of C hooks, has none",
                    )
        return
    if not card.event and not card.states:
        yield (
            ("tap",),
            "no table tap.*: a card has a tap for each place where its recorder listens; one of C hooks alone has "
            "[event.NAME] or [states.NAME]",
        )
        return
    if card.card.map != 2:
        yield ("card", "map"), "card: map = 1 has four taps; a card of C hooks alone is of map 2"
    if len(card.clock) > 1:
        yield (
            ("clock",),
            f"{len(card.clock)} clocks; a card of C hooks alone has one, that of the processor's cycles",
        )
    for table, wired in (("event", card.event), ("states", card.states), ("cause", card.cause)):
        for name, one in wired.items():
            if one.wire:
                yield (
                    (table, name),
                    f"{table} {name}: wire {one.wire}: a card without a [tap] has no device, so no wires; leave it "
                    "out, and the program says when it happens",
                )
    for table in _OF_A_DEVICE:
        if getattr(card, table):
            yield (table,), f"[{table}]: a card without a [tap] has no device that could have it"
    for name, cause in card.cause.items():
        if cause.check:
            yield (
                ("cause", name),
                f"cause {name}: a card without a [tap] has nothing to check; the program calls ff_ring_cause",
            )
    if len(card.cause) > _MOST_CAUSES:
        yield (
            ("cause",),
            f"{len(card.cause)} causes; a card of C hooks alone has at most {_MOST_CAUSES}",
        )
