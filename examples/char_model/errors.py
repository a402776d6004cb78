"""The one exception that ends the program with a message instead of a traceback."""


class InputError(Exception):
    """Something the user gave cannot be used; the message says what, where and why."""
