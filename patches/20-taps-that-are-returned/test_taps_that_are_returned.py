import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan, ScanInfo

MODES = [
    pytest.param(Mode("py", None), id="no rewriting"),
    pytest.param(Mode("py", "fast_run"), id="fast_run"),
    pytest.param(Mode("cvm", "fast_run"), id="cvm"),
]

N_STEPS = 4


def loop(taps_of_states, n_given, step):
    """A loop that overwrites every tap: of state s, tap k is row i + k in step i.

    `step` takes all taps and returns their new values and what is returned besides.
    """
    n_steps = pt.lscalar("n_steps")
    buffers = [pt.dmatrix(f"rows{s}") for s in range(len(taps_of_states))]
    taps = [pt.dvector(f"tap{k}") for k in range(sum(taps_of_states))]
    new, given = step(*taps)
    slices = tuple(tuple(range(n)) for n in taps_of_states)
    info = ScanInfo(
        n_seqs=0,
        mit_mot_in_slices=slices,
        mit_mot_out_slices=slices,
        mit_sot_in_slices=(),
        sit_sot_in_slices=(),
        n_nit_sot=n_given,
        n_untraced_sit_sot=0,
        n_non_seqs=0,
        as_while=False,
    )
    op = Scan(taps, [*new, *given], info)
    outs = op(n_steps, *buffers, *[n_steps] * n_given, return_list=True)
    return [n_steps, *buffers], outs


def loop_in_numpy(taps_of_states, n_given, step, buffers):
    buffers = [rows.copy() for rows in buffers]
    places = [(s, k) for s, n in enumerate(taps_of_states) for k in range(n)]
    all_given = [[] for _ in range(n_given)]
    for i in range(N_STEPS):
        new, given = step(*(buffers[s][i + k].copy() for s, k in places))
        for rows, row in zip(all_given, given, strict=True):
            rows.append(row)
        for (s, k), row in zip(places, new, strict=True):
            buffers[s][i + k] = row
    return [*buffers, *map(np.array, all_given)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "taps_of_states, n_given, step",
    [
        pytest.param([1], 1, lambda a: ([2 * a], [a]), id="tap"),
        pytest.param([1], 2, lambda a: ([2 * a], [a, a]), id="tap, twice"),
        pytest.param([1], 1, lambda a: ([a], [a]), id="tap that keeps its value"),
        pytest.param([1], 1, lambda a: ([a[::-1]], [a]), id="tap that is turned round"),
        pytest.param([1], 1, lambda a: ([2 * a + 1], [a[::-1]]), id="view of a tap"),
        pytest.param([2], 2, lambda a, b: ([a * b, a + b], [a, b]), id="two taps"),
        pytest.param([2], 1, lambda a, b: ([b, a + b], [a]), id="tap, and new value of another"),
        pytest.param([2], 0, lambda a, b: ([b, a], []), id="two taps change places"),
        pytest.param([2], 0, lambda a, b: ([a + b, a], []), id="tap as new value of the next"),
        pytest.param([2], 0, lambda a, b: ([b[::-1], a[::-1]], []), id="views change places"),
        pytest.param([1, 1], 2, lambda a, b: ([a * b, a + b], [b, a]), id="two states"),
        pytest.param([1, 1], 0, lambda a, b: ([b, a], []), id="two states change places"),
        pytest.param(
            [2, 1],
            3,
            lambda a, b, c: ([a + c, c, b], [c[::-1], b, a]),
            id="states with two taps and with one",
        ),
        pytest.param([1], 1, lambda a: ([2 * a], [3 * a]), id="no tap"),
    ],
)
def test_overwritten_taps(mode, taps_of_states, n_given, step):
    inputs, outs = loop(taps_of_states, n_given, step)
    rng = np.random.default_rng(7)
    buffers = [rng.normal(size=(N_STEPS + n - 1, 3)) for n in taps_of_states]
    found = function(inputs, outs, mode=mode)(N_STEPS, *buffers)
    expected = loop_in_numpy(taps_of_states, n_given, step, buffers)
    for value, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, right)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("taps", [[-1], [-2, -1]], ids=str)
def test_gradient_of_gradient(mode, taps):
    """A loop that returns the states that it reads."""
    x = pt.dvector("x")
    state = {"initial": x if len(taps) > 1 else x[0], "taps": taps}
    following, oldest = scan(
        lambda *before: (pt.tanh(before[0] - 0.5 * before[-1]), before[0]),
        outputs_info=[state, None],
        n_steps=3,
        return_updates=False,
    )
    slope = grad(pt.sin(following).sum() + pt.sin(oldest).sum(), x)
    direction = np.array([0.3, 0.7])
    along = grad((slope * direction).sum(), x)
    value = np.array([0.1, 0.5])
    first = function([x], slope, mode=mode)
    difference = (first(value + 1e-6 * direction) - first(value - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(function([x], along, mode=mode)(value), difference, rtol=1e-5)
