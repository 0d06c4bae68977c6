"""Test kernels in Numba's subset: they are compiled when needed, and right where Python is."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.signatures import parse_signature
from tfrt_runtime.kernels.users.user import native_kernel, user_kernel

Run = Callable[..., Execution]
SLOW = 60
TENSOR = "!tfrt_tensor.tensor"


def registry(function: Callable[..., object], signature: str) -> KernelRegistry:
    """Return the runtime's kernels, and the function as kernel `my.test`."""
    kernels = standard_kernels()
    kernels.add(native_kernel(user_kernel("my.test", function), function, signature))
    return kernels


def call(arguments: str, results: str, attributes: str = "") -> str:
    """Return a program that passes its arguments to `my.test` and returns its results."""
    types = arguments.split(", ")
    parameters = ", ".join(f"%x{i}: {type_}" for i, type_ in enumerate(types))
    operands = ", ".join(f"%x{i}" for i in range(len(types)))
    count = results.count(",") + 1
    made = ", ".join(f"%r#{i}" for i in range(count)) if count > 1 else "%r"
    return f"""func.func @main({parameters}) -> ({results}) {{
  %r{f":{count}" if count > 1 else ""} = "my.test"({operands}) {attributes} : ({arguments}) -> ({results})
  tfrt.return {made} : {results}
}}
"""  # noqa: E501


def hypotenuse(x, y):  # type: ignore[no-untyped-def]
    return (x * x + y * y) ** 0.5


def test_numbers_go_in_and_come_out_as_their_types_say(run: Run) -> None:
    def mixed(a, b, c, d, e):  # type: ignore[no-untyped-def]
        return not a, b - 1, c + 1, d / 2, e * 2

    types = "i1, i8, ui16, f32, i64"
    kernels = registry(mixed, f"({types}) -> ({types})")

    execution = run(call(types, types), True, -127, 65534, 3.0, 1 << 40, kernels=kernels)

    assert [r.result(SLOW) for r in execution.results] == [False, -128, 65535, 1.5, 1 << 41]


def test_it_runs_compiled_on_the_threads_of_the_queue(run: Run) -> None:
    calls: list[int] = []

    def spy(x, y):  # type: ignore[no-untyped-def]
        return x + y

    kernels = registry(spy, "(f64, f64) -> f64")
    kernel = kernels["my.test"]
    python = kernel.function  # type: ignore[union-attr]
    object.__setattr__(kernel, "function", lambda *given: (calls.append(1), python(*given))[1])

    execution = run(call("f64, f64", "f64"), 3.0, 4.0, kernels=kernels)

    assert execution.results[0].result(SLOW) == 7.0
    assert calls == []


def test_an_out_tensor_is_an_array_that_it_may_write(run: Run) -> None:
    def scale(matrix, *, by: float, rows: int):  # type: ignore[no-untyped-def]
        for i in range(rows):
            for j in range(matrix.shape[1]):
                matrix[i, j] *= by
        return matrix.sum()

    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    text = call(TENSOR, "f64", "{by = 10.0 : f64, rows = 1 : i32}")

    execution = run(
        text, DenseHostTensor.over(array), kernels=registry(scale, "(out tensor<?x?xf32>) -> f64")
    )

    assert execution.results[0].result(SLOW) == 42.0
    assert array.tolist() == [[0, 10, 20], [3, 4, 5]]


def test_a_trailing_chain_is_only_waited_for(run: Run) -> None:
    kernels = registry(hypotenuse, "(f64, f64) -> f64")
    text = """func.func @main(%x: f64) -> f64 {
  %c = tfrt.new.chain
  %r = "my.test"(%x, %x, %c) : (f64, f64, !tfrt.chain) -> f64
  tfrt.return %r : f64
}"""

    assert run(text, 1.0, kernels=kernels).results[0].result(SLOW) == 2.0**0.5


# --- what goes wrong ---


def get(x, i):  # type: ignore[no-untyped-def]
    return x[i]


def put(x, i):  # type: ignore[no-untyped-def]
    x[i] = 9
    return x.sum()


def pick(x, i):  # type: ignore[no-untyped-def]
    return x[np.array([0, i])].sum()


def spread(x, i):  # type: ignore[no-untyped-def]
    x[np.array([0, i])] = 9
    return x.sum()


def start(x, i):  # type: ignore[no-untyped-def]
    return x[:i].sum()


@numba.njit
def helper(x, i):  # type: ignore[no-untyped-def]
    return x[i]


def ask(x, i):  # type: ignore[no-untyped-def]
    return helper(x, i)


def caught(x, i):  # type: ignore[no-untyped-def]
    try:
        return x[i]
    except Exception:  # noqa: BLE001
        return -1


@pytest.mark.parametrize(
    ("function", "outcomes"),
    [
        (get, {0: 5, -1: 7, -3: 5, 3: None, -4: None, 10**12: None}),
        (put, {2: 20, -1: 20, 3: None, -4: None, 10**12: None}),
        (pick, {1: 11, -1: 12, 3: None, -4: None}),
        (spread, {1: 25, 3: None, -4: None}),
        (start, {2: 11, 100: 18, -1: 11, -9: 0}),
        (ask, {2: 7, 3: None, -4: None}),
        (caught, {2: 7, 3: -1, -4: -1}),
    ],
)
def test_an_index_is_checked_and_may_be_negative(
    run: Run, function: Callable[..., object], outcomes: dict[int, int | None]
) -> None:
    kernels = registry(function, "(out tensor<?xi64>, i64) -> i64")
    guard = np.arange(9)
    for index, outcome in outcomes.items():
        guard[:] = [1, 1, 1, 5, 6, 7, 1, 1, 1]
        tensor = DenseHostTensor.over(guard[3:6])
        value = run(call(f"{TENSOR}, i64", "i64"), tensor, index, kernels=kernels).results[0]
        if outcome is not None:
            assert value.result(SLOW) == outcome
        else:
            problem = value.exception(SLOW)
            assert problem is not None and isinstance(problem.__cause__, IndexError)
            assert str(problem) == "test.mlir:2:8: error: IndexError: index is out of bounds"
            line = f"{__file__}:{function.__code__.co_firstlineno}"
            [note] = problem.diagnostics[0].notes
            assert note.message == f"raised in {function.__name__}, {line}"
        assert guard[[0, 1, 2, 6, 7, 8]].tolist() == [1] * 6


def test_a_kernel_that_raises_has_run_once(run: Run) -> None:
    def count(x):  # type: ignore[no-untyped-def]
        x[0] += 1
        if x[0] == 1:
            raise ValueError("first", x[0])
        return x[0]

    counter = np.zeros(1, np.int64)
    kernels = registry(count, "(out tensor<?xi64>) -> i64")

    problem = (
        run(call(TENSOR, "i64"), DenseHostTensor.over(counter), kernels=kernels)
        .results[0]
        .exception(SLOW)
    )

    assert problem is not None and repr(problem.__cause__) == "ValueError('first', 1)"
    assert counter.tolist() == [1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda n: np.empty(n * 10**12).size, "MemoryError: Allocation failed"),
        (lambda n: np.empty(-n).size, "ValueError: negative dimensions not allowed"),
        (lambda n: 5 % (n - n), "ZeroDivisionError: integer modulo by zero"),
    ],
)
def test_what_cannot_be_computed_is_an_error(
    run: Run, function: Callable[..., object], message: str
) -> None:
    kernels = registry(function, "(i64) -> i64")

    with pytest.raises(TfrtError, match=message):
        run(call("i64", "i64"), 1000, kernels=kernels).results[0].result(SLOW)


def test_an_exception_that_numba_loses_is_an_error_that_says_so(run: Run) -> None:
    def tidy(n):  # type: ignore[no-untyped-def]
        m = n
        try:
            if n > 0:
                raise ValueError("n")
        finally:
            m += 1
        return m

    kernels = registry(tidy, "(i64) -> i64")

    assert run(call("i64", "i64"), 0, kernels=kernels).results[0].result(SLOW) == 1
    with pytest.raises(TfrtError, match="Numba does not pass on an exception through 'finally'"):
        run(call("i64", "i64"), 1, kernels=kernels).results[0].result(SLOW)


def down(n):  # type: ignore[no-untyped-def]
    return down(n - 1) + 1 if n else 0


@numba.njit
def down_in_numba(n):  # type: ignore[no-untyped-def]
    return down_in_numba(n - 1) + 1 if n else 0


def test_a_result_out_of_range_wraps(run: Run) -> None:
    kernels = registry(lambda x: x * 100, "(i32) -> i8")

    assert run(call("i32", "i8"), 1, kernels=kernels).results[0].result(SLOW) == 100
    assert run(call("i32", "i8"), 2, kernels=kernels).results[0].result(SLOW) == -56


def test_an_argument_of_another_type_is_refused_at_its_call() -> None:
    kernels = registry(lambda x: x.sum(), "(tensor<?xf32>) -> f64")
    program = Program.from_source(call("f32", "f64"), "test.mlir")

    with pytest.raises(TfrtError) as caught:
        program.load(kernels)
    assert str(caught.value) == (
        "test.mlir:2:8: error: argument 1 (x) of 'my.test' is tfrt.tensor[tfrt.f32, 1], found f32"
    )


def test_a_tensor_of_another_rank_is_an_error(run: Run) -> None:
    kernels = registry(lambda x: x.sum(), "(tensor<?xf32>) -> f64")

    execution = run(call(TENSOR, "f64"), np.zeros((2, 2), np.float32), kernels=kernels)

    with pytest.raises(
        TfrtError, match="takes a tensor of f32 of rank 1, found one of f32 of rank 2"
    ):
        execution.results[0].result(SLOW)


FACTORS = np.array([2.0, 3.0])


def sum(values: np.ndarray) -> float:
    return FACTORS[0] * np.sum(values) + values.sum()


def test_a_function_may_have_the_name_of_an_attribute_that_it_uses(run: Run) -> None:
    kernels = registry(sum, "(tensor<?xf64>) -> f64")
    execution = run(call(TENSOR, "f64"), np.arange(3.0), kernels=kernels)

    assert execution.results[0].result(SLOW) == 9.0


@pytest.mark.parametrize(
    ("function", "signature", "message"),
    [
        (lambda x: open(x), "(i32) -> i32", "cannot be compiled: Untyped global name 'open'"),  # noqa: SIM115
        (lambda x: x * 0.5, "(i32) -> i32", "it returns float64 where its signature says i32"),
        (lambda x: x, "(i32) -> ()", "it returns int64 but its signature has no results"),
        (lambda x: (x, x), "(i32) -> i32", "it returns 2 values where its signature says 1"),
        (lambda x: (x,), "(i32) -> i32", r"it returns UniTuple\(int64 x 1\) where its signature"),
        (down, "(i32) -> i32", "'down' calls itself: use a loop"),
        (lambda x: down_in_numba(x), "(i32) -> i32", "'down_in_numba' calls itself"),
        (lambda x: np.arange(3).flat[x], "(i32) -> i32", "'flat' is not checked for bounds"),
    ],
)
def test_what_numba_cannot_compile_is_refused_at_its_call(
    function: Callable[..., object], signature: str, message: str
) -> None:
    result = "!tfrt.chain" if signature.endswith("()") else "i32"
    program = Program.from_source(call("i32", result), "test.mlir")

    with pytest.raises(TfrtError, match=message) as caught:
        program.load(registry(function, signature))
    assert str(caught.value).startswith("test.mlir:2:8: error: native kernel 'my.test' ")


def test_attributes_are_numbers_and_results_are_as_the_program_says() -> None:
    def shifted(x, *, by):  # type: ignore[no-untyped-def]
        return x + by

    kernels = registry(shifted, "(i32) -> i64")

    with pytest.raises(TfrtError, match="an attribute of native kernel 'my.test' must be a number"):
        Program.from_source(call("i32", "i64", '{by = "one"}'), "test.mlir").load(kernels)
    with pytest.raises(TfrtError, match="'my.test' has a result i64, not f32"):
        Program.from_source(call("i32", "f32", "{by = 1 : i32}"), "test.mlir").load(kernels)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("f64 -> f64", "expected '\\(types\\) -> types'"),
        ("(f64) -> out tensor<?xf32>", "'out' is for tensors that a native kernel takes"),
        ("(string) -> f64", "found 'string'"),
        ("(tensor<4xf32>) -> f64", "found 'tensor<4xf32>'"),
        ("(tensor<?xbf16>) -> f64", "cannot have a tensor of 'bf16'"),
    ],
)
def test_a_wrong_signature_is_refused(signature: str, message: str) -> None:
    with pytest.raises(TfrtError, match=message):
        parse_signature(signature)


def test_a_tuple_of_one_value_is_no_result() -> None:
    def single(x: int) -> tuple[int]:
        return (x,)

    with pytest.raises(TfrtError, match=r"cannot be tuple\[int\]: return the value itself"):
        native_kernel(user_kernel("my.test", single), single, True)


def test_kinds_that_need_python_cannot_be_native() -> None:
    async def later(x: int) -> int:
        return x

    with pytest.raises(TfrtError, match="cannot be raw, blocking, async"):
        native_kernel(user_kernel("my.test", later), later, "(i32) -> i32")
    with pytest.raises(TfrtError, match="takes 2 arguments, its types are 1"):
        native_kernel(user_kernel("my.test", hypotenuse), hypotenuse, "(f64) -> f64")
