"""Run Theano 1.0.5's tests and print how many of those that Theano 1.0.5 passes pass.

``python -m tests_scan_grad.upstream.theano_tests [-j PROCESSES] [MODULE ...] [pytest options]``

Without modules, all but those for GPUs are run. With pytest's options, its own output is shown.
"""

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.theano_tests.compare import Comparison, compare, not_run
from tests_scan_grad.upstream.theano_tests.reference import Reference, reference
from tests_scan_grad.upstream.theano_tests.run import fetched, run_module
from tests_scan_grad.upstream.theano_tests.tiers import all_modules


def main() -> int:
    """Print the table; the exit status says whether all is as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", dest="processes", type=int, default=1)
    arguments, others = parser.parse_known_args()
    try:
        fetched()
    except NotFetchedError as error:
        parser.error(str(error))
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
    print(table(comparisons, "module"), table(by_package(comparisons), "package"), sep="\n\n")
    return any(comparison.differences for comparison in comparisons.values())


def table(comparisons: dict[str, Comparison], title: str) -> str:
    """A row for each entry and one for all."""
    rows = [
        f"| {name} | {c.passed} | {c.upstream} | {c.listed} |" for name, c in comparisons.items()
    ]
    total = _sum(comparisons.values())
    share = total.passed / max(total.upstream, 1)
    rows.append(f"| all | {total.passed} ({share:.1%}) | {total.upstream} | {total.listed} |")
    return "\n".join([f"| {title} | passes | of | expected to fail |", "|---|---|---|---|", *rows])


def by_package(comparisons: dict[str, Comparison]) -> dict[str, Comparison]:
    """The modules of each package together."""
    groups: dict[str, list[Comparison]] = {}
    for module, comparison in comparisons.items():
        groups.setdefault(module.partition("/tests/")[0].replace("/", "."), []).append(comparison)
    return {package: _sum(group) for package, group in groups.items()}


def _sum(group: Iterable[Comparison]) -> Comparison:
    group = list(group)
    return Comparison(
        passed=sum(c.passed for c in group),
        upstream=sum(c.upstream for c in group),
        listed=sum(c.listed for c in group),
        differences=[line for c in group for line in c.differences],
    )


if __name__ == "__main__":
    sys.exit(main())
