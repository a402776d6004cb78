"""The learning curve as a picture; matplotlib is imported only when one is asked for."""

from pathlib import Path

from char_model.errors import InputError


def require_drawable(path: Path) -> None:
    """Raise `InputError` for a plot that could not be drawn, before time is spent on training."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("--plot needs matplotlib: python -m pip install matplotlib") from error
    if not path.parent.is_dir():
        raise InputError(f"cannot write the plot {path}: there is no folder {path.parent}")
    formats = Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise InputError(f"cannot write the plot {path}: its name must end in .png, .svg or .pdf")


def draw(path: Path, history: list[dict]) -> None:
    """Write a picture of bits per character on both parts of the text, epoch by epoch.

    Parameters
    ----------
    path : Path
        Its ending chooses the format.
    history : list of dict
        One entry for each epoch, with the keys "training" and "validation".
    """
    from matplotlib.figure import Figure

    epochs = range(1, len(history) + 1)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for part in ("training", "validation"):
        axes.plot(epochs, [entry[part] for entry in history], marker="o", label=part)
    axes.set_xlabel("epoch")
    axes.set_ylabel("bits per character")
    axes.grid(alpha=0.3)
    axes.legend()
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write the plot {path}: {error}") from error
