"""Every verb that reads, again and again on a card that counts: how many words were asked for, how many written.

``make campaign-reads``; the card is one in memory behind UDP, so that writes are counted where they arrive.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.capture.serving import serving
from tests.gui.cli import run_inside
from tests.gui.test_stray_writes import READING, Counted


def main(least: int) -> int:
    """Run verbs until so many words were asked for; return 1 where one was written or a verb failed."""
    card, runs, failed = Counted(depth=2048), 0, 0
    with serving(card) as url:
        while card.asked < least:
            for make in READING.values():
                with tempfile.TemporaryDirectory() as folder:
                    failed += run_inside(*make(url, Path(folder))).code != 0
                runs += 1
    print(
        f"{card.asked:,} words asked for by {runs:,} runs of {len(READING)} verbs that read: "
        f"{len(card.writes)} writes, {failed} failed"
    )
    return 1 if card.writes or failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
