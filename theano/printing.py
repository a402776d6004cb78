"""Theano 1.0's `theano.printing`: graphs as text and pictures, and values as they pass."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor import printing as _printing
from pytensor.printing import (
    VALID_ASSOC,
    DefaultPrinter,
    FunctionPrinter,
    IgnorePrinter,
    LeafPrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    Print,
    PrinterState,
    default_colorCodes,
    default_printer,
    greek,
    hex_digest,
    leaf_printer,
    min_informative_str,
    position_independent_str,
    pp,
    pprint,
    special,
    use_ascii,
    var_descriptor,
)


def debugprint(
    obj: Any,
    depth: int = -1,
    print_type: bool = False,
    file: Any = None,
    ids: str = "CHAR",
    stop_on_name: bool = False,
    done: dict | None = None,
    print_storage: bool = False,
    **options: Any,
) -> Any:
    """Print a graph as text, one line a variable.

    Parameters
    ----------
    obj : variable, application, function, or list of them
    depth : int
        How many levels to print; -1 for all.
    print_type : bool
        Whether to add each variable's type.
    file : None, 'str', or file
        Where to print: standard output, a string that is returned, or a file.
    ids : {'CHAR', 'int', 'id', 'auto', ''}
        How a variable that is printed twice is marked.
    stop_on_name : bool
        Whether to stop at variables that have a name.
    done : dict, optional
        The marks that an earlier call gave, to continue from.
    print_storage : bool
        Whether to add the values that a function holds.
    **options
        PyTensor's further options, such as `print_shape` and `print_op_info`.

    Returns
    -------
    str or file
        The text if `file` is ``'str'``, else the file.
    """
    return _printing.debugprint(
        obj,
        depth=depth,
        print_type=print_type,
        file=file,
        id_type=ids,  # type: ignore[arg-type]
        stop_on_name=stop_on_name,
        done=done,
        print_storage=print_storage,
        **options,
    )


def pydotprint(fct: Any, outfile: Any = None, **options: Any) -> Any:
    """Draw a graph to a picture file.

    Parameters
    ----------
    fct : function, variable, application, or list of variables
    outfile : path, optional
        The picture; its name is chosen from the format if it is not given.
    **options
        Those of PyTensor's `pydotprint`: `format`, `compact`, `with_ids`, `scan_graphs`,
        `var_with_name_simple`, `return_image` and others.

    Returns
    -------
    None, or the picture where `return_image` is true

    Raises
    ------
    RuntimeError
        pydot or graphviz is not installed; the message says which to install.
    """
    try:
        return _printing.pydotprint(fct, outfile, **options)
    except ImportError as error:
        raise RuntimeError(
            "pydotprint needs the Python package pydot and the program graphviz (for example: "
            "pip install pydot, apt-get install graphviz); debugprint works without them"
        ) from error
