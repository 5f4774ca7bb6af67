"""ff_event_log: rule 6 of docs/formats.md section 2, against a reading of the rules cycle by cycle."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.emulator.cycle_by_cycle import Cause, Closed, follow_log
from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "ev_valid", "ev_kind", "ev_source", "ev_code", "ev_flow", "ev_value", "now", "arm", "triggered", "causes", "since",
    "drain", "cfg_kinds", "cfg_post",
)  # fmt: skip
OUTPUTS = (
    "wr_en", "wr_slot", "wr_record", "stat_write_ptr", "stat_wrapped", "stat_stored", "stat_offered", "stat_lost",
    "stat_closed", "lost_now",
)  # fmt: skip
DRAIN = 16
DESC, NOTE, USER, MARK, LOSS, TIME = 5, 6, 12, 13, 14, 15

Event = tuple[int, int, int, int, int]  # lane, kind, code, flow, value


test_the_event_log_follows_the_rules = in_icarus(
    "ff_event_log",
    __name__,
    {"SOURCES": 1, "DEPTH": 16, "PLACES": 4, "POST_W": 4},
    {"SOURCES": 6, "DEPTH": 2048, "PLACES": 6, "POST_W": 32},
    {"SOURCES": 32, "DEPTH": 16384, "PLACES": 256, "POST_W": 32},
)


class Log:
    """The block and what its parameters are."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.lanes = len(dut.ev_valid)
        self.places = int(dut.PLACES.value)
        self.depth = 1 << len(dut.wr_slot)

    def data(self, event: Event) -> int:
        lane, _, code, flow, value = event
        return (
            code << 56 | lane + 1 << 48 | flow << 40 | value
        )  # the lane's source is its number + 1

    def inputs(self, events: list[Event]) -> dict[str, int]:
        made = dict.fromkeys(("ev_valid", "ev_kind", "ev_code", "ev_flow", "ev_value"), 0)
        for lane, kind, code, flow, value in events:
            made["ev_valid"] |= 1 << lane
            made["ev_kind"] |= kind << 4 * lane
            made["ev_code"] |= code << 8 * lane
            made["ev_flow"] |= flow << 7 * lane
            made["ev_value"] |= value << 40 * lane
        made["ev_source"] = sum(lane + 1 << 8 * lane for lane in range(self.lanes))
        return made

    async def record(
        self, events: dict[int, list[Event]], arm: int, cause: Cause, kinds: int = 0xFFFF
    ) -> Closed:
        """Play events of event-register cycles and one cause; return what was written since the arm."""
        block = await Block(self.dut, INPUTS, OUTPUTS).start(cfg_kinds=kinds, cfg_post=cause.post)
        written: list[tuple[int, int, int]] = []
        lost = 0
        for cycle in range(1, cause.cycle + (cause.post + 3) * DRAIN + 4 * self.places + 60):
            since, after = max(0, cycle - cause.cycle), cycle > cause.cycle
            told = await block.step(
                now=cycle, arm=int(cycle == arm), triggered=int(after), causes=cause.mask if after else 0, since=since,
                drain=int(after and since % DRAIN == 0), **self.inputs(events.get(cycle + 1, [])),
            )  # fmt: skip
            if cycle <= arm:
                continue
            assert told["stat_write_ptr"] == len(written) % self.depth
            assert told["stat_wrapped"] == (len(written) >= self.depth)
            lost += told["lost_now"]
            if told["wr_en"]:
                assert told["wr_slot"] == len(written) % self.depth
                record = told["wr_record"]
                written.append((record >> 68, record >> 64 & 15, record & (1 << 64) - 1))
            if told["stat_closed"]:
                assert told["stat_stored"] == len(written)
                assert told["stat_lost"] == lost
                return Closed(written, cycle, told["stat_offered"], told["stat_lost"])
        raise AssertionError("the log did not close")


@cocotb.test()
async def an_event_is_source_flow_code_and_value_at_their_bits(dut: Any) -> None:
    log = Log(dut)
    lane = log.lanes - 1
    closed = await log.record(
        {5: [(lane, NOTE, 0xAB, 0x55, 0x123456789A)]}, 2, Cause(8, 1, 0, DRAIN)
    )
    assert closed.records == [
        (15, NOTE, 0xAB << 56 | lane + 1 << 48 | 0x55 << 40 | 0x123456789A), (4, MARK, 1 | 1 << 16), (1, TIME, 10),
    ]  # fmt: skip
    assert (closed.offered, closed.lost) == (1, 0)


@cocotb.test()
async def events_of_one_cycle_stand_in_order_of_their_lane_with_dt_0(dut: Any) -> None:
    log = Log(dut)
    lanes = range(min(log.lanes, log.places - 1))
    events = [(lane, DESC, lane, 0, lane) for lane in lanes]
    closed = await log.record({5: events}, 2, Cause(60, 1, 0, DRAIN))
    assert closed.records[: len(lanes)] == [
        (0 if lane else 15, DESC, log.data(events[lane])) for lane in lanes
    ]
    assert closed.records[len(lanes)] == (14, TIME, 19)


@cocotb.test()
async def what_finds_no_room_is_told_by_loss_when_the_fifo_is_half_free(dut: Any) -> None:
    log = Log(dut)
    storm = {
        cycle: [(lane, USER, 1, 2, cycle) for lane in range(log.lanes)]
        for cycle in range(5, 5 + 2 * log.places)
    }
    closed = await log.record(storm, 2, Cause(400 + 4 * log.places, 1, 0, DRAIN))
    told = sum(data for _, kind, data in closed.records if kind == LOSS)
    stored = sum(kind == USER for _, kind, _ in closed.records)
    assert closed.offered == 2 * log.places * log.lanes
    assert stored + closed.lost == closed.offered
    assert told == closed.lost
    assert (closed.lost > 0) == (log.lanes > 1)  # one a cycle is what the memory takes


@cocotb.test()
async def random_events_and_causes_are_recorded_as_the_rules_say(dut: Any) -> None:
    log = Log(dut)
    for seed in range(12):
        draw = random.Random(seed)
        events: dict[int, list[Event]] = {}
        cycle = draw.randrange(2, 20)
        while cycle < 260:
            crowd = draw.choice([0.1, 0.5, 1.0])
            for _ in range(draw.choice([1, 2, log.places])):
                lanes = [lane for lane in range(log.lanes) if draw.random() < crowd]
                events[cycle] = [
                    (
                        lane,
                        draw.choice([DESC, NOTE, USER]),
                        draw.getrandbits(8),
                        draw.getrandbits(7),
                        draw.getrandbits(40),
                    )
                    for lane in lanes
                ]
                cycle += 1
            cycle += draw.choice([0, 1, 12, 13, 14, 15, 40])
        kinds = draw.choice([0xFFFF, 0xFFFF & ~(1 << NOTE)])
        arm = draw.randrange(1, 40)
        cause = Cause(
            arm + draw.randrange(1, 200),
            draw.getrandbits(12) | 1,
            draw.choice([0, 1, 2, 5, 14]),
            DRAIN,
        )
        offered = {
            at: [(event[0], event[1], log.data(event)) for event in lanes if kinds >> event[1] & 1]
            for at, lanes in events.items()
        }
        assert await log.record(events, arm, cause, kinds) == follow_log(
            offered, arm, cause, log.places
        ), seed
