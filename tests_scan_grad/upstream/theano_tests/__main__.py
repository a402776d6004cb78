"""Run modules of Theano's tests and print how many pass.

``python -m tests_scan_grad.upstream.theano_tests theano/tests/test_rop.py [pytest options]``
"""

import sys
from collections import Counter

from tests_scan_grad.upstream.theano_tests.run import run_module


def main(arguments: list[str]) -> None:
    modules = [argument for argument in arguments if argument.endswith(".py")]
    options = tuple(argument for argument in arguments if not argument.endswith(".py"))
    for module in modules:
        outcomes = run_module(module, options)
        for test, outcome in outcomes.items():
            if outcome.state == "failed" and not options:
                print(f"{test}: {outcome.message.splitlines()[0][:200]}")
        counts = Counter(outcome.state for outcome in outcomes.values())
        print(module, *(f"{number} {state}" for state, number in sorted(counts.items())))


main(sys.argv[1:])
