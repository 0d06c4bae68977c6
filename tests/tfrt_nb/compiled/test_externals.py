"""What compiled programs may call: the runtime's printers and clocks, and what Python registers."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from tfrt_nb import HostContext, KernelError, Program, external
from tfrt_nb.compiled.file import with_compiled
from tfrt_runtime.async_runtime import externals
from tfrt_runtime.async_runtime.printing import PRINTING
from tfrt_runtime.diagnostics import Diagnostic, TfrtError

SLOW = 60
"""Far more seconds than anything here takes."""
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
    """What a test registers is forgotten after it; names of functions are its own."""
    monkeypatch.setattr(externals, "_registered", {})


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest) -> Iterator[HostContext]:
    with HostContext(request.param) as host:
        yield host


def problems(text: str) -> list[tuple[str, str, list[str]]]:
    """The quoted line, the message and the notes of each error of a program that is run."""
    with HostContext("s") as host, pytest.raises(TfrtError) as caught:
        Program.from_source(text, "program").run(host)
    return [
        (text.splitlines()[d.location.line - 1], d.message, [n.message for n in d.notes])
        for d in caught.value.diagnostics
        if d.location is not None
    ]


def with_main(declaration: str) -> str:
    return f"{declaration}\nfunc.func @main() {{\n  return\n}}"


UNKNOWN = "is declared but not defined, and is no function that programs may call"


@pytest.mark.parametrize("name", ["system", "abort", "malloc", "dlopen", "memcpy2"])
def test_functions_of_the_process_are_refused_where_they_are_declared(name: str) -> None:
    declaration = f"func.func private @{name}(i64) -> i32"

    [(line, message, notes)] = problems(with_main(declaration))

    assert (line, message) == (declaration, f"'{name}' {UNKNOWN}")
    assert notes[-1].startswith("programs may call nanoTime, printClose, ")


@pytest.mark.parametrize(
    "declaration",
    [
        "@tfrtAsyncFreeFrame(!async.token, i64, i64)",
        "@mlirAsyncRuntimeGetValueStorage(!async.token) -> !async.value<i64>",
        "@mlirAsyncRuntimeCreateToken() -> !async.token",
        "@memcpy(i64, i64, i64) -> i64",
        "@sin(f64) -> f64",
    ],
)
def test_what_the_compiler_calls_programs_may_not(declaration: str) -> None:
    [(_, message, _)] = problems(with_main(f"func.func private {declaration}"))

    name = declaration[1:].partition("(")[0]
    assert message == f"'{name}' is for code that the compiler makes: programs may not call it"


def test_a_name_that_is_nearly_right_is_suggested_and_what_there_is_said_once() -> None:
    found = problems(
        with_main("func.func private @prinI64(i64)\nfunc.func private @nanotime() -> i64")
    )

    assert [notes[0] for _, _, notes in found] == [
        "did you mean 'printI64'?",
        "did you mean 'nanoTime'?",
    ]
    assert [len(notes) for _, _, notes in found] == [2, 1]


@pytest.mark.parametrize(
    ("declaration", "type_"),
    [
        ("@printI64(f64)", "(i64) -> ()"),
        ("@printI64(i64) -> i64", "(i64) -> ()"),
        ("@printNewline(i64)", "() -> ()"),
        ("@nanoTime() -> !async.token", "() -> i64"),
        ("@printMemrefF32(memref<?xf32>)", "(memref<*xf32>) -> ()"),
        ("@printMemrefI64(memref<*xindex>)", "(memref<*xi64>) -> ()"),
    ],
)
def test_another_type_than_the_function_has_is_refused(declaration: str, type_: str) -> None:
    [(_, message, _)] = problems(with_main(f"func.func private {declaration}"))

    name = declaration[1:].partition("(")[0]
    assert message == f"'{name}' is declared with another type than it has, which is {type_}"


def test_a_file_is_judged_like_a_text(host: HostContext) -> None:
    program = Program.from_source(with_main("func.func private @system(i64) -> i32"), "program")
    assert program.compiled is not None
    data = with_compiled(program.file, program.compiled.module)

    with pytest.raises(TfrtError, match=f"error: 'system' {UNKNOWN}"):
        Program.from_bef(data, "file.bef").run(host)


def test_a_region_of_a_host_program_is_judged_like_a_function(host: HostContext) -> None:
    text = """
    func.func private @exit(i32)
    func.func @main(%x: i32) -> i32 {
      %y = tfrt.jit (%x as %a: i32) -> i32 {
        func.call @exit(%a) : (i32) -> ()
        tfrt.return %a : i32
      }
      tfrt.return %y : i32
    }"""

    with pytest.raises(TfrtError, match=f"'exit' {UNKNOWN}"):
        Program.from_source(text, "program").run(host, arguments=[1])


@pytest.mark.parametrize("name", [n for n, e in PRINTING.items() if e.type.endswith("64) -> ()")])
def test_scalars_are_printed(name: str, host: HostContext) -> None:
    type_ = PRINTING[name].type[1:4]
    number = "7" if type_ == "i64" else "7.0"
    run = Program.from_source(
        f"""
        func.func private @{name}({type_})
        func.func @main() {{
          %x = arith.constant {number} : {type_}
          call @{name}(%x) : ({type_}) -> ()
          return
        }}""",
        "program",
    ).run(host)

    assert run.wait(SLOW)
    assert run.output == ("0.000000 GFLOPS\n" if "lops" in name else "7")


def test_the_proposals_function_prints(host: HostContext) -> None:
    run = Program.from_source(
        """
        func.func private @print_i32(i32)
        func.func private @print_i1(i1)
        func.func @main() {
          %x = arith.constant -789 : i32
          %t = arith.constant true
          call @print_i32(%x) : (i32) -> ()
          call @print_i1(%t) : (i1) -> ()
          return
        }""",
        "program",
    ).run(host)

    assert run.wait(SLOW)
    assert run.output == "-7891"


def test_a_function_of_a_program_may_be_called_like_one_of_the_library(host: HostContext) -> None:
    text = """
    func.func @sin(%x: i64) -> i64 {
      return %x : i64
    }
    func.func @memcpy(%x: f64) -> f64 {
      %y = math.sin %x : f64
      return %y : f64
    }
    func.func @main() -> (i64, f64) {
      %seven = arith.constant 7 : i64
      %zero = arith.constant 0.0 : f64
      %x = call @sin(%seven) : (i64) -> i64
      %y = call @memcpy(%zero) : (f64) -> f64
      return %x, %y : i64, f64
    }"""

    x, y = Program.from_source(text, "program").run(host).results

    assert (x.result(SLOW), y.result(SLOW)) == (7, 0.0)


# What Python registers


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
    """The line that a diagnostic is about."""
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
"""


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

    with pytest.raises(TfrtError, match=r"another type than it has, which is \(i64\) -> i64"):
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
        "a registered function has numbers (i1, i8, i16, i32, i64, f32, f64), found 'memref<*xf32>'"
    )
    assert _refused(lambda: external("printI64", "(i64) -> ()")) == (
        "'printI64' is a function of the runtime: choose another name"
    )
    assert _refused(lambda: external("f", "(i64) -> ()")(3)) == (
        "'f' is registered with 3, which is no function"
    )
    assert _refused(lambda: external("f", "() -> (i64, i64)")(ctypes.CDLL(None).labs)) == (
        "'f': a native function has at most one result"
    )
