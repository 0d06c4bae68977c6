"""Test that a user's file type-checks under the strict rules of mypy and pyright."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
USER = """
import asyncio

import numpy as np

import tfrt_nb as tfrt

Prices = np.ndarray[tuple[int], np.dtype[np.float64]]


@tfrt.kernel
def price(pieces: int, *, cents: int = 250) -> int:
    return pieces * cents


@tfrt.kernel("shop.scale", blocking=True)
def scale(values: Prices, *, factor: float) -> Prices:
    return values * factor


@tfrt.kernel("shop.add", native=True)
def add(left: tfrt.tensor[tfrt.f64, 1], right: tfrt.out[tfrt.tensor[tfrt.f64, 1]]) -> None:
    right[0] = left[0]


@tfrt.program
def total(pieces: tfrt.i32, people: tfrt.i32):  # type: ignore[no-untyped-def]
    cost = price(pieces, cents=120)
    rest = tfrt.cond(people > 0, lambda: cost // people, lambda: 0)
    with tfrt.in_order():
        tfrt.parallel_for(3, lambda i: price(i))
    return tfrt.max(rest, 1), tfrt.f64(cost)


@tfrt.kernel("shop.half", native=True)
def half(x: tfrt.f64) -> tfrt.f64:
    return x * 0.5


started: tfrt.Execution = total(7, 2)
traced: tfrt.TracedProgram = total
several: tfrt.Batch = tfrt.call_each("tfrt.add.i32", [1], [2])
name: str = price.kernel.name + half.kernel.name
cents: int = price(3, cents=2)
add(np.ones(3), np.ones(3))
halves: float = half(2.0)


@tfrt.program
def factorial(n: tfrt.i32) -> tfrt.i32:
    return tfrt.cond(n <= 1, lambda: 1, lambda: n * factorial(n - 1))


@tfrt.program
def sums(n: tfrt.i32, x: tfrt.f64) -> tuple[tfrt.f64, tfrt.i32]:
    y, z = tfrt.cond(n > 1, lambda: (x, n), lambda: (x * 2, n + 1))
    return y, tfrt.min(z, n) // 2 + 1


class Quiet:
    def begin(self, one: tfrt.Activity) -> None: ...
    def end(self, one: tfrt.Activity) -> None: ...
    def event(self, one: tfrt.Activity) -> None: ...
    def close(self) -> None: ...


sinks: list[tfrt.TracingSink] = [Quiet(), tfrt.ChromeSink("trace.json")]


async def later(value: tfrt.AsyncValue) -> object:
    return await value


def main() -> None:
    program: tfrt.Program = total.trace()
    text: str = program.mlir + tfrt.__version__
    with tfrt.HostContext("mstd:2") as host:
        run = program.run(7, 2, function="total", host=host, timeout=1.5)
        first, second = total(7, 2)
        print(text, run.wait(60), first.done(), second.exception(60), run.diagnostics)
    value = tfrt.unavailable()
    value.set_result(3)
    both = tfrt.gather(value, tfrt.call("tfrt.add.i32", 1, 2))
    quotient, rest = tfrt.call("tfrt.div.i32", 7, 2)
    print(tfrt.call("tfrt.add.i32", quotient, rest).result())
    try:
        print(asyncio.run(later(both)), price(3))
    except tfrt.TfrtError as wrong:
        print(wrong.diagnostics[0].message)


main()
"""


def test_a_users_file_type_checks_under_pyrights_strict_rules(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(USER)
    packages = [str(ROOT / name) for name in ("runtime", "tfrt_nb", "magics")]
    rules = {"typeCheckingMode": "strict", "extraPaths": packages, "include": ["shop.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(rules))

    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert finished.stdout.splitlines()[-1] == "0 errors, 0 warnings, 0 informations"


def test_a_users_file_type_checks_under_strict_rules(tmp_path: Path) -> None:
    assert checked_by_mypy(tmp_path, USER) == ["Success: no issues found in 1 source file"]


def test_wrong_uses_in_a_users_file_are_reported(tmp_path: Path) -> None:
    uses = {
        "tfrt.gether": "attr-defined",
        "tfrt.gather(1).answer": "attr-defined",
        "price.kernel.title": "attr-defined",
        "price('a')": "arg-type",
        "price(1, cent=2)": "call-arg",
        "tfrt.HostContext(3)": "arg-type",
        "tfrt.Program('').run(timeout='a')": "arg-type",
        "tfrt.kernel('x', retries='a')": "call-overload",
        "tfrt.unavailable().set_result()": "call-arg",
    }
    text = (
        "import tfrt_nb as tfrt\n@tfrt.kernel\ndef price(n: int, *, cents: int = 1) -> int: "
        "return n\n"
    )
    found = checked_by_mypy(tmp_path, text + "\n".join(uses))

    codes = [line.rsplit("[", 1)[1].rstrip("]") for line in found if ": error: " in line]
    assert codes == list(uses.values())


def checked_by_mypy(folder: Path, text: str) -> list[str]:
    """Return the lines that mypy prints about a user's file under its strict rules."""
    file = folder / "shop.py"
    file.write_text(text)
    packages = ("runtime", "tfrt_nb", "magics")
    configuration = folder / "mypy.ini"
    configuration.write_text(
        f"[mypy]\nstrict = true\ndisallow_any_generics = false\n"
        f"mypy_path = {':'.join(str(ROOT / name) for name in packages)}\n"
        "explicit_package_bases = true\nfollow_imports = silent\n"
        "[mypy-llvmlite.*,numba.*,pygments.*]\nignore_missing_imports = true\n"
    )
    finished = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(configuration), str(file)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return finished.stdout.splitlines()
