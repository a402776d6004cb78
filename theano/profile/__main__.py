"""``python -m theano.profile script.py``: run a program, and say what it took."""

from __future__ import annotations

import argparse
import ctypes
import runpy
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from theano.compile.profiling import profiles_of_process
from theano.configdefaults import config
from theano.profile.best_rate import best_rates
from theano.profile.findings import Findings, function_times
from theano.profile.page import profile_page
from theano.profile.terminal import terminal_lines
from theano.source_locations.lines import short_line

_HTML_WENT_TO_THE_PROGRAM = (
    "--html stood after the program's name, so that the program got it, and no page is written; "
    "before the name it is for the profile: python -m theano.profile --html page.html program.py"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its own exit status is returned."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.module and not Path(options.program).is_file():
        parser.error(f"there is no program {options.program}")
    _check_page(parser, options.html)
    config.profile = True
    start = time.perf_counter()
    status, error = _run(options.program, options.arguments, options.module)
    seconds = time.perf_counter() - start
    # what PyTensor would print at the end is what is printed here
    config.profile = False
    findings = _findings(options, seconds, error)
    print("\n".join(terminal_lines(findings)), file=sys.stderr)
    if options.html is not None:
        options.html.write_text(profile_page(findings), encoding="utf-8")
        print(f"\nwritten: {options.html}", file=sys.stderr)
    elif any(a == "--html" or a.startswith("--html=") for a in options.arguments):
        print(f"\n{_HTML_WENT_TO_THE_PROGRAM}", file=sys.stderr)
    return status


def _check_page(parser: argparse.ArgumentParser, page: Path | None) -> None:
    """End with an error where the page cannot be written, before the program runs."""
    if page is None:
        return
    if page.suffix not in (".html", ".htm"):
        # it may be the program, which would be written over
        parser.error(f"--html: expected the name of a page, such as profile.html, but got {page}")
    if not page.resolve().parent.is_dir():
        parser.error(f"--html: there is no folder {page.parent}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m theano.profile",
        description="Run a program that uses theano, then say what its functions, loops, statements "
        "and lines took, and what may help.",
        epilog="Options of the profile stand before the program; all that follows its name is the "
        "program's own.",
    )
    parser.add_argument(
        "--html", type=Path, metavar="PAGE.html", help="write a page with pictures, too"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program", help="the file of a program, or with -m the name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own")
    return parser


def _run(program: str, arguments: Sequence[str], module: bool) -> tuple[int, str]:
    """Return the exit status, and what the program failed with."""
    sys.argv = [program, *arguments]
    try:
        if module:
            sys.path.insert(0, "")
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(program).resolve().parent))
            runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return (end.code if isinstance(end.code, int) else int(end.code is not None)), ""
    except KeyboardInterrupt:
        return 130, "KeyboardInterrupt"
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 1, f"{type(error).__name__}: {error}".splitlines()[0]
    return 0, ""


def _findings(options: argparse.Namespace, seconds: float, error: str) -> Findings:
    functions = [function_times(stats) for stats in profiles_of_process()]
    used = [f for f in functions if f.calls or f.compilation.whole]
    return Findings(
        program=" ".join([short_line(options.program), *options.arguments]),
        seconds=seconds,
        functions=tuple(sorted(used, key=lambda f: -f.seconds)),
        peak_bytes=peak_bytes(),
        best=best_rates() if used else {},
        error=error,
    )


def peak_bytes() -> int:
    """Return how many bytes of memory this process has had at most."""
    if sys.platform == "win32":
        counters = _Counters(ctypes.sizeof(_Counters))
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        process = ctypes.c_void_p(kernel.GetCurrentProcess())
        if not kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size):
            raise ctypes.WinError(ctypes.get_last_error())
        return counters.peak_working_set
    import resource

    # in kilobytes, but on macOS in bytes
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class _Counters(ctypes.Structure):
    """Windows' ``PROCESS_MEMORY_COUNTERS``."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        *((f"unread_{k}", ctypes.c_size_t) for k in range(7)),
    ]


if __name__ == "__main__":
    sys.exit(main())
