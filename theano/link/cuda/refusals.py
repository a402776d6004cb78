"""The refusal of a loop that does not become a kernel."""


class NoKernel(Exception):
    """A loop, or a call of it, becomes no kernel; the text says why, for the report."""
