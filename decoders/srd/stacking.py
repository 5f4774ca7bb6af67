"""Join sigrok decoders that stand on each other, and the native one below, for one worker."""

from __future__ import annotations

from dataclasses import replace

from freezeframe.decoders.spec import Stack, Step
from freezeframe.decoders.srd.adapter import SrdDecode, fed_decoder, joined_decoder


def joined(stack: Stack) -> Stack:
    """Return the stack with its sigrok decoders as one step: those at the bottom, or those on a native
    decoder there, together with it."""
    steps = list(stack.steps)
    lowest = steps[0]
    native = not isinstance(lowest.decoder.decode, SrdDecode)
    first = int(native)
    count = first
    while count < len(steps) and isinstance(steps[count].decoder.decode, SrdDecode):
        count += 1
    if count < 2:
        return stack
    inside = steps[first:count]
    srd_steps = [
        step.decoder.decode.step(step.options)
        for step in inside
        if isinstance(step.decoder.decode, SrdDecode)
    ]
    top = inside[-1]
    decoder = (
        fed_decoder(lowest.decoder, lowest.options, srd_steps, top.decoder)
        if native
        else joined_decoder(lowest.decoder, srd_steps, top.decoder)
    )
    return replace(stack, steps=(Step(decoder, top.options, lowest.probes), *steps[count:]))
