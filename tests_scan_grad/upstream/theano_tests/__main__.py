"""Run Theano 1.0.5's tests and print, for each module, how many pass.

``python -m tests_scan_grad.upstream.theano_tests [-j PROCESSES] [MODULE ...] [pytest options]``

Without modules, all but those for GPUs are run. With pytest's options, its own output is shown.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from tests_scan_grad.upstream.theano_tests.compare import Comparison, compare, not_run
from tests_scan_grad.upstream.theano_tests.reference import Reference, reference
from tests_scan_grad.upstream.theano_tests.run import run_module
from tests_scan_grad.upstream.theano_tests.tiers import all_modules


def main() -> int:
    """Print the table; the exit status says whether all is as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", dest="processes", type=int, default=1)
    arguments, others = parser.parse_known_args()
    options = [word for word in others if not word.endswith(".py")]
    modules = [word for word in others if word.endswith(".py")] or all_modules()
    upstream = reference()

    def compared(module: str) -> Comparison:
        outcomes = run_module(module, tuple(options), not_run(module))
        return compare(module, outcomes, upstream.get(module, Reference(0, {})))

    with ThreadPoolExecutor(arguments.processes) as pool:
        comparisons = dict(zip(modules, pool.map(compared, modules), strict=True))
    for comparison in comparisons.values():
        for line in comparison.differences:
            print(line.splitlines()[0][:300])
    print(table(comparisons))
    return any(comparison.differences for comparison in comparisons.values())


def table(comparisons: dict[str, Comparison]) -> str:
    """A row for each module and one for all."""
    rows = [
        f"| {module} | {c.passed} | {c.upstream} | {c.listed} |"
        for module, c in comparisons.items()
    ]
    passed = sum(c.passed for c in comparisons.values())
    of = sum(c.upstream for c in comparisons.values())
    rows.append(f"| all | {passed} | {of} ({passed / max(of, 1):.1%}) | |")
    header = [
        "| module | passes | of those that Theano 1.0.5 passes | listed |",
        "|---|---|---|---|",
    ]
    return "\n".join(header + rows)


sys.exit(main())
