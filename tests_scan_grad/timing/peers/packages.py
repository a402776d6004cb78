"""The peers' packages: which there are, and what to install for one that is missing."""

from __future__ import annotations

import importlib.util

from tests_scan_grad.timing.experiment import Experiment, TimingError

# The package of each peer. NumPy and PyTensor are this package's own requirements;
# cvm is PyTensor's C VM behind this package's gradient and rewrites.
PACKAGES = {
    "torch": "torch",
    "torch.compile": "torch",
    "gru": "torch",
    "jax": "jax",
    "cvm": "pytensor",
    "pytensor": "pytensor",
    "numba": "numba",
    "numba from C": "nutpie",
    "c": "pytensor",
    "numpy": "numpy",
}
INSTALL = "pip install 'theano-scan[bench]'"


def installed(name: str) -> bool:
    """Return whether a peer's package can be imported."""
    return importlib.util.find_spec(PACKAGES[name]) is not None


def chosen(experiment: Experiment, wanted: str | None) -> tuple[str, ...]:
    """Return the peers to run next to an experiment.

    Parameters
    ----------
    wanted
        Names with commas between them, ``none``, or None for all that are installed.

    Raises
    ------
    TimingError
        If the experiment has no such peer, or one that is named is not installed.
    """
    if wanted is None:
        return tuple(name for name in experiment.peers if installed(name))
    names = tuple(dict.fromkeys(name.strip() for name in wanted.split(",") if name.strip()))
    names = () if names == ("none",) else names
    for name in names:
        if name not in experiment.peers:
            raise TimingError(
                f"{experiment.name} has no peer {name!r}; it has: {', '.join(experiment.peers)}"
            )
    lacking = [name for name in names if not installed(name)]
    if lacking:
        raise TimingError(
            f"not installed: {', '.join(PACKAGES[name] for name in lacking)}. "
            f"Install the peers with: {INSTALL}, "
            "or name those to run with --peers (--peers none for no peer)"
        )
    return names
