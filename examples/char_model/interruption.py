"""Ctrl-C and kill as a request to stop at the next safe point."""

import signal

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Within this context the first signal only sets `signal_number`; a second one acts at once.

    Examples
    --------
    >>> with StopRequest() as stop:
    ...     for chunk in chunks:
    ...         train(chunk)
    ...         if stop.signal_number:
    ...             break
    """

    def __init__(self) -> None:
        self.signal_number = 0
        self._previous: dict = {}

    def __enter__(self) -> "StopRequest":
        self._previous = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()

    def _note(self, number: int, frame: object) -> None:
        self.signal_number = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}
