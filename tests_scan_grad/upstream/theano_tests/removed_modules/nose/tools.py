"""Assertions as functions."""

import functools
import unittest

_case = unittest.TestCase()
assert_equal = assert_equals = _case.assertEqual
assert_raises = _case.assertRaises
assert_true = _case.assertTrue


def raises(*exceptions):
    """Expect the decorated test to raise one of the exceptions."""

    def decorate(test):
        @functools.wraps(test)
        def checked(*args, **kwargs):
            with _case.assertRaises(exceptions):
                test(*args, **kwargs)

        return checked

    return decorate
