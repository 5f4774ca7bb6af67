"""``make bench``: every speed as a ratio measured in one run, after both sides gave the same answer."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
from pathlib import Path

from tests import bench
from tests.bench.common import BenchResult, table

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def modules() -> list[str]:
    """Names of the benchmark modules, found by their file names."""
    names = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return sorted(name for name in names if name.startswith("bench_"))


def main() -> None:
    """Run all benchmarks, or those named; print one table; exit 1 when an asked ratio is not met."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(modules())}")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    results: list[BenchResult] = []
    for name in args.names or modules():
        print(f"{name} ...", file=sys.stderr, flush=True)
        results += importlib.import_module(f"tests.bench.{name}").run()
    text = table(results)
    print(text)
    if args.write:
        PAGE.write_text(
            re.sub(r"(^\|.*\n)+", lambda _: text, PAGE.read_text(), count=1, flags=re.M)
        )
    sys.exit(any(not r.met for r in results))


if __name__ == "__main__":
    main()
