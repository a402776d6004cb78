"""Rules for the output types of scalar operators that PyTensor lacks."""

from pytensor.scalar.basic import ScalarType, upcast_out

from theano.pytensor_base.graph import MetaObject

__all__ = ["transfer_type"]


class transfer_type(MetaObject):  # noqa: N801 -- Theano's name
    """The rule that outputs have the types of certain inputs.

    Parameters
    ----------
    *transfer : int, None or ScalarType
        For each output: the number of the input whose type it has, None for the type to which
        all inputs upcast, or a type.
    """

    __props__ = ("transfer",)

    def __init__(self, *transfer: int | None | ScalarType):
        self.transfer = transfer

    def __call__(self, *types: ScalarType) -> list[ScalarType]:
        (upcast,) = upcast_out(*types)
        return [
            upcast if rule is None else types[rule] if isinstance(rule, int) else rule
            for rule in self.transfer
        ]

    def __str__(self):
        return f"transfer_type{{{self.transfer}}}"
