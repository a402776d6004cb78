"""Calls that `theano.function` refuses, and what errors at call time say."""

import numpy as np
import pytest

import theano
import theano.tensor as T

ONES = np.ones((2, 3))


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


@pytest.fixture
def product(x):
    y = T.scalar("y", dtype="float64")
    w = theano.shared(np.ones((3, 2)), name="w")
    return theano.function([x, y], T.dot(x, w) * y, name="product")


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ([np.ones(3), 1.0], {}, ['"x"', '"product"', "index 0", "Matrix(float64", "(3,)"]),
        ([ONES.astype(complex), 1.0], {}, ['"x"', "index 0", "Matrix(float64", "complex128"]),
        ([ONES, np.ones(2)], {}, ['"y"', "index 1", "Scalar(float64", "(2,)"]),
        ([ONES], {"y": np.ones(2)}, ['"y"', "index 1", "Scalar(float64", "(2,)"]),
        ([ONES], {}, ["Missing", '"y"', '"product"', "index 1", "Scalar(float64"]),
        ([ONES, 1.0, 2.0], {}, ["Too many", '"product"', "takes 2", "3 were given", "x: Matrix"]),
        ([ONES, 1.0], {"yy": 1}, ["Unknown input 'yy'", "did you mean 'y'"]),
        ([ONES, 1.0], {"y": 2.0}, ["Multiple values"]),
        ([ONES, 1.0], {"w": np.zeros((3, 2))}, ["does not take 'w'", "shared"]),
    ],
)
def test_bad_call_names_the_input_and_what_was_expected(product, args, kwargs, expected):
    with pytest.raises(TypeError) as caught:
        product(*args, **kwargs)
    for part in expected:
        assert part in str(caught.value)


def test_arguments_of_the_expected_type_are_looked_at_as_others_are():
    x, y = T.TensorType("float64", shape=(None, 2))("x"), T.dvector("y")
    f = theano.function([x, y], x.sum() + y.sum())
    bytes_of_two = np.zeros(33, "int8")[1:].view("float64").reshape(2, 2)
    assert not bytes_of_two.flags.aligned
    assert f(np.ones((3, 2)), np.ones(2)) == 8
    # in each turn after one that fits
    for wrong, error in [
        ((np.ones((3, 3)), np.ones(2)), "shape"),
        ((np.ones(2), np.ones(2)), "dimensions"),
        ((np.ones((3, 2)), np.ones(2, complex)), "dtype|complex"),
        ((bytes_of_two, np.ones(2)), "aligned"),
        ((np.ones((3, 2)), y), "Variable"),
    ]:
        with pytest.raises(TypeError, match=error):
            f(*wrong)
        assert f(np.ones((1, 2)), np.ones(3)) == 5
    # what is converted
    assert f([[1, 2]], [3]) == 6
    assert f(np.ones((1, 2)), np.ones(2, ">f8")) == 4
    assert f(y=np.ones(2), x=np.ones((1, 2))) == 4
    with pytest.raises(TypeError, match="y"):
        f(np.ones((1, 2)))


def test_value_that_no_array_can_hold(product):
    with pytest.raises(ValueError, match="\"y\".*index 1.*Scalar.*str 'two'"):
        product(ONES, "two")


def test_bad_call_changes_nothing(product):
    (w,) = product.get_shared()
    with pytest.raises(TypeError):
        product(ONES, 1.0, w=np.zeros((3, 2)))
    assert w.get_value().sum() == 6
    with pytest.raises(TypeError):
        product(np.ones(3), 1.0)
    assert product(ONES, 1.0).sum() == 12


def test_shape_error_names_operation_line_and_inputs(x):
    product = theano.function([x], T.dot(x, theano.shared(np.ones((3, 2)))))
    with pytest.raises(ValueError) as caught:
        product(np.ones((2, 5)))
    message = str(caught.value)
    for part in (
        "Apply node that caused the error",
        "Inputs shapes: [(2, 5), (3, 2)",
        f"Created at: {__file__}",
    ):
        assert part in message
    assert "x: ndarray of dtype float64 and shape (2, 5), expected Matrix(float64" in message


def test_error_after_an_error_tells_of_itself_only(product):
    with pytest.raises(ValueError):
        product(np.ones((2, 5)), 1.0)
    with pytest.raises(TypeError) as caught:
        product(np.ones(3), 1.0)
    assert "Apply node" not in str(caught.value)


def test_error_that_holds_more_than_a_string_gets_a_note(x):
    class Failure(Exception):
        pass

    @theano.as_op(itypes=[T.dmatrix], otypes=[T.dmatrix])
    def fail(value):
        raise Failure("reason", 3)

    with pytest.raises(Failure) as caught:
        theano.function([x], fail(x))(ONES)
    assert caught.value.args == ("reason", 3)
    assert "shape (2, 3)" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("value", "came"),
    [
        pytest.param(np.zeros(3), r"array of dtype float64 and shape \(3,\)", id="array"),
        pytest.param(None, "None is NoneType", id="None"),
        pytest.param("text", "text is str", id="text"),
    ],
)
def test_an_update_that_is_no_value_of_the_variable(value, came):
    """TypeError, as in Theano 1.0.5, which says of arrays nothing but that they have no type."""
    w = theano.shared(np.ones((3, 3)), name="w")
    with pytest.raises(TypeError, match="An update must have the same type.* w is .*" + came):
        theano.function([], [], updates=[(w, value)])


@pytest.mark.parametrize(
    ("value", "came"),
    [
        pytest.param("text", "'text', which is str", id="text"),
        pytest.param(None, "None, which is NoneType", id="None"),
        pytest.param([[1.0, 2.0]], "1.0, 2.0.*which is list", id="list"),
        pytest.param(np.array(["a"]), r"dtype <U1 and shape \(1,\)", id="array"),
    ],
)
def test_a_tensor_is_replaced_by_a_tensor(x, value, came):
    with pytest.raises(TypeError, match="givens: x is .*" + came):
        theano.function([], x.sum(), givens={x: value})


def test_numbers_replace_a_tensor(x):
    f = theano.function([], x.sum(), givens={x: np.ones((2, 3))})
    assert f() == 6
