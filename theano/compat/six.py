"""The package `six`, which Theano brought along up to 0.8, and programs import from there."""

import importlib
import sys

# its `moves` is made of lazy modules, which no module of ours can hold
sys.modules[__name__] = importlib.import_module("six")
sys.modules[f"{__name__}.moves"] = importlib.import_module("six.moves")
