"""The location of the documentation's pages, if they lie on this machine."""

from __future__ import annotations

from pathlib import Path

# What is looked at in a clone of the repository: pages that were built, and their sources
_FORMS = ("build/doc/{}.html", "doc/{}.md")


def address_of(page: str) -> str:
    """Return the address of a page, for a link; empty where it is not here.

    Looked for in the folder that the process is in, and in that of the package: programs run in a
    clone of the repository, or with the package as it lies there.

    Parameters
    ----------
    page
        Its name, such as ``loops``.
    """
    for folder in (Path.cwd(), Path(__file__).parents[2]):
        for form in _FORMS:
            path = folder / form.format(page)
            if path.is_file():
                return path.as_uri()
    return ""
