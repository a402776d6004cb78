"""The pages of ``doc/``: they build without a warning, and each example prints what they say."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.pages.page_examples import blocks_of, examples_of, run_examples, with_outputs
from theano.link.native.build.compiler import cores

FOLDER = ROOT / "doc"
PAGES = sorted(str(page.relative_to(FOLDER).with_suffix("")) for page in FOLDER.rglob("*.md"))
# python2: what a program was; nothing runs it
KINDS = {"python", "python2", "text", "ini", "sh", "diff"}
# Commands that the pages name, which other tests run.
COMMANDS = {
    "pip install 'theano-scan[gpu]' nvidia-cuda-nvrtc",
    "nvcc -std=c++17 -arch=sm_90 -cubin -Xptxas -v gated.cu",
    ".venv/bin/python -m tests_scan_grad.cuda",
    ".venv/bin/python -m theano.profile --html profile.html script.py its arguments",
    ".venv/bin/python -m pytest tests_scan_grad/differential/test_differential.py --differential-programs 3000"
    " --differential-seed 500000",
    ".venv/bin/python -m tests_scan_grad.differential 0 1000 --mode XLA",
    ".venv/bin/python -m pytest tests_scan_grad/rewrites --rewrite-seeds 0:20",
    ".venv/bin/python -m pytest tests_scan_grad/upstream/test_side_by_side.py --all-upstream",
    ".venv/bin/python -m tests_scan_grad.upstream.side_by_side pytensor_shape",
    ".venv/bin/python -m tests_scan_grad.rewrites.search --recipes algebra --seeds 0:100",
    ".venv/bin/python -m tests_scan_grad.rewrites.page 0:3",
    "python3 -m venv .venv",
    ".venv/bin/python -m pip install .",
    ".venv/bin/python examples/char_rnn.py --fresh --max-minutes 2",
    ".venv/bin/python -m pip install -e '.[test]'",
    ".venv/bin/python -m pytest -n 2 --dist loadfile",
    ".venv/bin/python -m sphinx -W -n doc build/doc",
    ".venv/bin/python -m tests_scan_grad.timing --list",
    ".venv/bin/python -m tests_scan_grad.timing loops",
    ".venv/bin/python -m pip install '.[bench]' && .venv/bin/python -m tests_scan_grad.timing gatedrnn",
    ".venv/bin/python -m tests_scan_grad.upstream.theano_tests -j 2",
    ".venv/bin/python -m tests_scan_grad.pages.page_examples doc/tutorials/start.md",
    ".venv/bin/python -m pytest tests_scan_grad/loop_rewrites/test_golden_loops.py --update-golden",
    "git diff tests_scan_grad/loop_rewrites/golden",
    ".venv/bin/python -m pip install ziglang build twine",
    ".venv/bin/python -m pytest --wine --qemu tests_scan_grad/native/runtime tests_scan_grad/native/test_other_processors.py",
    ".venv/bin/python -m pytest --cross tests_scan_grad/wheels",
    ".venv/bin/python -m tests_scan_grad.pymc.public_models",
    ".venv/bin/python -m pytest --heavy -k emulated tests_scan_grad/native",
}


def page_text(name):
    return (FOLDER / f"{name}.md").read_text()


def test_pages_build_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", FOLDER, tmp_path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / f"{name}.html").exists() for name in PAGES)


@pytest.fixture(scope="module")
def printed_by_pages(request):
    """Provide what the examples of each requested page print; pages run in parallel."""
    tests = [item for item in request.session.items if item.path == request.path]
    asked = [test.callspec.params["name"] for test in tests if hasattr(test, "callspec")]
    pool = ThreadPoolExecutor(cores())
    yield {name: pool.submit(run_examples, page_text(name), ROOT) for name in asked}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", PAGES)
def test_examples_print_what_the_page_says(name, printed_by_pages):
    page, outputs = page_text(name), printed_by_pages[name].result()
    assert {block.kind for block in blocks_of(page)} <= KINDS
    for example, printed in zip(examples_of(page), outputs, strict=True):
        assert example.agrees(printed), f"{example.program.text}\nprinted\n{printed}"


def test_commands_are_known():
    blocks = [block for name in PAGES for block in blocks_of(page_text(name))]
    named = {line for block in blocks if block.kind == "sh" for line in block.text.splitlines()}
    assert named == COMMANDS


def code_spans(name):
    """The texts in backticks of a page, without those of its blocks."""
    prose = re.sub(r"^```.*?^```", "", page_text(name), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


def test_pages_name_files_that_exist():
    pattern = r"`((?:theano|tests_scan_grad|examples|doc|patches)/[\w/.]+)`"
    named = {path for name in PAGES for path in re.findall(pattern, page_text(name))}
    assert named and not [path for path in named if not (ROOT / path).exists()]


def test_pages_name_the_ends_of_paths_that_exist():
    pattern = r"(?<![\w./-])[\w/]+\.(?:py|c|h|inc)\b(?![\w.(])"
    named = {
        (name, path)
        for name in PAGES
        for span in code_spans(name)
        for path in re.findall(pattern, span)
    }
    files = [
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in ("theano", "tests_scan_grad", "examples", "doc", "patches")
        for path in (ROOT / folder).rglob("*.*")
    ]
    assert named
    assert not [
        (name, path)
        for name, path in sorted(named)
        if not any(file.endswith(f"/{path}") for file in files)
    ]


def is_there(name):
    """Return whether a dotted name is that of a module or of something inside one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_pages_name_what_the_package_has():
    pattern = r"(theano(?:\.\w+)+)(?:\(.*\))?"
    named = {
        (name, match[1])
        for name in PAGES
        for span in code_spans(name)
        if (match := re.fullmatch(pattern, span))
    }
    if importlib.util.find_spec("pymc") is None:
        # which nobody can import without the extra [pymc]
        named = {(name, dotted) for name, dotted in named if not dotted.startswith("theano.pymc")}
    assert named and not [(name, dotted) for name, dotted in sorted(named) if not is_there(dotted)]


def test_recipes_are_all_in_their_index():
    recipes = {
        name.removeprefix("how_to/recipes/") for name in PAGES if name.startswith("how_to/recipes/")
    }
    listed = re.findall(
        r"^\| .* \| \[.*\]\((\w+)\.md\) \|$", page_text("how_to/recipes/index"), re.MULTILINE
    )
    assert sorted(listed) == sorted(recipes - {"index"})


def test_a_wrong_output_is_seen_and_mended():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\nprint('a', 'b')\n```\n"
    printed = run_examples(page, ROOT)
    assert printed == ["2\n", "a b\n"]
    assert [
        example.agrees(text) for example, text in zip(examples_of(page), printed, strict=False)
    ] == [False] * 2
    mended = with_outputs(page, printed)
    assert [example.expected for example in examples_of(mended)] == printed


def test_an_error_of_an_example_is_told():
    with pytest.raises(RuntimeError, match="example 2 of 2:(.|\n)*ZeroDivisionError"):
        run_examples("```python\na = 0\n```\n\n```python\n1 / a\n```\n", ROOT)


def changed(text, change):
    """The text with each hunk of a change made: lines with a minus replaced by those with a plus."""
    for hunk in re.split(r"^@@\n", change, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, f"not found once:\n{before}"
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


def test_the_change_of_the_example_trains(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    [change] = [
        block.text for block in blocks_of(page_text("tutorials/start")) if block.kind == "diff"
    ]
    name, hunks = change.split("\n", 1)
    path = tmp_path / name.removeprefix("--- ")
    path.write_text(changed(path.read_text(), hunks))
    (tmp_path / "text").write_text("the quick brown fox jumps over the lazy dog\n" * 1000)
    options = "--text text --max-minutes 0.02 --hidden 8 --sample 20 --checkpoint saved"
    done = subprocess.run(
        [sys.executable, "examples/char_rnn.py", *options.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "sample of 20 characters" in done.stdout


def test_pictures_of_loops_are_what_the_script_draws(tmp_path):
    done = subprocess.run(
        [sys.executable, FOLDER / "pictures" / "gated_loops.py", tmp_path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    drawn = {picture.name: picture.read_text() for picture in tmp_path.iterdir()}
    assert len(drawn) == 2
    for name, picture in drawn.items():
        assert picture == (FOLDER / "pictures" / name).read_text()


def test_pictures_of_times_can_be_drawn(tmp_path):
    script = FOLDER / "pictures" / "timings.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=600)
    drawn = {picture.name for picture in tmp_path.iterdir()}
    assert drawn == {picture.name for picture in script.parent.glob("timings_*.svg")}
