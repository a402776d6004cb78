"""Names in pickles of PyTensor's graphs other than operators, types and variables."""

# functions, and classes that are of none of these kinds, by module
NAMES_IN_PICKLES: dict[str, set[str]] = {
    "pytensor.graph.basic": {"_get_frozen_output"},
    "pytensor.graph.fg": {"FrozenFunctionGraph"},
    "pytensor.misc.frozendict": {"frozendict"},
    "pytensor.misc.ordered_set": {"OrderedSet"},
    # how a scalar operation chooses its type, and how results of a type are compared
    "pytensor.scalar.basic": {
        "float_out",
        "float_out_nocomplex",
        "int_out",
        "int_out_nocomplex",
        "real_out",
        "same_out",
        "same_out_float_only",
        "same_out_min8",
        "same_out_nobool",
        "same_out_nocomplex",
        "upcast_out",
        "upcast_out_min8",
        "upcast_out_no_complex",
        "upcast_out_nobool",
        "upgrade_to_float",
        "upgrade_to_float64",
        "upgrade_to_float_no_complex",
    },
    "pytensor.tensor.type": {
        "values_eq_approx_always_true",
        "values_eq_approx_remove_inf",
        "values_eq_approx_remove_inf_nan",
        "values_eq_approx_remove_nan",
    },
}
