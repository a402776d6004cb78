"""The times of the parts of a rewrite, for the profile of a compilation."""

from __future__ import annotations


class SecondsByLoop(dict[str, float]):
    """The result of a rewrite of loops: the seconds that it took, by the loop's name."""


class SecondsByRewrite(dict[str, float]):
    """The result of an equilibrium: the seconds that each of its rewrites took, by its name."""

    def add(self, rewrite: object, seconds: float) -> None:
        """Count the time of a rewrite."""
        name = getattr(rewrite, "name", None) or getattr(rewrite, "__name__", None)
        name = name or type(rewrite).__name__
        self[name] = self.get(name, 0.0) + seconds
