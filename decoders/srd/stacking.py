"""Join sigrok decoders that stand on each other, so that one worker runs them all."""

from __future__ import annotations

from dataclasses import replace

from freezeframe.decoders.spec import Stack, Step
from freezeframe.decoders.srd.adapter import SrdDecode, joined_decoder

__all__ = ["joined"]


def joined(stack: Stack) -> Stack:
    """Return the stack with its sigrok decoders, which are at the bottom, as one step."""
    steps = list(stack.steps)
    count = 0
    while count < len(steps) and isinstance(steps[count].decoder.decode, SrdDecode):
        count += 1
    if count < 2:
        return stack
    inside = steps[:count]
    made = [
        step.decoder.decode.step(step.options)
        for step in inside
        if isinstance(step.decoder.decode, SrdDecode)
    ]
    decoder = joined_decoder(inside[0].decoder, made, inside[-1].decoder)
    return replace(
        stack, steps=(Step(decoder, inside[-1].options, inside[0].probes), *steps[count:])
    )
