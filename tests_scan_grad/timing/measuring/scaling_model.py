"""A model of the time of a compiled function on many cores.

Each statement has the time that one thread was measured to take for it. Of several threads, each has a
share, of which the largest counts; to that come barriers, what a thread reads of the others' results, and
the bytes that memory gives to all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests_scan_grad.timing.measuring.core_prices import Prices

# takes a number of threads
Number = Callable[[int], float]


def alone(threads: int) -> float:
    """Return the share of one thread that does all."""
    return 1.0


def none(threads: int) -> float:
    """Return that there is nothing of it."""
    return 0.0


@dataclass(frozen=True)
class Part:
    """A statement.

    Parameters
    ----------
    seconds
        What one thread takes for it in a call of the function, however often it is done there.
    share
        The largest share of a thread, 1 / n at the least.
    why
        What the largest share is due to, where it is larger.
    moved
        Bytes that come from memory or go there in a call.
    fetched
        Bytes that a thread reads of others' results in a call.
    """

    text: str
    seconds: float
    share: Number
    why: str
    moved: float = 0.0
    fetched: Number = none


@dataclass(frozen=True)
class Region:
    """Work that threads do together: a loop, or a statement outside of loops.

    Parameters
    ----------
    threads
        How many of so many threads take part.
    barriers
        How many there are in a call, by the number of threads.
    """

    name: str
    parts: Sequence[Part]
    threads: Callable[[int], int]
    barriers: Number


@dataclass(frozen=True)
class Prediction:
    """The seconds of a call on so many threads, and what is lost next to a share of 1 / n of all work."""

    threads: int
    seconds: float
    lost: dict[str, float]

    def worst(self, count: int = 3) -> list[str]:
        """Return what is lost most, as parts of the whole time."""
        named = Counter(self.lost).most_common(count)
        return [f"{text} {lost / self.seconds:.1%}" for text, lost in named if lost > 0]


def predicted(regions: Iterable[Region], threads: int, prices: Prices) -> Prediction:
    """Return the prediction for so many threads."""
    lost: Counter[str] = Counter()
    ideal = 0.0
    for region in regions:
        ideal += sum(part.seconds for part in region.parts) / threads
        lost.update(_lost(region, threads, prices))
    return Prediction(threads, ideal + sum(lost.values()), dict(lost))


def _lost(region: Region, threads: int, prices: Prices) -> Counter[str]:
    """Return the seconds that a region loses, by reason."""
    used = region.threads(threads)
    lost: Counter[str] = Counter()
    for part in region.parts:
        largest = part.seconds * part.share(used)
        why = part.why if used == threads else "too little work for all threads"
        lost[f"{region.name}: {part.text}: {why}"] += largest - part.seconds / threads
        lost[f"{region.name}: memory"] += max(0.0, part.moved / prices.streamed_by(used) - largest)
        lost[f"{region.name}: others' results"] += part.fetched(used) / prices.exchanged
    if used > 1:
        lost[f"{region.name}: barriers"] += region.barriers(used) * prices.barrier_of(used)
    return lost


def as_data(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction as plain data, with the reasons that matter."""
    return {
        "threads": prediction.threads,
        "seconds": prediction.seconds,
        "worst": prediction.worst(),
    }
