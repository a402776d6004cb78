"""Graphs of many seeds, and what was found: ``python -m tests_scan_grad.rewrites.search``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

from tests_scan_grad.rewrites import recipes
from tests_scan_grad.rewrites.check import Record, check_alone, check_mode
from tests_scan_grad.rewrites.judged import judged
from tests_scan_grad.rewrites.listed import modes
from tests_scan_grad.rewrites.making import RECIPES, Recipe

assert recipes.__all__


def checked(recipe: Recipe, seed: int, in_modes: Iterable[str] = ()) -> Record:
    """Check the graph that a seed gives: each rewrite alone, and modes."""
    record = Record()
    made = recipe.graph(seed)
    check_alone(made, record)
    for mode in in_modes:
        check_mode(made, mode, record)
    return record


def main(arguments: list[str]) -> int:
    """Check what the command line names; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipes", default="", help="those whose names or families hold this")
    parser.add_argument("--seeds", default="0:20", help="from:to")
    parser.add_argument("--alone", action="store_true", help="no modes")
    parser.add_argument("--kinds", default="", help="only findings whose kind holds this")
    options = parser.parse_args(arguments)
    first, last = map(int, options.seeds.split(":"))
    seen: dict[tuple[str, str], int] = {}
    begin = time.perf_counter()
    graphs = 0
    for recipe in RECIPES.values():
        if options.recipes not in recipe.name and options.recipes not in recipe.family:
            continue
        total = Record()
        for seed in range(first, last):
            try:
                record = checked(recipe, seed, () if options.alone else modes())
            except Exception as error:
                print(f"{recipe.name}, seed {seed}: {type(error).__name__}: {error}"[:300])
                continue
            graphs += 1
            total.changes.update(record.changes)
            for finding in record.findings:
                if judged(finding, recipe.name) is not None:
                    continue
                key = finding.rewrite, finding.kind
                seen[key] = seen.get(key, 0) + 1
                if seen[key] <= 2 and options.kinds in finding.kind:
                    print(
                        f"--- {finding.rewrite}: {finding.kind} ({recipe.name}, {seed}, {finding.where})"
                    )
                    print(finding.details[:900])
        missing = [name for name in recipe.rewrites if not total.changes[name]]
        if missing:
            print(f"{recipe.name}: nothing for {missing}")
    print(f"{graphs} graphs in {time.perf_counter() - begin:.0f} s")
    for (rewrite, kind), count in sorted(seen.items()):
        print(f"{count:6} {rewrite}: {kind}")
    return bool(seen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
