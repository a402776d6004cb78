"""``python -m tests_scan_grad.differential FIRST COUNT [--mode MODE]``: run many programs."""

from __future__ import annotations

import argparse
import collections
import sys
import time

import theano
from tests_scan_grad.differential.agreement import check


def main() -> int:
    """Run the programs of a range of seeds; print those that are wrong, and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int, help="the first seed")
    parser.add_argument("count", type=int, help="how many seeds")
    parser.add_argument("--mode", default="FAST_RUN", help="the mode (default %(default)s)")
    options = parser.parse_args()
    theano.config.cache_optimizations = False
    counts: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    for seed in range(options.first, options.first + options.count):
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        outcome = check(seed, options.mode)
        counts[outcome.verdict] += 1
        if outcome.verdict == "skipped":
            counts[f"skipped: {outcome.detail}"] += 1
        if outcome.verdict == "wrong":
            print(f"\n== seed {seed}\n{outcome.detail}", flush=True)
    print(f"\n{options.mode}: {dict(counts)} in {time.monotonic() - start:.0f} s")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
