"""Python 3's pickle."""

from pickle import *  # noqa: F403
