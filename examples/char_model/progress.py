"""A progress bar with the loss so far, the speed, and what is left of the whole run."""

import math
import shutil
import sys
import time

BAR_WIDTH = 24
SECONDS_BETWEEN_DRAWINGS = 0.1
# where output goes to a file
SECONDS_BETWEEN_LINES = 30.0


class ProgressBar:
    """One line, drawn again and again on a terminal; elsewhere a new one now and then.

    Parameters
    ----------
    label : str
    total : int
        The number of chunks of an epoch.
    characters : int
        The number of characters in each chunk.
    done : int
        The number of chunks that an earlier run finished.
    later : int
        The number of chunks of the epochs that follow.
    deadline : float
        When the run ends at the latest, in seconds of ``time.monotonic``.
    """

    def __init__(
        self,
        label: str,
        total: int,
        characters: int,
        done: int = 0,
        later: int = 0,
        deadline: float = math.inf,
    ) -> None:
        self.label = label
        self.total = total
        self.characters = characters
        self.first = self.done = done
        self.later = later
        self.deadline = deadline
        self.started = time.perf_counter()
        self.seconds = 0.0
        self.on_terminal = sys.stdout.isatty()
        self.drawn_at = -math.inf if self.on_terminal else 0.0

    @property
    def characters_done(self) -> int:
        """The number of characters since the bar began."""
        return (self.done - self.first) * self.characters

    def show(self, done: int, bits: float) -> None:
        """Note, and draw, that `done` chunks have a mean loss of `bits` per character."""
        self.done = done
        self.seconds = time.perf_counter() - self.started
        pause = SECONDS_BETWEEN_DRAWINGS if self.on_terminal else SECONDS_BETWEEN_LINES
        if self.seconds - self.drawn_at < pause:
            return
        self.drawn_at = self.seconds
        speed = self.characters_done / self.seconds
        filled = BAR_WIDTH * done // self.total
        line = (
            f"{self.label} [{'=' * filled}{'.' * (BAR_WIDTH - filled)}] "
            f"{bits:.3f} bits/char, {speed:,.0f} chars/s, {self._left(speed)} left of the run"
        )
        if self.on_terminal:
            # A line wider than the terminal would wrap and could not be drawn over.
            sys.stdout.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
            sys.stdout.flush()
        else:
            print(line, flush=True)

    def _left(self, speed: float) -> str:
        """How long the run goes on: to its last epoch, or to its deadline."""
        seconds = (self.total - self.done + self.later) * self.characters / speed
        seconds = max(0.0, min(seconds, self.deadline - time.monotonic()))
        return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

    def close(self) -> None:
        """Erase the bar."""
        if self.on_terminal:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()
