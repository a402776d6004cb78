"""A test of whether a number lies between two others."""

from pytensor.scalar.basic import LogicalComparison, complex_types

from theano.configdefaults import config


class InRange(LogicalComparison):
    """A test of whether a number lies between a lower and an upper bound.

    Parameters
    ----------
    openlow, openhi : bool
        Whether the bound itself is outside.

    Examples
    --------
    >>> import theano
    >>> from theano import scalar
    >>> x = scalar.float64("x")
    >>> bool(scalar.inclosedrange(x, 0.0, 1.0).eval({x: 1.0}))
    True
    """

    nin = 3
    nfunc_spec = None

    def __init__(self, openlow, openhi):
        super().__init__()
        self.openlow = openlow
        self.openhi = openhi

    def __eq__(self, other):
        return super().__eq__(other) and (self.openlow, self.openhi) == (
            other.openlow,
            other.openhi,
        )

    def __hash__(self):
        return hash((super().__hash__(), self.openlow, self.openhi))

    def impl(self, x, low, hi):
        above = x > low if self.openlow else x >= low
        below = x < hi if self.openhi else x <= hi
        return above & below

    def c_code(self, node, name, inputs, outputs, sub):
        if any(variable.type in complex_types for variable in node.inputs):
            raise NotImplementedError("InRange expects real numbers: complex ones have no order")
        x, low, hi = inputs
        above, below = ">" if self.openlow else ">=", "<" if self.openhi else "<="
        return f"{outputs[0]} = ({x} {above} {low}) && ({x} {below} {hi});"

    def pullback(self, inputs, outputs, output_gradients):
        """Return zeros: where the result changes, it has no derivative."""
        return [variable.zeros_like(dtype=config.floatX) for variable in inputs]


inopenrange = InRange(True, True)
inclosedrange = InRange(False, False)
