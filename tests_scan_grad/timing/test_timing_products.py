"""The experiment `products`: every library computes the same, and the limit is one."""

import json

import numpy as np
import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments.products import ROWS, rates
from tests_scan_grad.timing.measuring import registers
from tests_scan_grad.timing.measuring.product_blocks import ENGINES, Shape
from theano.link.native.runtime.build import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.mark.parametrize("engine", ["native", "packed", "numpy"])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_a_library_computes_the_product(engine, orders):
    shape = Shape(20, 30, 40, "float32", orders)
    a, b = shape.operands()
    np.testing.assert_allclose(ENGINES[engine](a, b)(), a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_product_is_faster_than_the_limit_by_far(dtype):
    # a scalar multiply-add a nanosecond is less than any processor has
    assert registers.limit(dtype) > 1e9


def test_the_table_has_rates_shares_and_the_ratio_to_the_best(tmp_path, capsys):
    file = tmp_path / "run.json"
    name = next(iter(ROWS))
    assert main(f"products --rows {name} --peers numpy --repeats 1 --json {file}".split()) == 0
    printed = capsys.readouterr().out
    assert "to the best" in printed
    assert f"{name}, one thread" in printed and f"{name}, two threads" in printed
    one, two = json.loads(file.read_text())["problems"]
    assert set(rates(one)) == {"native", "packed", "limit", "numpy"}
    assert set(rates(two)) == {"native", "limit", "numpy"}
    seconds = {row["name"]: row["seconds"] for row in one["rows"]}
    assert rates(one)["native"] == pytest.approx(2e-9 * 64**3 / seconds["native"])
