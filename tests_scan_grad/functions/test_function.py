"""`theano.function`: its arguments, what it keeps, copies of it, and the names next to it."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import UnusedInputError


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


@pytest.fixture
def y():
    return T.scalar("y", dtype="float64")


ONES = np.ones((2, 3))


def test_shapes_of_outputs(x):
    assert theano.function([x], x.sum())(ONES) == 6
    assert theano.function([x], [x.sum()])(ONES) == [6]
    assert theano.function([x], (x.sum(), x.max()))(ONES) == [6, 1]
    assert theano.function([x], on_unused_input="ignore")(ONES) == []
    assert theano.function([], T.constant(3))() == 3


def test_outputs_by_name(x):
    f = theano.function([x], {"total": x.sum(), "largest": x.max()})
    assert f(ONES) == {"total": 6, "largest": 1}
    with pytest.raises(AssertionError, match="must be strings"):
        theano.function([x], {1: x})


@pytest.mark.parametrize("kind", [list, dict, OrderedDict, tuple])
def test_updates(kind):
    count = theano.shared(0, name="count")
    f = theano.function([], count, updates=kind([(count, count + 1)]))
    assert [int(f()), int(f()), int(count.get_value())] == [0, 1, 2]


def test_updates_of_the_wrong_kind(x, y):
    w = theano.shared(ONES, name="w")
    with pytest.raises(ValueError, match="2 elements.*got w"):
        theano.function([x], x, updates=[w])
    with pytest.raises(TypeError, match="must be a SharedVariable"):
        theano.function([x], x, updates=[(x, x)])
    with pytest.raises(ValueError, match="already has an update"):
        theano.function([x], x, updates=[(w, w), (w, w + 1)])
    with pytest.raises(TypeError, match="same type as the original shared variable.*w.*y"):
        theano.function([x, y], x, updates=[(w, y)])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_updates_may_tell_of_a_length_of_1(mode):
    w = theano.shared(np.ones((3, 1)), name="w")
    cost = (T.specify_shape(w, (3, 1)) ** 2).sum()
    gradient = theano.grad(cost, w)
    assert gradient.type.broadcastable == (False, True)
    theano.function([], updates=[(w, gradient)], mode=mode)()
    assert w.get_value().tolist() == [[2.0]] * 3
    # as in Theano, no update is of another shape
    wide = theano.shared(np.ones((3, 2)), name="wide")
    for update in (wide.sum(axis=1, keepdims=True), wide.sum()):
        with pytest.raises(TypeError, match="wide"):
            theano.function([], updates=[(wide, update)])


def test_givens(x, y):
    assert theano.function([y], x.sum(), givens={x: T.ones((2, 2)) * y})(3.0) == 12
    assert theano.function([], y, givens=[(y, np.float64(4))])() == 4
    with pytest.raises(RuntimeError, match="theano.function"):
        theano.function([x], x.sum(), givens={x: x + 1})


@pytest.mark.filterwarnings("error")
def test_no_default_updates():
    state, other = theano.shared(0, name="state"), theano.shared(0, name="other")
    state.default_update = state + 1
    other.default_update = other + 1

    def values_after(**kwargs):
        state.set_value(0)
        other.set_value(0)
        theano.function([], [state, other], **kwargs)()
        return int(state.get_value()), int(other.get_value())

    assert values_after() == (1, 1)
    assert values_after(no_default_updates=True) == (0, 0)
    assert values_after(no_default_updates=[state]) == (0, 1)
    assert values_after(updates=[(state, state + 5)]) == (5, 1)
    with pytest.raises(TypeError, match="boolean or a list"):
        theano.function([], state, no_default_updates="yes")


def test_unused_input(x, y):
    with pytest.raises(UnusedInputError, match="theano.function.*index 1.*y"):
        theano.function([x, y], x)
    with pytest.warns(UserWarning, match="index 1"):
        theano.function([x, y], x, on_unused_input="warn")
    assert theano.function([x, y], x.sum(), on_unused_input="ignore")(ONES, 0) == 6
    with theano.change_flags(on_unused_input="ignore"):
        theano.function([x, y], x)
    with pytest.raises(UnusedInputError, match="used twice"):
        theano.function([x, x], x)
    with pytest.raises(ValueError, match="'raise', 'warn', and 'ignore'"):
        theano.function([x, y], x, on_unused_input="explode")


def test_allow_input_downcast():
    v = T.vector("v", dtype="float32")
    wide = np.ones(2, dtype="float64")
    with pytest.raises(TypeError, match="float64"):
        theano.function([v], v)(wide)
    assert theano.function([v], v, allow_input_downcast=True)(wide).dtype == "float32"
    one = theano.function([theano.In(v, allow_downcast=True)], v)
    assert one(wide).dtype == "float32"


def test_inputs_that_are_not_a_list_of_variables(x):
    with pytest.raises(TypeError, match="contained in a list.*TensorVariable"):
        theano.function(x, x)
    with pytest.raises(TypeError, match="contained in a list.*NoneType"):
        theano.function(None, x)
    with pytest.raises(TypeError, match="Unknown parameter type"):
        theano.function([3], x)
    with pytest.raises(TypeError, match="shared variable"):
        theano.function([theano.shared(1.0)], x)
    with pytest.raises(TypeError, match="Received 3"):
        theano.function([x], [x, 3])


def test_default_value(x, y):
    f = theano.function([x, theano.In(y, value=2.0)], x.sum() * y)
    assert [f(ONES), f(ONES, 5.0), f(ONES), f(ONES, y=3.0), f(ONES)] == [12, 30, 12, 18, 12]
    with pytest.raises(TypeError, match="Missing required input.*x"):
        f()
    with pytest.raises((TypeError, ValueError)):
        theano.In(y, value="two")


def test_mutable_default_value_is_not_spoiled(x):
    f = theano.function([theano.In(x, value=np.zeros((2, 2)), mutable=True)], x + 1)
    assert f().sum() == 4
    assert f().sum() == 4


def test_input_with_an_update_is_a_state(y):
    f = theano.function([theano.In(y, value=1.0, update=y * 2)], y)
    assert [f(), f(), f()] == [1, 2, 4]


def test_param_is_deprecated(x, y):
    with pytest.warns(UserWarning, match="theano.In"):
        parameter = theano.Param(y, default=2.0)
    assert theano.function([x, parameter], x.sum() * y)(ONES) == 12


@pytest.mark.filterwarnings("error")
def test_a_default_update_can_be_taken_away():
    count = theano.shared(0)
    count.default_update = count + 1
    theano.function([], count)()
    assert count.get_value() == 1
    del count.default_update
    theano.function([], count)()
    assert count.get_value() == 1 and count.default_update is None
    with pytest.raises(TypeError):
        count.default_update = T.dvector()


def test_what_is_borrowed_is_not_copied():
    x = T.dvector("x")
    value = np.ones(2)
    borrowing = theano.function([theano.In(x, borrow=True)], theano.Out(x, borrow=True))
    assert borrowing(value) is value
    assert theano.function([x], x)(value) is not value
    constant = theano.function([], theano.Out(T.constant([4]), borrow=True))
    assert constant() is constant()
    fresh = theano.function([], T.constant([4]))
    assert fresh() is not fresh()


def test_stored_values():
    w, v = theano.shared(2.0, name="w"), T.scalar("v", dtype="float64")
    f = theano.function([v], w * v)
    assert f[w] == 2 and w in f and "v" in f and "u" not in f
    f[w] = 3.0
    assert f(2.0) == 6
    with pytest.raises(TypeError, match="Unknown or ambiguous input 'u'"):
        f["u"]


def test_a_default_set_by_hand_holds_for_one_call():
    x, a = T.dscalars("xa")
    f = theano.function([x, theano.In(a, value=1.0)], x + a)
    f[a] = 5.0
    assert f[a] == f.value["a"] == f.container[1].value == 5
    assert f(1.0) == 6 and f(1.0) == 2
    with pytest.raises(TypeError):
        f(a=2.0)
    assert f[a] == 1


def test_functions_share_a_state_through_its_container():
    x, s = T.dscalars("xs")
    up = theano.function([x, theano.In(s, value=10.0, update=s + x)], [])
    down = theano.function([x, theano.In(s, value=up.container[s], update=s - x)], s)
    up(2.0)
    assert down(5.0) == 12 and up[s] == 7
    up_again, down_again = copy.deepcopy([up, down])
    up_again(1.0)
    assert down_again["s"] == 8 and up[s] == 7
    with pytest.raises(TypeError):
        down(1.0, 2.0)


def test_a_mutable_state_is_the_copys_own():
    x, s = T.dscalars("xs")
    f = theano.function([x, theano.In(s, value=1.0, update=s + x)], s)
    g = f.copy()
    f(1.0)
    assert f[s] == 2 and g[s] == 1


@pytest.mark.parametrize("update", [None, 1])
def test_output_subset(update):
    w, x = theano.shared(1.0), T.dscalar("x")
    updates = None if update is None else [(w, w + update)]
    f = theano.function([x], [x + 1, x * w, x * 3], updates=updates)
    assert f(2.0, output_subset=[2, 0]) == [6, 3]
    assert f(2.0, output_subset=None)[1] == (2 if update is None else 4)
    keyed = theano.function([x], {"a": x + 1, "b": x * 2})
    assert keyed(2.0, output_subset=["b"]) == {"b": 4}
    single = theano.function([x], x + 1)
    assert single(2.0, output_subset=[0]) == [3]


def test_a_function_that_was_called_can_be_pickled(x):
    f = theano.function([x], {"double": 2 * x})
    f(ONES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(ONES)["double"], 2 * ONES)


def test_what_pickle_stores_of_a_function_can_be_measured(x):
    f = theano.function([x], 2 * x)
    stored = theano.compile.function_module._pickle_Function(f)
    before = len(pickle.dumps(stored))
    f(ONES)
    assert len(pickle.dumps(theano.compile.function_module._pickle_Function(f))) == before


def test_copy_and_pickle(x, y):
    w = theano.shared(1.0, name="w")
    for outputs in (x.sum() * y * w, {"a": x.sum() * y * w}):
        w.set_value(1.0)
        f = theano.function([x, theano.In(y, value=2.0)], outputs, updates=[(w, w + 1)])
        for other in (pickle.loads(pickle.dumps(f)), copy.copy(f), f.copy(share_memory=True)):
            w.set_value(1.0)
            assert type(other) is type(f)
            result = other(ONES)
            # As in Theano, what `copy` makes of a function of one output returns a list.
            assert np.squeeze(result["a"] if isinstance(outputs, dict) else result) == 12
    assert f.copy()(ONES).keys() == {"a"}
    single = theano.function([x], x.sum())
    assert single(ONES) == 6 and single.copy()(ONES) == [6]


def test_name(x):
    assert theano.function([x], x, name="identity").name == "identity"
    assert __file__ in theano.function([x], x).name


def test_profile(x):
    f = theano.function([x], T.exp(x).sum(), profile=True)
    f(ONES)
    f(ONES)
    assert isinstance(f.profile, theano.ProfileStats)
    assert f.profile.fct_callcount == 2 and sum(f.profile.apply_time.values()) > 0
    assert theano.function([x], x, profile="mine").profile.message == "mine"
    assert theano.function([x], x).profile is None
    with theano.change_flags(profile=True):
        assert isinstance(theano.function([x], x).profile, theano.ProfileStats)
        assert theano.function([x], x, profile=False).profile is None


# The rest of the names next to function.


def test_shared(x):
    w = theano.shared(np.ones((1, 3)), name="w", broadcastable=(True, False), borrow=True)
    assert w.broadcastable == (True, False)
    assert theano.shared(2.5).dtype == "float64"
    assert theano.shared(0.0, target="cpu").get_value() == 0
    with pytest.raises(ValueError, match="context name dev0 not defined"):
        theano.shared(0.0, target="dev0")
    with pytest.raises(TypeError, match="symbolic"):
        theano.shared(x)


def test_shared_variable_is_true_whatever_it_holds():
    assert theano.shared(0.0)
    assert theano.shared(np.zeros(3))
    with pytest.raises(TypeError, match="boolean"):
        assert theano.shared(0.0) < 1


def test_clone(x, y):
    w = theano.shared(2.0, name="w")
    z = x.sum() * y * w
    assert theano.function([x], theano.clone(z, {y: x.max() * 3}))(ONES) == 36
    assert theano.clone([z, x], replace=[(y, y + 1)])[1] is x
    apart = theano.clone(z, share_inputs=False)
    assert not {x, y, w} & set(theano.gof.graph.inputs([apart]))
    with pytest.raises(TypeError):
        theano.clone(z, {y: x})
    theano.clone(z, {y: x}, strict=False)


def test_clone_replaces_an_array_by_one_of_another_length():
    long, short = T.constant(np.ones(4)), T.constant(np.ones(3))
    y = T.dvector("y")
    doubled = long * 2 + y.sum()
    assert theano.clone(doubled, {long: short}).eval({y: [0.0]}).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError, match="cannot replace"):
        theano.clone(doubled, {long: short, y: T.dmatrix()})


def test_function_dump(tmp_path, x):
    path = tmp_path / "function.pkl"
    theano.function_dump(str(path), [x], x * 2, name="doubled")
    f = theano.function(**pickle.loads(path.read_bytes()))
    assert f.name == "doubled" and f(ONES).sum() == 12


def test_updates_of_scan_do_not_lose_one():
    a, b = theano.shared(0, name="a"), theano.shared(0, name="b")
    joined = theano.OrderedUpdates({a: a + 1}) + {b: b + 1}
    assert list(joined) == [a, b]
    assert list({b: b + 1} + theano.OrderedUpdates({a: a + 1})) == [b, a]
    with pytest.raises(KeyError, match="a already has an update"):
        _ = joined + {a: a + 2}
    with pytest.raises(TypeError, match="shared variables"):
        theano.OrderedUpdates({1: 2})


def test_the_machine_runs_so_many_times():
    total = theano.shared(0.0)
    function = theano.function([], total, updates=[(total, total + 1)])
    assert function.vm(n_calls=5) == [4, 5]
    assert total.get_value() == 5
