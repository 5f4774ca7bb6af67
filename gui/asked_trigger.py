"""What the options of ``freezeframe trigger`` ask for, of any card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.capture.errors import InputError


@dataclass(frozen=True, slots=True)
class Asked:
    """A trigger as the options of the command line say it; each list in the order given."""

    on: Sequence[str] = ()
    terms: Sequence[str] = ()
    then: Sequence[str] = ()
    steps: Sequence[str] = ()
    count: int = 1
    limit_cycles: int = 0
    edge: bool = False
    pin: str = ""

    @property
    def anything(self) -> bool:
        """Whether there is something to set."""
        return bool(self.on or self.terms or self.then or self.steps or self.pin)

    def once(self) -> None:
        """Refuse what only a card with steps has, and an option that is given twice: one would silently go.

        Raises:
            InputError: the first such option.
        """
        for name, values in (("--on", self.on), ("--term", self.terms), ("--then", self.then)):
            if len(values) > 1:
                raise InputError(f"{name} is given {len(values)} times: {_WHY_ONCE[name]}")
        for name, given in (("--step", self.steps), ("--pin", self.pin)):
            if given:
                raise InputError(
                    f"{name}: this card was built without trigger steps ([trigger] in its card file)"
                )


_WHY_ONCE = {
    "--on": "this card has one trigger, which watches one tap",
    "--term": "join what one word must be by commas: --term 'type=RDMA_WRITE,flow=0'",
    "--then": "the trigger has two terms, --term and --then",
}
