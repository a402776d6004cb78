"""``theano-nose``: runs tests, by pytest, which took nose's place."""

import subprocess
import sys
from collections.abc import Sequence

# What nose's options are called in pytest; those of Theano's batches have no meaning any more.
_IN_PYTEST = {"--nocapture": "-s", "--stop": "-x", "--failed": "--lf", "--pdb": "--pdb"}
_GONE = ("--batch", "--theano", "--with-", "--time-profile", "--debug-batch")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pytest with the same files and options, and return its status."""
    given = sys.argv[1:] if arguments is None else arguments
    kept = [_IN_PYTEST.get(one, one) for one in given if not one.startswith(_GONE)]
    try:
        import pytest  # noqa: F401 -- asked for only
    except ModuleNotFoundError:
        print("theano-nose needs pytest: pip install pytest", file=sys.stderr)
        return 1
    return subprocess.run([sys.executable, "-m", "pytest", *kept], check=False).returncode
