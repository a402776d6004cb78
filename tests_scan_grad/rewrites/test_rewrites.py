"""Each recipe's graphs, each rewrite alone and the modes: nothing differs that is not judged."""

import pytest

from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.rewrites.check import Record
from tests_scan_grad.rewrites.judged import judged
from tests_scan_grad.rewrites.listed import modes, rewrites
from tests_scan_grad.rewrites.making import RECIPES
from tests_scan_grad.rewrites.search import checked
from tests_scan_grad.rewrites.table import NOT_COMPARED, OF_OTHER_RELEASE, recipes_for


def faults(name: str, record: Record) -> list[str]:
    return [
        f"{finding.rewrite}: {finding.kind} ({finding.where})\n{finding.details}"
        for finding in record.findings
        if judged(finding, name) is None
    ]


@pytest.mark.parametrize("name", RECIPES)
def test_rewritten_graphs_compute_what_they_did(name, rewrite_seeds):
    for seed in rewrite_seeds:
        found = faults(name, checked(RECIPES[name], seed, modes()))
        assert not found, f"seed {seed}\n" + "\n".join(found[:3])


def test_every_rewrite_that_the_modes_run_has_recipes():
    # in its own process: other tests register rewrites
    code = "from tests_scan_grad.rewrites.listed import rewrites; print(*rewrites(), sep=chr(10))"
    names = printed_by(code)
    without = {name for name in names if not recipes_for(name)}
    assert without == NOT_COMPARED.keys() & set(names)


def test_recipes_are_for_rewrites_that_there_are():
    named = {name for recipe in RECIPES.values() for name in recipe.rewrites}
    assert named - OF_OTHER_RELEASE <= rewrites().keys()
    assert not OF_OTHER_RELEASE & rewrites().keys()
