"""The package `six`, which Theano brought along up to 0.8, and programs import from there."""

import importlib
import sys

# its `moves` consists of lazy modules, which none of our modules can hold
sys.modules[__name__] = importlib.import_module("six")
sys.modules[f"{__name__}.moves"] = importlib.import_module("six.moves")
