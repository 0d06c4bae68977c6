"""Test that the wheel has the linked core, so that programs need no compiler, Numba, or cache."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from tests import dist

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.native import library

ROOT = Path(__file__).parents[1]
HOST = """
func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
"""
ASYNC = """
func.func @main() -> i64 {
  %token, %two = async.execute -> !async.value<i64> {
    %two = arith.constant 2 : i64
    async.yield %two : i64
  }
  %b = async.await %two : !async.value<i64>
  return %b : i64
}
"""
RUN = """
import sys
for name in ("numba", "greenlet", *sys.argv[2].split()):
    sys.modules[name] = None
sys.path.insert(0, sys.argv[1])
import tfrt_runtime
assert tfrt_runtime.__file__.startswith(sys.argv[1])
from tfrt_nb.cli.main import main
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for this machine."""
    folder = tmp_path_factory.mktemp("wheel")
    before = os.environ.get("TFRT_NB_PREBUILT")
    os.environ["TFRT_NB_PREBUILT"] = platform.machine()
    try:
        return Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder))))
    finally:
        os.environ.pop("TFRT_NB_PREBUILT")
        if before is not None:
            os.environ["TFRT_NB_PREBUILT"] = before


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The unpacked wheel."""
    folder = wheel.parent / "site"
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run(installed: Path, without: str, *arguments: str) -> str:
    """Return what the wheel's command prints, without a cache and without some packages."""
    cache = installed.parent / "cache"
    finished = subprocess.run(
        [sys.executable, "-c", RUN, str(installed), without, *arguments],
        env={**os.environ, "TFRT_NB_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert not list(cache.glob("native-*"))
    return finished.stdout


def test_programs_run_from_the_wheel_without_a_compiler(installed: Path, tmp_path: Path) -> None:
    text, bef, tasks = (tmp_path / name for name in ("host.mlir", "host.bef", "tasks.mlir"))
    text.write_text(HOST)
    tasks.write_text(ASYNC)

    run(installed, "IPython", "mlir-to-bef", str(text), "-o", str(bef))

    assert "42" in run(installed, "xdsl IPython numpy llvmlite", "run", str(bef))
    assert "42" in run(installed, "IPython", "run", str(text), "--work-queue", "mstd:2")
    assert "2" in run(installed, "IPython", "run", str(tasks))


def test_a_wheel_brings_the_tutorials(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "learn"

    assert "files copied" in run(installed, "IPython", "tutorials", str(folder), "--no-open")

    # JupyterLab, which `make lab` opens here, adds a folder `.ipynb_checkpoints`.
    files = [path for path in (ROOT / "notebooks").glob("*.[ims]*") if path.is_file()]
    wanted = {path.name: path.read_bytes() for path in files}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted


def test_a_release_is_judged_by_its_name_contents_and_size(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(dist.problems_of(wheel, (platform.machine(),))) == []
    assert list(dist.problems_of(wheel, ("vax",))) == [
        f"{wheel.name} has no file like native/core-vax[.-]"
    ]

    worse = tmp_path / "tfrt_nb-9.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as good, zipfile.ZipFile(worse, "w") as bad:
        for name in good.namelist():
            if name != "tfrt_nb/cells.py":
                bad.writestr(name, good.read(name))
        bad.writestr("tests/test_wheel.py", "")
    monkeypatch.setattr(dist, "MEGABYTES", 0)
    name, size, lacks, more = dist.problems_of(worse, (platform.machine(),))
    assert name == f"{worse.name} is not of version {dist.version()}"
    assert "more than 0 MB" in size
    assert lacks == f"{worse.name} lacks tfrt_nb/cells.py"
    assert more == f"{worse.name} has tests/test_wheel.py"


def test_the_version_is_in_one_place() -> None:
    assert f"\n## {dist.version()}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    for page in ("README.md", "docs/index.md"):
        named = re.findall(r"tfrt_nb-(\d[\d.]*\d)", (ROOT / page).read_text("utf-8"))
        assert {*named} == {dist.version()}
    assert '"version"' not in (ROOT / "magics" / "labextension" / "package.json").read_text()


def test_widgets_find_their_modules_in_the_wheel(installed: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "from tfrt_magics.live.widgets import BoardWidget, ValuesWidget, HERE\n"
        "print(HERE, *('export default' in one._esm for one in (BoardWidget, ValuesWidget)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == [str(installed / "tfrt_magics" / "live"), "True", "True"]


def test_a_shared_object_of_other_sources_is_not_taken(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "HERE", installed / "tfrt_runtime" / "native")
    monkeypatch.setattr(library, "sources_digest", lambda: "0" * 64)

    assert library.prebuilt() is None


def test_a_damaged_shared_object_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"core-{platform.machine()}.elf").write_bytes(b"\x7fELF and no more")
    monkeypatch.setattr(library, "HERE", tmp_path)

    assert library.prebuilt() is None


@pytest.mark.parametrize(
    ("system", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "riscv64")]
)
def test_another_platform_is_refused_with_what_to_do(system: str, machine: str) -> None:
    with pytest.raises(TfrtError, match=f"this is {system} on {machine}: use JupyterLite"):
        library.check_platform(system, machine)
