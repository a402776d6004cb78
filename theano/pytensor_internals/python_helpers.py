"""Small functions and PyTensor classes that have nothing to do with graphs."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.utils import (
    Singleton,  # base of a class that has one instance
    difference,  # the elements of one list that are not in another
    flatten,  # nested lists as one list
    hash_from_code,  # the hash of a text or of bytes
    lazy_scipy_module,  # a module of scipy that is imported when it is first used
)
