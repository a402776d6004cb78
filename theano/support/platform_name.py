"""The name of the platform in the path of the folder of compiled code."""

import platform


def short_platform(r: str | None = None, p: str | None = None) -> str:
    """Return a platform's name in which only the kernel's first two numbers are left.

    Folders of compiled code so outlive the security updates of a kernel.

    Parameters
    ----------
    r, p : str, optional
        The kernel's release and the platform's full name; by default this machine's.

    Returns
    -------
    str

    Examples
    --------
    >>> short_platform("3.2.0-70-generic", "Linux-3.2.0-70-generic-x86_64")
    'Linux-3.2--generic-x86_64'
    """
    release = platform.release() if r is None else r
    name = platform.platform() if p is None else p
    version, *rest = release.split("-")
    numbers = version.split(".")
    if not rest or len(numbers) <= 2:
        return name
    parts = rest[0].split(".")
    while parts and parts[0].isdigit():
        del parts[0]
    short = "-".join([".".join(numbers[:2]), ".".join(parts), *rest[1:]])
    return name.replace(release, short)
