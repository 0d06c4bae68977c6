import asyncio
import copy
import dataclasses
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfrt_nb as tfrt
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule

SLOW = 60
LOG: list[int] = []
TABLE = {"milk": 1}
TEXT = tfrt.Program("func.func @main(%x: i64) -> i64 {\n  tfrt.return %x : i64\n}")


@pytest.fixture(autouse=True)
def empty_log() -> None:
    LOG.clear()


@dataclasses.dataclass
class Point:
    x: object


@tfrt.kernel("traced.show")
def show(x: int) -> None:
    LOG.append(x)


@tfrt.kernel("traced.show_later")
async def show_later(x: int) -> None:
    await asyncio.sleep(0.02)
    LOG.append(x)


@tfrt.kernel("traced.pair")
def pair(a: object, b: object = 3) -> object:
    return a, b


@tfrt.kernel("traced.same")
def same(x: object) -> object:
    return x


@tfrt.kernel("traced.scaled")
def scaled(x: int, *, by: int) -> int:
    return x * by


@tfrt.kernel("traced.later")
async def later(x: int) -> int:
    return x + 1


@tfrt.kernel("traced.doubled")
def doubled(x: np.ndarray) -> np.ndarray:
    return 2 * np.asarray(x)


def value_of(body: Callable[..., Any], *values: object) -> object:
    return tfrt.program(body)(*values).result(SLOW)


def refused(body: Callable[..., Any], *values: object) -> str:
    with pytest.raises(tfrt.TfrtError) as caught:
        value_of(body, *values)
    assert caught.value.diagnostics[0].location.source == __file__
    return caught.value.diagnostics[0].message


def test_operators_do_what_python_does() -> None:
    found = value_of(
        lambda x: (-x, +x, ~x, abs(-x), x << 2, x >> 1, 7 // x, -7 % x, x & 6 | 1 ^ 2, x != 7), 7
    )

    assert found == (-7, 7, -8, 7, 28, 3, 1, 0, 7, False)
    logic = value_of(lambda x: ((x < 9) & (x != 7) | ~(x == 8), x <= 7), 7)
    assert logic == (True, True)
    assert value_of(lambda x: (x // -2, x % 4, 10 - x), 7) == (-4, 3, 3)


@pytest.mark.parametrize("type_", [tfrt.i8, tfrt.i16, tfrt.i32, tfrt.i64, tfrt.f32, tfrt.f64])
def test_each_number_type_has_the_arithmetic_operators(type_: Any) -> None:
    def body(x: Any) -> Any:
        a = type_(x)
        return a + 3, a - 3, a * 3, *divmod(a, 2), a < 3, a >= 3, tfrt.min(a, 3), tfrt.max(a, 9)

    assert value_of(body, 7) == (10, 4, 21, 3, 1, False, True, 3, 9)


@pytest.mark.parametrize("type_", [tfrt.i8, tfrt.i16, tfrt.i32, tfrt.i64])
def test_whole_numbers_wrap(type_: Any) -> None:
    most = 2 ** (int(type_.name[1:]) - 1) - 1

    assert value_of(lambda x: type_(x) + 1, most) == -most - 1


def test_a_cast_that_does_not_fit_is_an_error_at_its_line() -> None:
    assert refused(lambda x: tfrt.i8(x), 300) == "300 does not fit in i8"
    assert refused(lambda x: tfrt.i32(x), 1e300) == "1e+300 does not fit in i32"


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (lambda x: bool(x), "tfrt.cond"),
        (lambda x: x and True, "'&'"),
        (lambda x: 0 < x < 5, "(0 < x) & (x < 5)"),
        (lambda x: len(x), "no length"),
        (lambda x: x[0], "index it in a kernel"),
        (lambda x: [*x], "tfrt.map"),
        (lambda x: 3 in x, "instead of 'in'"),
        (lambda x: f"{x}", "format it in a kernel"),
        (lambda x: int(x), "tfrt.i64(x)"),
        (lambda x: range(x), "tfrt.repeat"),
        (lambda x: x + 2.5, "2.5 is a float, not i64"),
        (lambda x: x + tfrt.f64(x), "cast one of them, as in tfrt.f64(x)"),
        (lambda x: x // tfrt.f64(x), "'//' of i64 and f64: cast one"),
        (lambda x: x % tfrt.f64(x), "'%' of i64 and f64: cast one"),
        (lambda x: divmod(x, tfrt.f64(x)), "'divmod' of i64 and f64: cast one"),
        (lambda x: tfrt.min((x < 1, x < 2)), "'min' has no meaning for i1"),
        (lambda x: -(x < 1), "'-' has no meaning for i1"),
        (lambda x: min(x, 1), "tfrt.min and tfrt.max instead of min and max"),
        (lambda x: x + "a", "'+' has no meaning for str"),
        (lambda x: x + np.zeros(2), "'+' has no meaning for ndarray"),
        (lambda x: np.sin(x), "numpy.sin takes arrays, not the traced value"),
        (lambda x: x.shape, "no attribute 'shape'"),
        (lambda x: round(x), "round it in a kernel"),
        (lambda x: x @ x, "no kernel for '@'"),
        (lambda x: x.__setitem__(0, 1), "change it in a kernel"),
        (lambda x: pair(x) + 1, "annotate what its kernel returns"),
        (lambda x: pair({x}), "a set holds a traced value"),
        (lambda x: pair(Point(x)), "a Point holds a traced value"),
        (lambda x: (same(y) for y in (x, x)), "pass a list, as in [...]"),
        (lambda x: tfrt.program(show)(x, after=show(x)), "within 'with tfrt.in_order():'"),
        (lambda x: tfrt.i32("7"), "no cast of str to i32"),
        (lambda x: pair(tfrt.unavailable()), "an AsyncValue cannot be a constant of a program"),
        (lambda x: tfrt.cond(x > 1, 1, 2), "a function, as in lambda x: x + 1; found 1"),
        (lambda x: tfrt.repeat(2, lambda a, b: a, x), "called with 1 argument: missing"),
        (lambda x: tfrt.while_loop(lambda a: a, lambda a: a, x), "compare it, as in x != 0"),
        (lambda x: x / 2, "use '//'"),
        (lambda x: x**2, "no kernel for '**'"),
        (lambda x: 2**x, "no kernel for '**'"),
        (lambda x: math.trunc(x), "round it in a kernel"),
        (lambda x: np.array(x), "not an array yet"),
        (lambda x: show(x, after=5), "after= takes values that kernels return, found 5"),
        (
            lambda x: tfrt.repeat(2.5, lambda a: a, x),
            "the count of tfrt.repeat must be an integer, found 2.5",
        ),
        (lambda x: tfrt.parallel_for(x, lambda: show(x)), "called with 1 argument"),
        (lambda x: tfrt.while_loop(lambda: x > 1, lambda a: a, x), "called with 1 argument"),
        (lambda x: tfrt.while_loop(lambda a: a < 1, lambda a: (a, a), x), "its body returns 2"),
        (lambda x: show(), "missing a required argument: 'x'"),
        (lambda x: show(x, y=1), "unexpected keyword argument 'y'"),
        (lambda x: show(x > 1), "argument 'x' of 'traced.show' is int, found i1"),
        (lambda x: tfrt.cond(x, lambda: 1, lambda: 2), "compare it, as in x != 0"),
        (lambda x: tfrt.cond(x > 1, lambda: (1, 2), lambda: x), "found 2 and 1"),
        (lambda x: tfrt.cond(x > 1, lambda: "a", lambda: x), "found !tfrt.string and i64"),
        (lambda x: tfrt.repeat(3, lambda a: (a, a), x), "carries 1 value, and its body returns 2"),
        (lambda x: tfrt.cond(x > 1, x, x), "a body of control flow is a function"),
        (lambda x: tfrt.map([1], show), "takes a kernel and a list of values"),
        (lambda x: tfrt.map(show, 3), "takes a kernel and a list of values"),
        (lambda x: show(1.5), "argument 'x' of 'traced.show': 1.5 is a float, not i64"),
        (lambda x: show(None), "argument 'x' of 'traced.show' is int, found NoneType"),
        (lambda x: show(x, 2), "too many positional arguments; it takes (x: int) -> None"),
        (lambda x: tfrt.f32(1e300), "1e+300 does not fit in f32"),
        (lambda x: tfrt.f64(10**400), "does not fit in f64"),
        (lambda x: tfrt.i32(math.nan), "nan does not fit in i32"),
        (lambda x: tfrt.ui8(300), "there is no constant of ui8"),
        (lambda x: pickle.dumps(x), "cannot be pickled"),
        (lambda x: np.sum([x, x]), "not an array yet"),
        (lambda x: scaled(x, by=x), "attribute 'by' must be known when the program is traced"),
        (lambda x: TEXT.run(x), "give it to a kernel, or to a function with @tfrt.program"),
        (lambda x: 2**70, "what @lambda returns: 1180591620717411303424 does not fit in i64"),
    ],
)
def test_what_has_no_meaning_while_a_program_is_made_is_refused_with_what_to_do(
    body: Callable[..., Any], part: str
) -> None:
    assert part in refused(body, 7)


def test_a_class_is_an_object_in_a_call_and_a_type_in_a_trace() -> None:
    untyped: Any = tfrt.program(lambda x: x)

    assert untyped(int).result(SLOW) is int
    assert "(%x: i64)" in untyped.trace(int).mlir


def test_none_is_a_chain_beside_a_chain() -> None:
    @tfrt.program
    def shown(x: tfrt.i32) -> Any:
        return tfrt.cond(x > 0, lambda: (x, show(x)), lambda: (0, None))

    assert [shown(x).result(SLOW)[0] for x in (2, -2)] == [2, 0]
    assert LOG == [2]


def test_constants_are_cast_as_python_does_it() -> None:
    def casts(x: Any) -> Any:
        return tfrt.i1(3), tfrt.i8(True), tfrt.i32(np.float32(1.5)), tfrt.f64(True), tfrt.i1(x)

    assert value_of(casts, 7) == (True, 1, 1, 1.0, True)
    assert tfrt.i1(3) is True


def test_a_copy_of_a_value_is_the_value() -> None:
    assert value_of(lambda x: copy.deepcopy([x, copy.copy(x)]), 7) == (7, 7)


def test_arrays_in_a_collection_are_arrays() -> None:
    def collections(x: np.ndarray) -> Any:
        return same([x]), same((x, 1)), same({"a": x})

    listed, pair_of, by_name = value_of(collections, np.arange(2.0))  # type: ignore[misc]

    assert [type(one) for one in (listed[0], pair_of[0], by_name["a"])] == [np.ndarray] * 3


def test_the_smallest_of_a_list_is_that_of_its_values() -> None:
    assert value_of(lambda x: (tfrt.min([x, 3]), tfrt.max((x, 9))), 7) == (3, 9)


def test_a_function_whose_kernel_has_another_function_now_is_refused() -> None:
    def times(factor: int) -> Callable[[int], int]:
        @tfrt.kernel("traced.times")
        def made(x: int) -> int:
            return factor * x

        return made

    twice, thrice = times(2), times(3)

    assert "'traced.times' now names another function" in refused(lambda x: twice(x), 7)
    with pytest.raises(tfrt.TfrtError, match="now names another function"):
        tfrt.call(twice, 7)
    assert value_of(lambda x: thrice(x), 7) == 21


def test_a_value_is_of_no_use_outside_of_its_trace() -> None:
    escaped: list[Any] = []
    value_of(lambda x: escaped.append(x), 1)

    with pytest.raises(tfrt.TfrtError, match="used outside its trace"):
        escaped[0] + 1
    with pytest.raises(tfrt.TfrtError, match="used outside its trace"):
        tfrt.call("tfrt.add.i32", escaped[0], 1)
    assert "belongs to another trace" in refused(lambda x: x + escaped[0], 1)


def test_a_kernel_that_would_run_at_once_is_refused_in_a_trace() -> None:
    assert "runs a kernel at once" in refused(lambda x: tfrt.call("tfrt.add.i32", x, x), 7)


def test_a_failed_trace_leaves_kernels_plain_functions() -> None:
    refused(lambda x: bool(x), 1)
    show(5)

    assert LOG == [5]


def test_a_number_that_starts_a_loop_takes_the_type_that_it_meets() -> None:
    @tfrt.program
    def powers(n: tfrt.i32, x: tfrt.f64) -> Any:
        total, count = tfrt.while_loop(lambda a, i: i < n, lambda a, i: (a + n, i + 1), 1, 0)
        return total, count, tfrt.repeat(n, lambda a: a * x, 1)

    assert powers(3, 2.0).result(SLOW) == (10, 3, 8.0)


def test_numbers_that_start_a_loop_become_floats_beside_floats() -> None:
    assert value_of(lambda n: tfrt.repeat(n, lambda a: a * 1.5, 1), 2) == 2.25
    assert value_of(lambda n: tfrt.repeat(n, lambda a, b: (b, a), 1, 2.5), 3) == (2.5, 1.0)
    assert value_of(lambda n: tfrt.repeat(n, lambda a: 0.5, 1), 3) == 0.5
    assert value_of(lambda n: tfrt.repeat(n, lambda a, b: (b, a + b), 3, 4), 0) == (3, 4)


def test_a_loop_takes_a_list_of_values_and_none_at_all() -> None:
    def powers(n: Any) -> Any:
        return tfrt.while_loop(lambda a, b: a < 99, lambda a, b: [a * 2, b + 1], n, 0)

    assert value_of(powers, 3) == (192, 6)
    assert value_of(lambda n: tfrt.while_loop(lambda: n < 0, lambda: None), 3) == ()


def test_the_index_of_a_parallel_loop_has_the_type_of_its_count() -> None:
    assert value_of(lambda n: tfrt.parallel_for(n, lambda i: show(i + n)), 3) == ()
    assert sorted(LOG) == [3, 4, 5]
    assert value_of(lambda n: tfrt.parallel_for(2, lambda i: show(i + n)), 3) == ()
    assert sorted(LOG) == [3, 3, 4, 4, 5]


def test_a_value_that_is_there_says_its_type_to_a_program_without_annotations() -> None:
    value = tfrt.unavailable()
    value.set_result(3)

    assert value_of(lambda x: x + x, value) == 6


def test_bodies_capture_values_of_all_functions_around_them() -> None:
    @tfrt.program
    def nested(n: tfrt.i32) -> Any:
        return tfrt.repeat(n, lambda a: tfrt.repeat(2, lambda b: b + n, a), 0)

    assert nested(3).result(SLOW) == 18


def test_effects_in_bodies_keep_the_order_of_the_lines() -> None:
    @tfrt.program
    def ordered(p: tfrt.i1) -> None:
        with tfrt.in_order():
            tfrt.cond(p, lambda: show(1), lambda: show(2))
            tfrt.repeat(2, lambda: show(3))
            tfrt.cond(p, lambda: show(4), lambda: show(5))
            show(6)

    assert ordered(True).result(SLOW) == ()
    assert LOG == [1, 3, 3, 4, 6]


def test_orders_nest_and_hold_coroutines_and_calls_of_programs() -> None:
    @tfrt.program
    def part(x: tfrt.i32) -> None:
        show_later(x)
        show(x)

    @tfrt.program
    def ordered(x: tfrt.i32) -> None:
        with tfrt.in_order():
            show_later(1)
            with tfrt.in_order():
                show(2)
                show_later(3)
            part(x)
            show(5)

    assert ordered(4).result(SLOW) == ()
    assert (LOG[:3], sorted(LOG[3:5]), LOG[5:]) == ([1, 2, 3], [4, 4], [5])


def test_after_takes_an_operation_with_a_body_and_a_call_of_a_program() -> None:
    @tfrt.program
    def inner(n: tfrt.i32) -> None:
        show(n)

    @tfrt.program
    def outer(p: tfrt.i1) -> None:
        one = tfrt.cond(p, lambda: show(1), lambda: None)
        two = inner(2)
        three = same(show_later(3, after=(one, two)))
        show(4, after=three)

    assert outer(True).wait(SLOW)
    assert sorted(LOG[:2]) == [1, 2]
    assert LOG[2:] == [3, 4]


def test_a_parallel_loop_has_a_chain_for_all_of_its_calls() -> None:
    @tfrt.program
    def marks(n: tfrt.i32, k: tfrt.i32) -> None:
        done = tfrt.parallel_for(n, lambda i: show(i + k))
        show(-1, after=done)

    assert marks(4, 10).wait(SLOW)
    assert (sorted(LOG[:-1]), LOG[-1]) == ([10, 11, 12, 13], -1)


def test_a_list_may_have_any_length_when_the_program_runs() -> None:
    mapped = tfrt.program(lambda values: tfrt.map(lambda x: pair(x, 1), values))

    assert mapped(["a", None]).result(SLOW) == [("a", 1), (None, 1)]
    assert mapped([]).result(SLOW) == []
    assert value_of(lambda x: tfrt.map(later, [x, x + 1]), 1) == (2, 3)
    with pytest.raises(tfrt.TfrtError, match="takes a list, found int"):
        mapped(5).result(SLOW)


def test_a_list_takes_part_in_the_order_of_the_lines() -> None:
    @tfrt.program
    def ordered(values: object) -> Any:
        with tfrt.in_order():
            show(1)
            made = tfrt.map(lambda x: (show_later(x), 2 * tfrt.i64(x))[1], values)
            tfrt.map(show, values)
            show(4)
        return made

    run = ordered([2, 3])
    assert (run.result(SLOW), run.wait(SLOW)) == ([4, 6], True)
    assert (LOG[0], sorted(LOG[1:3]), sorted(LOG[3:5]), LOG[5:]) == (1, [2, 3], [2, 3], [4])


def test_any_value_is_an_object_to_a_program_that_another_one_calls() -> None:
    inner = tfrt.program(same.__wrapped__)

    assert value_of(lambda x: (inner(x), inner("a"), inner([x, 1.5])), 7) == (7, "a", [7, 1.5])


def test_bodies_do_not_run_by_themselves_in_a_text_or_file() -> None:
    @tfrt.program
    def factorial(n: tfrt.i32) -> tfrt.i32:
        return tfrt.cond(n < 2, lambda: 1, lambda: n * factorial(n - 1))

    program = tfrt.program(lambda n: factorial(n) + tfrt.repeat(3, lambda x: x + 1, n)).trace(
        tfrt.i32
    )
    for one in (program, tfrt.Program(program.mlir), tfrt.Program.from_bef(program.bef)):
        assert [function.name for function in one._own_functions] == ["factorial", "lambda"]
        assert one.run(5).result(SLOW) == 128


def test_a_recursive_program_says_what_it_returns() -> None:
    @tfrt.program
    def down(n: tfrt.i32) -> Any:
        return tfrt.cond(n < 1, lambda: n, lambda: down(n - 1))

    @tfrt.program
    def untyped(n: tfrt.i32):  # type: ignore[no-untyped-def]
        return tfrt.cond(n < 1, lambda: n, lambda: untyped(n - 1))

    with pytest.raises(tfrt.TfrtError, match="calls itself: annotate its result"):
        untyped(3)
    assert down is not None


def test_objects_are_captured_and_stay_what_they_are() -> None:
    table = {"milk": 1}
    captures = tfrt.program(lambda x: pair(table, x))
    run = captures(2)
    held, _ = run.result(SLOW)  # type: ignore[misc]

    assert held is table
    traced = captures.trace(2)
    with pytest.raises(tfrt.TfrtError, match="cannot be pickled"):
        pickle.dumps(traced)
    for copied in (tfrt.Program(traced.mlir), tfrt.Program.from_bef(traced.bef)):
        with pytest.raises(tfrt.TfrtError, match="pass it as an argument"):
            copied.run(2).result(SLOW)
    constants = pickle.loads(pickle.dumps(tfrt.program(lambda x: pair("s", [x, 2.5])).trace(2)))
    assert constants.run(2).result(SLOW) == ("s", [2, 2.5])
    assert value_of(lambda x: (pair(None, x), pair(TABLE), pair(TABLE)), 2) == (
        (None, 2),
        *[(TABLE, 3)] * 2,
    )


def test_arrays_strings_coroutines_and_defaults_go_through_programs() -> None:
    assert value_of(lambda x: doubled(x), np.arange(3.0)).tolist() == [0, 2, 4]  # type: ignore[attr-defined]
    assert value_of(lambda x: later(later(x)), 5) == 7
    assert value_of(lambda x: (pair(x), pair(x, "q"), "s", 3.5, True), 5) == (
        (5, 3),
        (5, "q"),
        "s",
        3.5,
        True,
    )


def test_calls_from_several_threads_trace_a_program_once() -> None:
    traced: list[int] = []

    @tfrt.program
    def count(x: tfrt.i32) -> Any:
        traced.append(1)
        return x + 1

    results: list[object] = []
    threads = [
        threading.Thread(target=lambda: results.append(count(1).result(SLOW))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (results, traced) == ([2] * 8, [1])


def test_the_records_of_a_trace_are_those_of_its_text() -> None:
    @tfrt.program
    def part(n: tfrt.i32) -> tfrt.i32:
        return tfrt.cond(n < 2, lambda: n, lambda: part(n - 1))

    @tfrt.program
    def whole(a: tfrt.i32, b: tfrt.f64, names: object):  # type: ignore[no-untyped-def]
        twice = tfrt.repeat(a, lambda x: x + b, 0.0)
        with tfrt.in_order():
            tfrt.cond(a > -3, lambda: show(a), lambda: show(2))
            tfrt.while_loop(lambda i: i < a, lambda i: i + 1, 0)
        tfrt.parallel_for(a, lambda i: show(i + a))
        found = tfrt.map(lambda name: pair(name, a), names)
        return part(a), twice, found, (a, [b, "text", -0.0]), pair(TABLE), True, b * float("nan")

    traced = whole.trace()
    read = tfrt.Program(traced.mlir, __file__)

    assert "func.func @whole(%a: i32, %b: f64, %names: !tfrt.object)" in traced.mlir
    for part_of_file in dataclasses.fields(BefModule):
        found, wanted = (getattr(one.file, part_of_file.name) for one in (traced, read))
        if part_of_file.name == "functions":
            found, wanted = (
                [dataclasses.replace(one, kernels=places_left_out(one)) for one in functions]
                for functions in (found, wanted)
            )
        if "location" not in part_of_file.name:
            assert found == wanted, part_of_file.name


def test_parameters_whose_names_mlir_would_change_are_told_apart() -> None:
    @tfrt.program
    def numbered(x_1: tfrt.i32, x_2: tfrt.i32) -> Any:
        return x_1 - x_2

    @tfrt.program
    def greek(α: tfrt.i32, β: tfrt.i32) -> Any:
        return α - β

    assert "@numbered(%x_1: i32, %x_2: i32)" in numbered.mlir
    assert "@greek(%arg0: i32, %arg1: i32)" in greek.mlir
    for traced in (numbered, greek):
        assert tfrt.Program(traced.mlir).run(5, 3).result() == 2


def places_left_out(function: BefFunction) -> tuple[BefKernel, ...]:
    return tuple(kernel._replace(location=0) for kernel in function.kernels)


def test_collections_of_traced_values_are_made_when_the_program_runs() -> None:
    found = value_of(lambda x: ((x, [x + 1, "a"]), {"k": x, "more": (x,)}), 1)

    assert found == ((1, [2, "a"]), {"k": 1, "more": (1,)})
    assert value_of(lambda x: pair([x, TABLE]), 1) == ([1, TABLE], 3)


def test_objects_become_the_values_that_annotations_and_casts_ask_for() -> None:
    mixed = tfrt.program(lambda values: tfrt.map(lambda v: later(v), values))

    assert mixed([1, 2]).result(SLOW) == [2, 3]
    assert value_of(lambda x: tfrt.i64(same(x)) * 2, 4) == 8
    with pytest.raises(tfrt.TfrtError, match="expected i64, found str") as caught:
        mixed(["a"]).result(SLOW)
    assert caught.value.diagnostics[0].location.source == __file__


def test_keyword_only_parameters_and_defaults_are_arguments_of_the_program() -> None:
    @tfrt.program
    def scaled(x: tfrt.i32, *, by: tfrt.i32 = 3) -> Any:
        return x * by

    assert scaled(2).result(SLOW) == 6
    assert scaled(2, by=5).result(SLOW) == 10
    with pytest.raises(tfrt.TfrtError, match="too many positional arguments"):
        scaled(2, 5)
    assert value_of(lambda x: scaled(tfrt.i32(x), by=x_of(7)), 2) == 14


def test_an_annotation_that_only_type_checkers_know_hides_no_other() -> None:
    @tfrt.program
    def halved(x: tfrt.f32, unit: "Unit") -> tfrt.f32:  # type: ignore[name-defined] # noqa: F821
        return x / 2

    assert "%x: f32" in halved.trace(tfrt.f32, str).mlir
    with pytest.raises(
        tfrt.TfrtError, match=r"argument 1 \(%x\) of @halved: expected f32, found 'a'"
    ):
        halved("a", "m")


def test_a_type_may_be_annotated_by_its_name() -> None:
    @tfrt.kernel("test.named")
    def named(x: "f32") -> "f32":  # type: ignore[name-defined] # noqa: F821
        return x

    @tfrt.program
    def doubled(x: "f32") -> "f32":  # type: ignore[name-defined] # noqa: F821
        return named(x + x)

    assert doubled(2**-24 + 1.0).result(SLOW) == 2.0
    with pytest.raises(tfrt.TfrtError, match="argument 'x' of 'test.named' is 'f32', found i32"):
        tfrt.program(lambda x: named(tfrt.i32(x)))(1)


def test_a_traced_program_is_called_for_each_value_of_columns() -> None:
    @tfrt.program
    def scaled(x: tfrt.i32, by: tfrt.i32) -> tfrt.i32:
        return x * by

    doubled = tfrt.program(lambda x: x * 2)
    with tfrt.HostContext("mstd:2") as host:
        assert scaled.map(host, [range(4), [3] * 4]).result(SLOW) == [0, 3, 6, 9]
        assert doubled.map(np.array([1.5, 2.5], np.float32), host=host).result(SLOW) == [3.0, 5.0]
        assert scaled.map([], [], host=host).result(SLOW) == []
    with pytest.raises(
        tfrt.TfrtError, match="of an argument without annotation must be a sequence"
    ):
        doubled.map([])
    with pytest.raises(tfrt.TfrtError, match=r"call 2: argument 1 \(%x\) of @lambda: expected i64"):
        doubled.map([1, "a"])


def x_of(number: int) -> int:
    return number


def test_a_chain_that_is_returned_is_no_result() -> None:
    assert value_of(lambda x: show(x), 5) == ()
    assert LOG == [5]


def test_ways_of_a_cond_with_numbers_only_meet_as_floats() -> None:
    assert value_of(lambda x: tfrt.cond(x > 1, lambda: 0, lambda: 1.5), 0) == 1.5


async def coroutine(x: int) -> int:
    return x


def generator(x: int) -> Any:
    yield x


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (coroutine, "a plain function"),
        (generator, "a plain function"),
        (int, "written in Python"),
        ("func.func @main() { return }", "for source text, use tfrt.Program"),
        (lambda *x: x, "fixed number of arguments"),
    ],
)
def test_what_is_no_plain_function_is_no_program(function: Any, part: str) -> None:
    with pytest.raises(tfrt.TfrtError, match=part):
        tfrt.program(function)


def test_an_error_in_the_body_of_a_loop_is_at_the_line_of_the_body() -> None:
    @tfrt.program
    def shares(n: tfrt.i32) -> Any:
        return tfrt.repeat(
            n,
            lambda a: a // (a - a),
            1,
        )

    with pytest.raises(tfrt.TfrtError, match="Divide by zero") as caught:
        shares(2).result(SLOW)
    first = shares.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    assert caught.value.diagnostics[0].location.line == first + 4


def test_a_kernel_has_no_attribute_with_the_name_of_the_order() -> None:
    with pytest.raises(tfrt.TfrtError, match="cannot have an attribute 'after'"):

        @tfrt.kernel("traced.after")
        def ordered(x: int, *, after: int = 1) -> None: ...


def test_a_host_is_an_option_of_a_call_and_a_function_is_not() -> None:
    @tfrt.program
    def same(x: tfrt.i32) -> tfrt.i32:
        return x

    with tfrt.HostContext("s") as host:
        assert same(1, host=host).result(SLOW) == 1
    with pytest.raises(
        tfrt.TfrtError, match=r"keyword argument 'function'; it is an option of same\.run"
    ):
        same(1, function="other")
