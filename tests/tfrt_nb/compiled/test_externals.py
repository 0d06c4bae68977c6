"""Test what compiled programs may call: printers, clocks, and functions that Python registers."""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tfrt_nb import CHAIN, HostContext, KernelError, Program, call, external, kernel
from tfrt_nb.compiled.division import with_compiled
from tfrt_runtime.async_runtime import externals
from tfrt_runtime.diagnostics import Diagnostic, TfrtError

SLOW = 60
"""Many more seconds than any step here takes."""
PRICE = """
func.func private @price(i64, f64) -> f64
func.func @main(%n: i64) -> f64 {
  %f = arith.constant 2.5 : f64
  %y = call @price(%n, %f) : (i64, f64) -> f64
  return %y : f64
}
async.func @later(%n: i64) -> !async.value<f64> {
  %t, %v = async.execute -> !async.value<f64> {
    %f = arith.constant 2.5 : f64
    %y = func.call @price(%n, %f) : (i64, f64) -> f64
    async.yield %y : f64
  }
  %w = await %v : !async.value<f64>
  return %w : f64
}
"""


@pytest.fixture(autouse=True)
def no_externals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers, so that each test can use any names."""
    monkeypatch.setattr(externals, "_registered", {})


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest) -> Iterator[HostContext]:
    with HostContext(request.param) as host:
        yield host


def with_main(declaration: str) -> str:
    return f"{declaration}\nfunc.func @main() {{\n  return\n}}"


UNKNOWN = "is declared but not defined, and is not a function that programs may call"


def test_a_file_is_judged_like_a_text(host: HostContext) -> None:
    program = Program.from_source(with_main("func.func private @system(i64) -> i32"), "program")
    assert program._compiled is not None
    data = with_compiled(program.file, program._compiled.module)

    with pytest.raises(TfrtError, match=f"error: 'system' {UNKNOWN}"):
        Program.from_bef(data, "file.bef").run(host)


# Functions that Python registers


@pytest.mark.parametrize("function", ["main", "later"])
def test_a_python_function_is_called(function: str, host: HostContext) -> None:
    @external("price", "(i64, f64) -> f64")
    def price(pieces: int, factor: float) -> float:
        return pieces * factor

    [result] = Program.from_source(PRICE, "program").run(host, function, [3]).results

    assert result.result(SLOW) == 7.5


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("function", ["main", "later"])
@pytest.mark.parametrize(
    ("raised", "message"),
    [(ValueError, "ValueError: sold out"), (KernelError, "sold out")],
)
def test_what_it_raises_is_an_error_at_the_call(
    function: str, raised: type[Exception], message: str
) -> None:
    @external("price", "(i64, f64) -> f64")
    def price(pieces: int, factor: float) -> float:
        raise raised("sold out")

    with HostContext("mstd:2") as host:
        run = Program.from_source(PRICE, "program").run(host, function, [3])
        assert run.wait(SLOW)

        [diagnostic] = run.diagnostics
        assert diagnostic.message == message
        assert "@price" in at(PRICE, diagnostic)


def at(text: str, diagnostic: Diagnostic) -> str:
    """Return the line that a diagnostic is about."""
    place = diagnostic.location
    assert place is not None
    return text.splitlines()[place.line - 1]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("x", "result 0 of 'price': expected f64, found str"),
        (None, "result 0 of 'price': expected f64, found NoneType"),
        ((1.0, 2.0), "result 0 of 'price': expected f64, found tuple"),
    ],
)
def test_a_result_that_does_not_fit_is_an_error(
    returned: object, message: str, host: HostContext
) -> None:
    external("price", "(i64, f64) -> f64")(lambda pieces, factor: returned)
    run = Program.from_source(PRICE, "program").run(host, arguments=[3])

    assert run.wait(SLOW)
    assert [d.message for d in run.diagnostics] == [message]


NUMBERS = """
func.func private @numbers(i1, i8, i16, i32, i64, f32, f64, index) -> (i1, i8, i16, i32, i64, f32, f64)
func.func private @nothing()
func.func @main() -> (i1, i8, i16, i32, i64, f32, f64) {
  %a = arith.constant true
  %b = arith.constant -128 : i8
  %c = arith.constant -32768 : i16
  %d = arith.constant -2147483648 : i32
  %e = arith.constant -9223372036854775808 : i64
  %f = arith.constant 1.5 : f32
  %g = arith.constant -2.25 : f64
  %h = arith.constant -1 : index
  call @nothing() : () -> ()
  %r:7 = call @numbers(%a, %b, %c, %d, %e, %f, %g, %h)
    : (i1, i8, i16, i32, i64, f32, f64, index) -> (i1, i8, i16, i32, i64, f32, f64)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : i1, i8, i16, i32, i64, f32, f64
}
"""  # noqa: E501


def test_all_scalars_go_in_and_out(host: HostContext) -> None:
    numbers = [True, -128, -32768, -(2**31), -(2**63), 1.5, -2.25]
    seen: list[object] = []

    @external(
        "numbers", "(i1, i8, i16, i32, i64, f32, f64, i64) -> (i1, i8, i16, i32, i64, f32, f64)"
    )
    def echo(*given: object) -> tuple[object, ...]:
        seen.extend(given)
        return given[:-1]

    external("nothing", "() -> ()")(lambda: None)

    results = Program.from_source(NUMBERS, "program").run(host).results

    assert [result.result(SLOW) for result in results] == numbers
    assert seen == [*numbers, -1]


NATIVE = """
func.func private @labs(i64) -> i64
func.func private @flip(i1) -> i1
func.func @main() -> (i64, i1) {
  %x = arith.constant -5 : i64
  %y = call @labs(%x) : (i64) -> i64
  %t = arith.constant true
  %u = call @flip(%t) : (i1) -> i1
  return %y, %u : i64, i1
}
"""


def test_native_functions_are_called_by_address(host: HostContext) -> None:
    external("labs", "(i64) -> i64")(ctypes.CDLL(None).labs)
    external("flip", "(i1) -> i1")(ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_bool)(lambda b: not b))

    results = Program.from_source(NATIVE, "program").run(host).results

    assert [result.result(SLOW) for result in results] == [5, False]


def test_a_later_function_takes_the_place_of_an_earlier_one(host: HostContext) -> None:
    program = Program.from_source(PRICE, "program")
    found = []
    for factor in (1.0, 2.0):
        external("price", "(i64, f64) -> f64")(lambda pieces, _, by=factor: pieces * by)
        [result] = program.run(host, arguments=[3]).results
        found.append(result.result(SLOW))

    assert found == [3.0, 6.0]


def test_a_function_of_another_type_does_not_reach_code_that_is_kept(host: HostContext) -> None:
    external("price", "(i64, f64) -> f64")(lambda pieces, factor: pieces * factor)
    [result] = Program.from_source(PRICE, "program").run(host, arguments=[2]).results
    assert result.result(SLOW) == 5.0

    external("price", "(i64) -> i64")(lambda pieces: pieces)

    with pytest.raises(
        TfrtError, match=r"is declared with the wrong type: its type is \(i64\) -> i64"
    ):
        Program.from_source(PRICE, "program").run(host, arguments=[2])


def test_host_programs_reach_python_functions_through_compiled_ones(host: HostContext) -> None:
    external("price", "(i64, f64) -> f64")(lambda pieces, factor: pieces * factor)
    text = PRICE.replace("@main", "@inner") + (
        "func.func @main(%n: i64) -> f64 {\n"
        "  %y = tfrt.call @inner(%n) : (i64) -> f64\n"
        "  tfrt.return %y : f64\n}"
    )

    [result] = Program.from_source(text, "program").run(host, arguments=[4]).results

    assert result.result(SLOW) == 10.0


def test_a_python_function_may_run_a_program(host: HostContext) -> None:
    inner = Program.from_source(
        "func.func @main() -> i64 {\n%x = arith.constant 2 : i64\nreturn %x : i64\n}", "inner"
    )

    @external("price", "(i64, f64) -> f64")
    def price(pieces: int, factor: float) -> float:
        [found] = inner.run(host).results
        return float(found.result(SLOW)) * factor

    [result] = Program.from_source(PRICE, "program").run(host, arguments=[4]).results

    assert result.result(SLOW) == 5.0


def test_ctrl_c_in_a_python_function_ends_the_run(host: HostContext) -> None:
    @external("price", "(i64, f64) -> f64")
    def price(pieces: int, factor: float) -> float:
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        raise KeyboardInterrupt

    run = Program.from_source(PRICE, "program").run(host, arguments=[4])
    with pytest.raises(KeyboardInterrupt):
        run.wait(SLOW)

    assert [result.exception(SLOW).diagnostics[0].message for result in run.results] == [
        "interrupted"
    ]


def _refused(register: Callable[[], object]) -> str:
    with pytest.raises(TfrtError) as caught:
        register()
    return caught.value.diagnostics[0].message


def test_what_cannot_be_registered_is_refused() -> None:
    assert _refused(lambda: external("f", "i64 -> i64")) == (
        "expected a type such as '(i64, f64) -> f64', found 'i64 -> i64'"
    )
    assert _refused(lambda: external("f", "(memref<*xf32>) -> ()")) == (
        "a registered function takes and returns numbers (i1, i8, i16, i32, i64, f32, f64), "
        "found 'memref<*xf32>'"
    )
    assert _refused(lambda: external("printI64", "(i64) -> ()")) == (
        "'printI64' is a function of the runtime: choose another name"
    )
    assert _refused(lambda: external("f", "(i64) -> ()")(3)) == (
        "'f' is registered with 3, which is not a function"
    )
    assert _refused(lambda: external("f", "() -> (i64, i64)")(ctypes.CDLL(None).labs)) == (
        "'f': a native function has at most one result"
    )


HOST = """
func.func @main(%x: f64, %n: i32) -> (f64, i32, !tfrt.chain) {
  %y = "c.cos"(%x) : (f64) -> f64
  %z = c.abs %n
  %done = "c.srand"(%n) : (i32) -> !tfrt.chain
  tfrt.return %y, %z, %done : f64, i32, !tfrt.chain
}
"""


def test_a_c_function_is_a_kernel_of_a_host_program(host: HostContext) -> None:
    library = ctypes.CDLL(None)
    external("c.cos", "(f64) -> f64")(ctypes.CDLL("libm.so.6").cos)
    external("c.abs", "(i32) -> i32")(library.abs)
    external("c.srand", "(i32) -> ()")(library.srand)

    results = Program(HOST).run(0.0, -3, host=host).results

    assert [one.result(SLOW) for one in results] == [1.0, 3, CHAIN]
    wrong = HOST.replace('"c.cos"(%x) : (f64)', '"c.cos"(%n) : (i32)')
    with pytest.raises(TfrtError, match=r":3:8: .* argument 1 .*'c.cos' is tfrt.f64, found i32"):
        Program(wrong).run(0.0, -3, host=host)


def test_a_kernel_of_the_same_name_is_what_a_host_program_calls() -> None:
    external("py.both", "(i64) -> i64")(lambda x: 10 * x)
    external("py.both", "(i64) -> i64")(lambda x: 20 * x)
    assert call("py.both", 1).result(SLOW) == 20
    kernel("py.both")(lambda x: 30 * x)
    external("py.both", "(i64) -> i64")(lambda x: 40 * x)
    assert call("py.both", 1).result(SLOW) == 30


TWICE = """
func.func private @c.twice(i64) -> i64
func.func @main(%x: i64) -> i64 {
  %y = call @c.twice(%x) : (i64) -> i64
  return %y : i64
}
"""


@pytest.mark.usefixtures("leak_check")
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_code_links_against_the_runtime_as_the_recipe_says(
    host: HostContext, tmp_path: Path
) -> None:
    recipe = (Path(__file__).parents[3] / "docs" / "howto" / "port.md").read_text()
    source = recipe[recipe.index("#include") :].partition("```")[0]
    (tmp_path / "twice.c").write_text(source)
    built = tmp_path / "twice.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, tmp_path / "twice.c"], check=True)

    externals.link_runtime()
    external("c.twice", "(i64) -> i64")(ctypes.CDLL(str(built)).twice)

    assert Program(TWICE).run(21, host=host).result(SLOW) == 42
