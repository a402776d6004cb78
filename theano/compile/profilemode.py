"""`ProfileMode`, which Theano removed: the name, and what takes its place."""

__all__ = ["ProfileMode"]


class ProfileMode:
    """A mode of old versions that reported how long operations took.

    No mode is one. Programs that ask whether a mode is one go on; those that make one get an error
    that says what to write.
    """

    def __init__(self, *args: object, **kwargs: object):
        raise NotImplementedError(
            "ProfileMode: Theano 1.0 removed it. Write theano.function(..., profile=True) and "
            "f.profile.summary(), or set the flag profile=True, which prints the profile of all "
            "functions when the process ends"
        )
