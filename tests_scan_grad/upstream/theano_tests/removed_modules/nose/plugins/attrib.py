"""Attributes of tests, to choose them by."""


def attr(*names, **values):
    """Set attributes of the decorated test."""

    def decorate(test):
        for name in names:
            setattr(test, name, True)
        for name, value in values.items():
            setattr(test, name, value)
        return test

    return decorate
