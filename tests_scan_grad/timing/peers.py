"""The peers' packages: which there are, and what to install for one that is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from .experiment import Experiment, TimingError

# NumPy and PyTensor are this package's own requirements.
PACKAGES = {"torch": "torch", "jax": "jax", "pytensor": "pytensor", "numpy": "numpy"}


def chosen(experiment: Experiment, wanted: str | None) -> tuple[str, ...]:
    """Return the peers to run beside an experiment.

    Parameters
    ----------
    wanted
        Names with commas between them, ``none``, or None for all that the experiment has.

    Raises
    ------
    TimingError
        If the experiment has no such peer, or its package is not installed.
    """
    if wanted is None:
        names = experiment.peers
    else:
        names = tuple(name.strip() for name in wanted.split(",") if name.strip())
        names = () if names == ("none",) else tuple(dict.fromkeys(names))
    for name in names:
        if name not in experiment.peers:
            raise TimingError(
                f"{experiment.name} has no peer {name!r}; it has: {', '.join(experiment.peers)}"
            )
    check_installed(names)
    return names


def check_installed(names: Sequence[str]) -> None:
    """Raise TimingError if a peer's package cannot be imported."""
    missing = [name for name in names if importlib.util.find_spec(PACKAGES[name]) is None]
    if missing:
        raise TimingError(
            f"not installed: {', '.join(PACKAGES[name] for name in missing)}. "
            "Install the peers with: pip install 'theano-scan[bench]', "
            "or name those to run with --peers (--peers none for no peer)"
        )
