"""A progress bar with the loss so far and the speed."""

import math
import shutil
import sys
import time

BAR_WIDTH = 24
SECONDS_BETWEEN_DRAWINGS = 0.1


class ProgressBar:
    """One line, drawn again and again on a terminal; nothing when output goes to a file.

    Parameters
    ----------
    label : str
    total : int
        The number of chunks of an epoch.
    characters : int
        The number of characters in each chunk.
    done : int
        The number of chunks that an earlier run finished.
    """

    def __init__(self, label: str, total: int, characters: int, done: int = 0) -> None:
        self.label = label
        self.total = total
        self.characters = characters
        self.first = self.done = done
        self.started = time.perf_counter()
        self.seconds = 0.0
        self.drawn_at = -math.inf
        self.on_terminal = sys.stdout.isatty()

    @property
    def characters_done(self) -> int:
        """The number of characters since the bar began."""
        return (self.done - self.first) * self.characters

    def show(self, done: int, bits: float) -> None:
        """Note, and draw, that `done` chunks have a mean loss of `bits` per character."""
        self.done = done
        self.seconds = time.perf_counter() - self.started
        if not self.on_terminal or self.seconds - self.drawn_at < SECONDS_BETWEEN_DRAWINGS:
            return
        self.drawn_at = self.seconds
        speed = self.characters_done / self.seconds
        left = (self.total - done) * self.characters / speed
        filled = BAR_WIDTH * done // self.total
        line = (
            f"{self.label} [{'=' * filled}{'.' * (BAR_WIDTH - filled)}] "
            f"{bits:.3f} bits/char, {speed:,.0f} chars/s, {left:.0f} s left"
        )
        # A line wider than the terminal would wrap and could not be drawn over.
        sys.stdout.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        sys.stdout.flush()

    def close(self) -> None:
        """Erase the bar."""
        if self.on_terminal:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()
