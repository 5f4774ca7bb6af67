"""A profile of stages whose messages come from outside, one by one, while somebody else's time goes on.

The tables and the engine are those of every profile; its flows are replaced by ways between the nodes that are named.
A message is so many packets of one word; its rows are used again once it is released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.compiled import Place, compile_adapter
from freezeframe.emulator.adapter.engine import DONE, come, run
from freezeframe.emulator.adapter.layout import LIVE
from freezeframe.emulator.adapter.reading import Described
from freezeframe.emulator.adapter.references import route_of
from freezeframe.emulator.adapter.tables import Flow, Pool, Stage
from freezeframe.emulator.hooks import Way

WORD_B = 8


@dataclass(frozen=True, slots=True)
class Crosspoints:
    """What a profile says as a switch: a word takes a token of its way's own pool at the first of its stages, and gives
    it back at the last.

    Attributes:
        ports: its nodes.
        words: that a crosspoint holds.
        head_ps: from a word's arrival until its last stage can begin, where nothing is in the way.
        cycle_ps: that a word stays in the last stage.
    """

    described: Described
    pool: str
    ports: int
    words: int
    head_ps: int
    cycle_ps: int

    @classmethod
    def of(cls, described: Described) -> Crosspoints:
        """Return what a profile says as a switch.

        Raises:
            InputError: it is none.
        """
        adapter, where = described.adapter, described.file.path
        stages = [adapter.stage[name] for name in adapter.stage]
        if len(stages) < 2:
            raise InputError(f"{where}: is no switch: a word has to pass two stages or more of one")
        first, last = stages[0], stages[-1]
        pools: dict[str, Pool] = {name: adapter.pool[name] for name in first.takes}
        if len(pools) != 1 or first.takes != last.gives:
            raise InputError(
                f"{where}: is no switch: its first stage takes one pool, the crosspoint, and its last gives it back"
            )
        (name, pool), *_ = pools.items()
        if not pool.per_flow or pool.unit_B != WORD_B:
            raise InputError(
                f"{where}: pool.{name}: is no crosspoint: it has per_flow = true and unit_B = {WORD_B}"
            )
        if first.at != "sender" or last.at != "receiver":
            raise InputError(
                f"{where}: is no switch: its first stage is at the sender, its last at the receiver"
            )
        odd = [
            n
            for n, s in adapter.stage.items()
            if s.queue or s.gather > 1 or s.merge or s.assemble or s.poll_ns
        ]
        if odd:
            raise InputError(f"{where}: stage.{odd[0]}: a switch moves each word by itself")
        ports = 1 + max(max(flow.from_, flow.to) for flow in adapter.flow.values())
        takes = [_word_ps(stage) for stage in stages]
        return cls(described, name, ports, pool.tokens, sum(takes[:-1]), takes[-1])


def _word_ps(stage: Stage) -> int:
    """Return how long a job of one word lasts."""
    return round(
        (stage.fixed_ns + stage.message_ns + stage.segment_ns + WORD_B * stage.byte_ns) * 1000
    )


class Live:
    """A switch at work. Times are those of whoever feeds it, and none is before one that was run up to."""

    def __init__(self, switch: Crosspoints, ways: Sequence[Way], rows: int) -> None:
        """Make it empty; ``rows``: words of a way that are remembered at most, in it or not yet released."""
        described = switch.described
        flows = {
            f"from{a}to{b}": Flow(
                arrivals="periodic", from_=a, to=b, size_B=WORD_B, packet_B=WORD_B, messages=rows, rate_per_s=1.0
            )
            for a, b in ways
        }  # fmt: skip
        fed = replace(described.adapter, flow=flows)
        compiled = compile_adapter(Described(described.file, fed))
        self.world = compiled.world
        self._last = {
            w: len(route_of(fed, f)) - 1 for w, f in zip(ways, flows.values(), strict=True)
        }
        self._pool = {
            way: compiled.pools.index(Place(f"{switch.pool} of {name}", way[0]))
            for way, name in zip(ways, flows, strict=True)
        }
        self._first = {way: number * rows for number, way in enumerate(ways)}
        self._next = dict(self._first)
        self._rows = rows
        self._held: dict[int, tuple[int, Way]] = {}  # first row -> words, way
        self.world.flows["mode"] = LIVE
        self.world.flows["messages"] = 0

    def come(self, way: Way, words: int, t_ps: int) -> int:
        """Let a message of so many words begin to come at a time; return its number."""
        first = self._free(way, words)
        packets = self.world.packets[first : first + words]
        packets["message"] = first
        packets["step"] = packets["dropped"] = packets["entry"] = 0
        packets["size"] = packets["sum"] = WORD_B
        packets["members"] = 1
        packets["next"] = packets["member"] = packets["left"] = packets["done"] = -1
        message = self.world.messages[first]
        message["first"], message["packets"], message["left"] = first, words, words
        message["size"], message["born"], message["done"] = WORD_B * words, t_ps, -1
        come(self.world, first, t_ps)
        return first

    def run(self, until_ps: int) -> None:
        """Let everything happen up to and at a time."""
        if run(self.world, until_ps) != DONE:
            raise AssertionError("more events than a way's words can have")

    def begun_ps(self, message: int) -> int | None:
        """Return when its first word began the last stage; None as long as it has not."""
        packet = self.world.packets[message]
        way = self._held[message][1]
        begun = packet["done"] >= 0 or (packet["step"] == self._last[way] and packet["left"] >= 0)
        return int(packet["started"]) if begun else None

    def through(self, message: int, t_ps: int) -> int:
        """Return how many of its words were through at a time."""
        done = self.world.packets["done"][message : message + self._held[message][0]]
        return int(np.count_nonzero((done >= 0) & (done <= t_ps)))

    def done_ps(self, message: int) -> int | None:
        """Return when its last word was through; None as long as it is not."""
        done = int(self.world.messages[message]["done"])
        return None if done < 0 else done

    def standing(self, way: Way) -> int:
        """Return how many words of a way hold a place of its crosspoint."""
        return int(self.world.pools[self._pool[way]]["used"])

    def release(self, message: int) -> None:
        """Forget a message that is through."""
        del self._held[message]

    def _free(self, way: Way, words: int) -> int:
        first, begin = self._next[way], self._first[way]
        if first + words > begin + self._rows:
            first = begin
        for other, (count, _) in self._held.items():
            if first < other + count and other < first + words:
                raise AssertionError(f"way {way}: more than {self._rows} words are remembered")
        self._held[first] = words, way
        self._next[way] = first + words
        return first
