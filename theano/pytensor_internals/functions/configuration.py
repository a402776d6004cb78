"""PyTensor's table of flags, which it has no public way to read."""

from __future__ import annotations

from typing import Any

from pytensor.configdefaults import config


def is_mutable(name: str) -> bool:
    """Return whether a flag of PyTensor may be set after PyTensor was imported."""
    # `_config_var_dict`: each flag by its name, with `mutable`
    return config._config_var_dict[name].mutable


def names_of_flags() -> list[str]:
    """Return the names of all flags of PyTensor."""
    return list(config._config_var_dict)


def value_of_flag(name: str) -> Any:
    """Return the value of a flag; a default that was never read is found out, which may take time."""
    # a flag is a descriptor of the class of `config`
    return config._config_var_dict[name].__get__(config, None)
