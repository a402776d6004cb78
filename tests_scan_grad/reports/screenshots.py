"""Pages as a browser shows them: headless Chromium, on light screens and on dark ones."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCHEMES = {"light": "1", "dark": "0"}


def browser() -> str | None:
    """The program, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def screenshot(page: Path, picture: Path, scheme: str, size: tuple[int, int]) -> np.ndarray:
    """Show a page in a window of a size; return the pixels.

    Parameters
    ----------
    scheme
        'light' or 'dark'.
    """
    from matplotlib.image import imread

    _run(
        page,
        picture.parent,
        "--hide-scrollbars",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        f"--window-size={size[0]},{size[1]}",
        f"--screenshot={picture}",
    )
    return imread(picture)


def dumped(page: Path) -> str:
    """Return the document of a page once its scripts have run."""
    return _run(page, page.parent, "--dump-dom")


def _run(page: Path, folder: Path, *options: str) -> str:
    program = browser()
    assert program is not None
    always = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'browser'}",
    ]
    done = subprocess.run(
        [program, *always, *options, page.as_uri()],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout
