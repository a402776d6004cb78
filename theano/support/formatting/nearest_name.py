"""The known name that a mistyped one was meant to be, for messages of errors."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the candidate closest to `name`, or an empty string."""
    spelled = {candidate.lower(): candidate for candidate in candidates}
    # A bare flag also matches one inside a section: "save" is near "scan.save".
    inside = {key.rsplit(".", 1)[-1]: spelled[key] for key in spelled if "." in key}
    for names, cutoff in ((spelled, 0.6), (inside, 0.8)):
        close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=cutoff)
        if close:
            return f"; did you mean {names[close[0]]!r}?"
    return ""
