"""Programs drawn at random: delicate expressions of leaves of every dtype, at extreme values."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

# z, u: a value of either sign, perhaps large; p: a positive one; y: a target from 0 to 1;
# k: an integer leaf; w: a scalar float leaf; d: a small number
FORMS = {
    "softplus": [
        "T.log(1 + T.exp({z}))",
        "T.log1p(T.exp({z}))",
        "T.log(1 + T.exp(-({z})))",
        "T.log(T.exp({z}) + 1)",
        "T.nnet.softplus({z})",
    ],
    "log sigmoid": [
        "T.log(T.nnet.sigmoid({z}))",
        "T.log(1 - T.nnet.sigmoid({z}))",
        "T.log(1 / (1 + T.exp(-({z}))))",
        "T.log(1 - 1 / (1 + T.exp(-({z}))))",
        "T.log1p(-T.nnet.sigmoid({z}))",
        "-T.log(T.nnet.sigmoid(-({z})))",
    ],
    "ratio": [
        "T.exp({z}) / (1 + T.exp({z}))",
        "1 / (1 + T.exp({z}))",
        "T.nnet.sigmoid({z}) * T.exp(-({z}))",
        "T.exp({z}) * T.nnet.sigmoid(-({z}))",
        "T.nnet.sigmoid({z}) / (1 - T.nnet.sigmoid({z}))",
        "({z}) * ({w}) / ({z})",
        "({z}) ** 2 / ({z})",
    ],
    "log of a complement": [
        "T.log(1 - T.exp(-abs({z}) - 0.01))",
        "T.log1p(-T.exp(-abs({z}) - 0.01))",
        "T.log(-T.expm1(-abs({z}) - 0.01))",
    ],
    "log of a sum": [
        "T.log(T.sum(T.exp({z})))",
        "T.log(T.exp({z}).sum()) - ({z})",
        "T.log(T.exp({z}) + T.exp({u}))",
        "T.log(T.exp({z}) / T.exp({z}).sum())",
        "T.exp({z}) / T.exp({z}).sum()",
        "T.log(T.mean(T.exp({z})))",
    ],
    "crossentropy": [
        "-({y} * T.log(T.nnet.sigmoid({z})) + (1 - {y}) * T.log(1 - T.nnet.sigmoid({z})))",
        "-({y} * T.log(1 / (1 + T.exp(-({z})))) + (1 - {y}) * T.log(1 - 1 / (1 + T.exp(-({z})))))",
        "T.nnet.binary_crossentropy(T.nnet.sigmoid({z}), {y})",
        "T.nnet.softplus({z}) - {y} * ({z})",
        "T.log(1 + T.exp({z})) - {y} * ({z})",
    ],
    "complement": [
        "1 - T.nnet.sigmoid({z})",
        "1 - T.erf({z})",
        "T.erfc({z})",
        "T.log(T.erfc({z}))",
        "1 + T.erf({z})",
        "T.exp({d}) - 1",
        "T.log(1 + {d})",
        "T.expm1({d})",
    ],
    "norm": [
        "T.sqrt(T.sum(T.sqr({z})))",
        "({z}) / T.sqrt(T.sum(T.sqr({z})))",
        "T.sqrt(T.sqr({z}))",
        "abs({z}) * abs({u})",
    ],
    "log of a product": [
        "T.log(T.exp({z}) * T.exp({u}))",
        "T.log(T.sqrt(T.exp({z})))",
        "T.log(T.exp({z}))",
        "T.log({p} ** 3)",
        "T.log({p} * T.exp({z}))",
        "T.log(T.exp({z}) / {p})",
    ],
    "masked": [
        "T.switch({k} > 0, {w} * T.log({k}), 0.)",
        "T.switch({k} > 0, {w} * ({z}) / {k}, 0)",
        "T.switch(T.gt({z}, 0), T.log1p(abs({z})), {w} * ({z}))",
        "{k} * T.log(T.nnet.sigmoid({z}))",
        "({k} > 0) * T.log(1 + T.exp({z}))",
        "T.switch({k} > 0, T.log(1 - T.nnet.sigmoid({z})), ({z}) * {w})",
    ],
    "power": [
        "abs({z}) ** 1.5",
        "{p} ** {k}",
        "T.exp({z}) ** 2",
        "T.exp({z}) ** 0.5",
        "T.exp(T.log({p}) * ({z}) / 50)",
        "T.exp({z}) * T.exp({u})",
        "T.exp({z}) / T.exp({u})",
    ],
    "special": [
        "T.gammaln({p} + {k} ** 2) - T.gammaln({p})",
        "T.tanh({z}) * {w}",
        "T.log(1 - T.sqr(T.tanh(({z}) / 20)))",
        "T.maximum({z}, 0) + T.log1p(T.exp(-abs({z})))",
    ],
}
LOGITS = [
    "{w} * {q}",
    "{w} * {k}",
    "{w} * {q} + {c}",
    "{w} * {q} - {k}",
    "{w} * T.cast({k}, 'float64')",
    "{w} * ({k} - {m})",
    "{q}",
    "-{w} * {q}",
    "{w} * {q} / {n}",
    "{w} * (1 - {k}) * {q}",
]
COSTS = ["e.sum()", "e.mean()", "e.sum() / {q}.shape[0]", "(e * {k}).sum()", "(e * {q}).mean()"]
INTEGERS = ["int8", "int32", "int64", "uint8", "bool"]
FLOATS = ["float64", "float32"]
LARGE = [1e-3, 1.0, 30.0, 100.0, 800.0]


def drawn(seed: int) -> dict[str, Any]:
    """Return the program of a seed."""
    rng = random.Random(seed)
    floatx = rng.choice(FLOATS)
    leaves = {name: draw(rng, rng.choice((floatx, *FLOATS))) for name, draw in _LEAVES.items()}
    names = {name: name for name in leaves}
    family = rng.choice(list(FORMS))
    logits = {name: rng.choice(LOGITS).format(**names) for name in "zu"}
    expression = rng.choice(FORMS[family]).format(**names, **logits)
    loop = "sum" not in expression and "mean" not in expression and rng.random() < 0.25
    cost = rng.choice(COSTS).format(**names)
    text = f"{expression} | {cost}"
    wrt = rng.choice([n for n in "wqcpd" if _is_read(n, expression)] or ["w"])
    used = [n for n in leaves if _is_read(n, text) or n in ("w", "q")]
    return {
        "seed": seed,
        "floatX": floatx,
        "leaves": [leaves[n] for n in used],
        "expression": expression,
        "cost": cost,
        "wrt": wrt,
        "loop": loop,
        "gives": rng.choice(["value", "gradient", "both"]) if wrt in used else "value",
    }


def _is_read(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.']){name}(?![\w'])", text) is not None


def _floats(name: str, size: int, draw) -> Any:
    def leaf(rng: random.Random, dtype: str) -> dict[str, Any]:
        values = np.array([draw(rng) for _ in range(size or 1)]).astype(dtype).astype("float64")
        value = values.tolist() if size else values[0].item()
        return {"name": name, "dtype": dtype, "value": value}

    return leaf


def _integers(name: str, dtypes: list[str], low: int = -9, high: int = 40) -> Any:
    def leaf(rng: random.Random, _: str) -> dict[str, Any]:
        dtype = rng.choice(dtypes)
        least = 0 if dtype[0] in "ub" else low
        values = [rng.randint(least, 1 if dtype == "bool" else high) for _ in range(3)]
        if dtype in ("int8", "uint8") and rng.random() < 0.3:
            values[0] = 127 if dtype == "int8" else 255
        return {"name": name, "dtype": dtype, "value": values}

    return leaf


def _target(rng: random.Random, dtype: str) -> dict[str, Any]:
    kind = rng.choice([dtype, dtype, "int8", "int32", "int64", "bool"])
    values: list[Any] = [rng.randint(0, 1) for _ in range(3)]
    if kind.startswith("float") and rng.random() < 0.5:
        values = [rng.choice([0.25, 0.5, 1.0, 0.0]) for _ in range(3)]
    return {"name": "y", "dtype": kind, "value": values}


_LEAVES = {
    "w": _floats("w", 0, lambda r: r.choice([-1, 1]) * r.uniform(0.5, 1.5)),
    "q": _floats("q", 3, lambda r: r.choice([-1, 1]) * r.uniform(0.5, 1.0) * r.choice(LARGE)),
    "c": _floats("c", 0, lambda r: r.gauss(0, 1)),
    "p": _floats("p", 3, lambda r: r.uniform(0.1, 4.0)),
    "d": _floats("d", 3, lambda r: r.choice([-1, 1]) * 10.0 ** r.uniform(-12, -1)),
    "n": _floats("n", 0, lambda r: r.uniform(0.5, 3)),
    "y": _target,
    "k": _integers("k", INTEGERS),
    "m": _integers("m", INTEGERS[:-1]),
}
