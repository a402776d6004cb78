"""Python 3's builtins."""

from builtins import *  # noqa: F403, UP029
