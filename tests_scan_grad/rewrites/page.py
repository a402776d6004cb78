"""Write what was tried of each rewrite into its page: ``python -m tests_scan_grad.rewrites.page``."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

from tests_scan_grad.rewrites.check import Record
from tests_scan_grad.rewrites.compare import MADE_FINITE, ROUNDED
from tests_scan_grad.rewrites.judged import judged
from tests_scan_grad.rewrites.listed import modes, name_of, rewrites
from tests_scan_grad.rewrites.search import checked
from tests_scan_grad.rewrites.table import RECIPES, recipes_for
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded
from theano.rewriting.rewrites.of_pytensor.replacements import INSTEAD

PAGE = Path(__file__).parents[2] / "doc" / "reference" / "pytensor_rewrites.md"
BEGIN = "<!-- written by tests_scan_grad/rewrites/page.py -->\n"


def main(arguments: list[str]) -> int:
    """Check the graphs of some seeds and write the table."""
    first, last = map(int, (arguments or ["0:3"])[0].split(":"))
    total, seen, graphs = Record(), defaultdict(set), Counter[str]()
    for recipe in RECIPES.values():
        for seed in range(first, last):
            record = checked(recipe, seed, modes())
            total.changes.update(record.changes)
            graphs[recipe.name] += 1
            for finding in record.findings:
                seen[finding.rewrite].add(judged(finding, recipe.name) or f"WRONG: {finding.kind}")
    above = PAGE.read_text().split(BEGIN)[0]
    rows = [
        f"{sum(graphs.values())} graphs, seeds {first} to {last - 1}, {len(rewrites())} rewrites, "
        f"{sum(1 for name in rewrites() if total.changes[name])} of which changed something.\n",
        "| rewrite | graphs | changes | verdict |",
        "|---|---|---|---|",
    ]
    for name in sorted(rewrites()):
        made = sum(graphs[recipe.name] for recipe in recipes_for(name))
        verdict = _verdict(name, seen[name], bool(total.changes[name]))
        rows.append(f"| `{name}` | {made} | {total.changes[name]} | {verdict} |")
    PAGE.write_text(above + BEGIN + "\n" + "\n".join(rows) + "\n")
    return 0


def _verdict(name: str, seen: set[str], changed: bool) -> str:
    ours = {name_of(instead): instead for instead in INSTEAD.values()}
    notes = []
    if name in ours:
        kind = ours[name]
        guarded = isinstance(kind, Guarded)
        if guarded and kind.holds is not None:
            about = getattr(kind.holds, "__name__", "").replace("_", " ")
            notes.append(f"only where right: {about if about != 'holds' else 'in one dtype'}")
        else:
            notes.append("result in the dtype that it had" if guarded else "ours, in its place")
    notes += sorted(kind for kind in seen if kind not in (MADE_FINITE, ROUNDED))
    if MADE_FINITE in seen:
        notes.append("finite where there was nan or an infinity")
    if ROUNDED in seen:
        notes.append("other digits, by rounding")
    if not seen and not notes:
        notes.append("same" if changed else "no node replaced in these graphs")
    return "; ".join(notes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
