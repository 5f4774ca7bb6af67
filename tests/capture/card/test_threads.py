"""Cards are read by several threads at once: those of `watch`, of a guard with several targets, of the window."""

from __future__ import annotations

import sys

from tests.processes import run_program

FOUR_THREADS = """
import sys, threading
from freezeframe.capture.card.finding import text_hash
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.shipped import card_place

sys.setswitchinterval(1e-6)
text, barrier, read = card_place("forth").read_text(), threading.Barrier(4), []

def read_it():
    barrier.wait()
    read.append(parse_card(text, "x"))

threads = [threading.Thread(target=read_it) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(read), all(each == read[0] for each in read))
"""


def test_the_first_four_threads_that_read_a_card_all_get_it() -> None:
    """msgspec alone dies of it in three of four tries."""
    for _ in range(5):
        done = run_program([sys.executable, "-c", FOUR_THREADS])
        assert (done.returncode, done.stdout) == (0, "4 True\n"), done.stderr
