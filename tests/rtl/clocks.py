"""cocotb's clock, turned in C: a clock in Python costs more than most blocks that it drives."""

from __future__ import annotations

from functools import partial

from cocotb import clock

Clock = partial(clock.Clock, impl="gpi")
