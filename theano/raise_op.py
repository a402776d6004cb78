"""Theano 1.0's `theano.raise_op`: errors that a graph raises when it runs."""

from pytensor import raise_op
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.raise_op import CheckAndRaise

from theano.gof.instances import including_instances_of


@including_instances_of(raise_op.Assert)
class Assert(raise_op.Assert):
    """Return a value, or raise AssertionError where a condition is false.

    Parameters
    ----------
    msg : str
        The error's message.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> f = theano.function([x], Assert("x is long")(x, x.size < 3))
    >>> f([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """

    def __init__(self, msg="Theano Assert failed!"):
        super().__init__(msg)


assert_op = Assert()


class Check(CheckAndRaise):
    """Return a value, or raise an error where a condition is false; so do its derivatives.

    Parameters
    ----------
    exc_type : type
        The error's class.
    msg : str
        The error's message.
    """

    def pushforward(self, inputs, outputs, tangents):
        """Return the direction of the value."""
        tangent, conditions = tangents[0], inputs[1:]
        connected = not isinstance(tangent.type, DisconnectedType)
        return [self(tangent, *conditions) if connected else tangent]


class Raise(Op):
    """Raise an error when it is computed.

    Parameters
    ----------
    msg : str
        The error's message.
    exc : type
        The error's class.
    """

    __props__ = ("msg", "exc")

    def __init__(self, msg="", exc=NotImplementedError):
        self.msg, self.exc = msg, exc

    def __str__(self):
        return f"Raise{{{self.exc}({self.msg})}}"

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise self.exc(self.msg)
