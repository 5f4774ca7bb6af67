"""What faults ask of the hosts so that their symptom can come: a busy flow, a slow receiver, bursts."""

from __future__ import annotations

from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.traffic import SPARSE_PS, Plan, mean_gap_ps

_LARGE_MIXES = ((0.1, 0.2, 0.7), (0.2, 0.4, 0.4), (0.05, 0.05, 0.9))
# A receiver has to be slower than what is sent, and less is sent at a light load.
_PAUSE_FACTOR = {
    "light": 3
}  # of other loads 1; a sparse one comes in bursts, each of which saturates the flow
_SPARSE_BURST = (32, 64)  # messages posted together: several times what the FIFOs hold


def keep_busy(fault: Fault, plan: Plan, slow: bool) -> int:
    """Let A use mostly one of its flows, with mostly large messages, B never stop, and (``slow``) B take words
    at a fraction of what A sends; return the flow.

    The load is the one that was asked for; where none was, A saturates the flow. Two faults get two flows.
    """
    draw, sending = fault.draw, plan.sending[0]
    place = draw.randrange(len(sending.flows))
    if sending.flows[place] in plan.busy:
        place = (place + 1) % len(sending.flows)
    plan.busy.append(sending.flows[place])
    sending.load = plan.load or "saturating"
    sending.gap_ps = mean_gap_ps(sending.load)
    if sending.gap_ps >= SPARSE_PS:
        sending.burst = draw.randint(*_SPARSE_BURST)
    sending.mix = draw.choice(_LARGE_MIXES)
    if slow and sending.load == "light":
        sending.mix = _LARGE_MIXES[-1]  # there must be something to be slow with
    sending.weights = tuple(
        draw.uniform(0.85, 0.95) if flow in plan.busy else 0.08 for flow in sending.flows
    )
    plan.receiving[1].stops = []
    if slow:
        slow_down(fault, plan, 400, 700)
    quiet_other_way(plan)
    return sending.flows[place]


def slow_down(fault: Fault, plan: Plan, least: int, most: int) -> None:
    """Let B pause after each burst, by bus cycles of a saturating load; longer where the load is lighter."""
    factor = _PAUSE_FACTOR.get(plan.sending[0].load, 1)
    plan.receiving[1].pause_cycles = fault.draw.randrange(least, most) * factor


def quiet_other_way(plan: Plan) -> None:
    """Leave the direction from B only as much as has to be there: it shares the buses and would slow A down."""
    light_ps = mean_gap_ps("light")
    if plan.sending[1].gap_ps <= light_ps:
        plan.sending[1].load, plan.sending[1].gap_ps = "light", light_ps


def burst(fault: Fault, plan: Plan, least: int, most: int) -> None:
    """Let A post its messages several at a time, at the same mean rate."""
    plan.sending[0].burst = fault.draw.randint(least, most)


def notify_often(fault: Fault, plan: Plan) -> None:
    """Let A send bursts of mostly short messages that notify B."""
    sending, draw = plan.sending[0], fault.draw
    sending.remote = max(sending.remote, draw.uniform(0.7, 1.0))
    sending.mix = draw.choice(((0.8, 0.15, 0.05), (0.6, 0.35, 0.05), (0.9, 0.1, 0.0)))
    burst(fault, plan, 4, 10)
    plan.receiving[1].stops = []
    quiet_other_way(plan)
