"""The C ring against the emulator's model of the hardware recorder, bit for bit, and its own rules in literal bytes."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from freezeframe.capture.device_side import hooks_folder
from freezeframe.emulator.recorder import Recorder
from tests.c.hooks import SOURCES, WARNINGS, ring_states

HEAD, BODY, EVENT, TIME, MARK = 1, 2, 8, 15, 13
FROZEN = 3


def records(image: bytes, count: int) -> list[tuple[int, int, int]]:
    """``(kind, dt, data)`` of the first records."""
    return [
        (r[8] & 15, r[8] >> 4, int.from_bytes(r[:8], "little"))
        for r in (image[9 * i : 9 * i + 9] for i in range(count))
    ]


def test_a_time_record_fills_the_slot_after_14_silent_cycles_and_dt_is_at_most_15() -> None:
    """docs/formats.md section 2, rules 1 and 2."""
    (ring,) = ring_states(
        ["I 10", "A 64", "R 65 1 aa", "R 70 2 bb", "R 7f 2 cc", "R 1000 2 dd", "?"]
    )
    assert records(ring.image, ring.stored) == [
        (HEAD, 15, 0xAA),  # the first after arm
        (BODY, 11, 0xBB),
        (TIME, 14, 0x7E),  # 14 cycles after 0x70, and a record came one cycle later
        (BODY, 1, 0xCC),
        (TIME, 14, 0x8D),
        (BODY, 15, 0xDD),  # 15 follows TIME
    ]
    assert ring.offered == 4


def test_a_word_in_the_14th_silent_cycle_wins_and_no_time_is_written() -> None:
    (ring,) = ring_states(["I 10", "A 0", "R 10 1 1", "R 1e 2 2", "?"])
    assert records(ring.image, ring.stored) == [(HEAD, 15, 1), (BODY, 14, 2)]


def test_events_of_one_cycle_have_dt_0_and_a_cycle_before_the_latest_is_counted_as_late() -> None:
    (ring,) = ring_states(
        ["I 10", "A 0", "E 5 8 2 1 3 44", "E 5 8 2 1 3 45", "E 4 8 2 1 3 46", "?"]
    )
    word = 1 << 56 | 2 << 48 | 3 << 40
    assert records(ring.image, ring.stored) == [
        (EVENT, 15, word | 0x44),
        (EVENT, 0, word | 0x45),
        (EVENT, 0, word | 0x46),
    ]
    assert ring.late == 1


def test_closing_writes_mark_and_time_after_post_records() -> None:
    """docs/formats.md section 2, rules 4 and 5: MARK carries the causes and the cycles since."""
    (ring,) = ring_states(
        [
            "I 10",
            "P 2",
            "A 0",
            "R 10 1 1",
            "C 12 8",
            "C 12 10",
            "R 12 2 2",
            "C 13 1",
            "R 14 2 3",
            "R 16 2 4",
            "R 17 2 5",
            "?",
        ]
    )
    assert ring.state == FROZEN
    assert (ring.causes, ring.cause_cycle) == (0x18, 0x12)
    assert records(ring.image, ring.stored)[-4:] == [
        (BODY, 2, 3),
        (BODY, 2, 4),
        (MARK, 1, 0x18 | 5 << 16),
        (TIME, 1, 0x18),
    ]


def test_a_ring_that_hears_nothing_more_closes_by_the_drain_alone() -> None:
    (ring,) = ring_states(["I 10", "P 3", "A 0", "R 10 1 1", "C 20 2", "T 20ff", "?"])
    assert ring.state == FROZEN
    # TIME of 0x1e is before the cause; post drops at 0x20 + 1024, + 2048, + 3072.
    assert records(ring.image, ring.stored)[-2:] == [(MARK, 15, 2 | 0xC01 << 16), (TIME, 1, 0xC22)]


def test_nothing_changes_a_frozen_ring_but_arm() -> None:
    first, second, third = ring_states(
        [
            "I 10",
            "P 0",
            "A 0",
            "R 10 1 1",
            "C 11 1",
            "T 13",
            "?",
            "R 20 1 9",
            "C 21 4",
            "T 9000",
            "?",
            "A 9001",
            "R 9002 1 7",
            "?",
        ]
    )
    assert first.state == FROZEN
    assert second == first
    assert (third.state, third.stored, third.generation) == (1, 1, 2)


def test_only_the_recorder_writes_mark_loss_and_time_and_the_mask_leaves_kinds_out() -> None:
    (ring,) = ring_states(
        [
            "I 10",
            "K fffb",
            "A 0",
            "R 1 d 1",
            "R 1 e 1",
            "R 1 f 1",
            "R 1 10 1",
            "R 1 2 1",
            "R 1 1 5",
            "?",
        ]
    )
    assert records(ring.image, ring.stored) == [(HEAD, 15, 5)]


def stimulus(draw: random.Random) -> tuple[list[str], Recorder]:
    """Words of rising cycles, a cause perhaps, arms, and time passing: for the C driver and for the model."""
    depth, post = draw.choice((16, 64, 256)), draw.choice((0, 1, 2, 5, 64, 300))
    kinds = draw.choice((0xFFFF, 0xFFFF, 0xFFFF & ~(1 << BODY)))
    model = Recorder(depth, 1024)
    model.post, model.kinds = post, kinds
    commands = [f"I {depth:x}", f"P {post:x}", f"K {kinds:x}"]
    cycle = draw.randrange(1 << draw.choice((4, 31, 40)))
    for _ in range(draw.choice((1, 1, 2))):
        model.arm(cycle)
        commands.append(f"A {cycle:x}")
        strikes = draw.randrange(60) if draw.random() < 0.8 else 10**9
        for number in range(draw.randrange(1, 120)):
            cycle += draw.choice((1, 1, 1, 2, 13, 14, 15, 16, 28, 29, 900, 1024, 5000))
            if number == strikes:
                mask = draw.randrange(1, 1 << 12)
                model.advance(cycle - 1)
                model.cause(cycle, mask)
                commands.append(f"C {cycle:x} {mask:x}")
            kind, data = draw.choice((1, 2, 2, 3)), draw.getrandbits(64)
            model.feed(cycle, kind, data)
            commands.append(f"R {cycle:x} {kind:x} {data:x}")
        cycle += draw.choice((0, 5, 14, 20000, 1 << 19))
        model.advance(cycle)
        commands.append(f"T {cycle:x}")
        cycle += 3
    model.advance(cycle)
    return [*commands, f"T {cycle:x}", "?"], model


def test_the_ring_holds_the_bits_of_the_recorder_model_for_any_stimulus() -> None:
    draw = random.Random(11)
    models, commands, closed = [], [], 0
    for _ in range(2000):
        one, model = stimulus(draw)
        commands += one
        models.append(model)
    for number, (ring, model) in enumerate(zip(ring_states(commands), models, strict=True)):
        memory = model.memory
        assert ring.image == memory.image().tobytes(), number
        assert (ring.write_ptr, ring.wrapped) == (memory.write_ptr, memory.wrapped), number
        assert (ring.stored, ring.offered) == (memory.stored, model.offered), number
        assert ring.causes == model.causes, number
        closed += ring.state == FROZEN
    assert closed > 500


@pytest.mark.parametrize("march", ["rv32im", "rv64imac"])
def test_the_hooks_compile_freestanding_for_risc_v(march: str, tmp_path: Path) -> None:
    compiler = shutil.which("riscv64-unknown-elf-gcc")
    if compiler is None:
        pytest.skip("riscv64-unknown-elf-gcc is not installed (Debian: gcc-riscv64-unknown-elf)")
    hooks = hooks_folder()
    include = [f"-I{hooks / 'c'}", "-isystem", str(hooks / "registers" / "generated")]
    abi = "ilp32" if march.startswith("rv32") else "lp64"
    for name in SOURCES:
        flags = [
            "-std=c99",
            "-ffreestanding",
            "-nostdlib",
            f"-march={march}",
            f"-mabi={abi}",
            "-Os",
        ]
        files = ["-c", str(hooks / "c" / name), "-o", str(tmp_path / f"{name}.o")]
        subprocess.run([compiler, *flags, *WARNINGS, *include, *files], check=True)
