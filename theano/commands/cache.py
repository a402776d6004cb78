"""``theano-cache``: says what compiled code is on disk, and removes it."""

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from theano.configdefaults import config
from theano.gof.compiledir import basecompiledir_ls, basecompiledir_purge, print_compiledir_content
from theano.pytensor_internals.functions.compiling import force_unlock

HELP = """\
theano-cache                        print the folder of compiled code
theano-cache list                   print what is in it
theano-cache clear                  remove what was compiled: all that functions need is made again
theano-cache purge                  remove the folder itself
theano-cache unlock                 remove the lock of the folder
theano-cache basecompiledir         print the folder that holds it
theano-cache basecompiledir list    print what is in that
theano-cache basecompiledir purge   remove all that is in it, of all versions
theano-cache help                   print this text"""

# The folders next to the folder of compiled code: the engine's programs, and rewritten graphs.
_OWN_FOLDERS = ("native", "graphs")


def _own_folders() -> list[Path]:
    return [Path(config.base_compiledir) / name for name in _OWN_FOLDERS]


def _list() -> None:
    for folder in _own_folders():
        files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"{folder}: {len(files)} files, {size:.1f} MiB")
    print_compiledir_content()


def _clear() -> None:
    for folder in [*_own_folders(), Path(config.compiledir)]:
        for path in folder.iterdir() if folder.is_dir() else ():
            _remove(path)


def _purge() -> None:
    for folder in [*_own_folders(), Path(config.compiledir)]:
        _remove(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            path.unlink(missing_ok=True)
        except PermissionError as error:
            # Windows removes no library that a process has loaded
            print(f"{path} stays: {error.strerror}")


def _unlock() -> None:
    force_unlock(Path(config.compiledir))
    print("Lock successfully removed!")


_COMMANDS: dict[tuple[str, ...], Callable[[], object]] = {
    (): lambda: print(config.compiledir),
    ("help",): lambda: print(HELP),
    ("list",): _list,
    ("clear",): _clear,
    ("cleanup",): _clear,
    ("purge",): _purge,
    ("unlock",): _unlock,
    ("basecompiledir",): lambda: print(config.base_compiledir),
    ("basecompiledir", "list"): basecompiledir_ls,
    ("basecompiledir", "purge"): basecompiledir_purge,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the status is 1 where there is no such command."""
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    if given not in _COMMANDS:
        print(f'command "{" ".join(given)}" not recognized', HELP, sep="\n", file=sys.stderr)
        return 1
    _COMMANDS[given]()
    return 0
