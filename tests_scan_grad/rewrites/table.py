"""Which recipes make graphs for which rewrite, and which rewrites have none."""

from __future__ import annotations

from tests_scan_grad.rewrites.making import RECIPES, Recipe
from tests_scan_grad.rewrites.recipes import __all__ as _families

assert _families

# rewrites without recipes, and why
NOT_COMPARED: dict[str, str] = {}


def recipes_for(rewrite: str) -> list[Recipe]:
    """The recipes whose graphs are made for a rewrite."""
    return [recipe for recipe in RECIPES.values() if rewrite in recipe.rewrites]
