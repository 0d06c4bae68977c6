"""Test compiled code on a host; Python functions that are called by address take its role."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Iterator

import llvmlite.binding as llvm
import pytest

from tfrt_runtime.async_runtime import AsyncRuntime, LiveObject
from tfrt_runtime.diagnostics import Location, TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.held_value import State

Pointer = ctypes.c_void_p
MAIN = ctypes.CFUNCTYPE(ctypes.c_bool, Pointer)
RESUME = ctypes.CFUNCTYPE(None, Pointer)


class Record(ctypes.Structure):
    """Compiled code's description of an operation."""

    _fields_ = (
        ("text", ctypes.c_char_p),
        ("text_length", ctypes.c_int64),
        ("file", ctypes.c_char_p),
        ("file_length", ctypes.c_int64),
        ("line", ctypes.c_int64),
        ("column", ctypes.c_int64),
    )


def record(text: bytes, line: int = 0) -> Record:
    """Return a record of column 3 of a line of `cell`."""
    return Record(text, len(text), b"cell", 4, line, 3)


class Code:
    """Calls of the C functions, and Python functions that pose as compiled ones."""

    def __init__(self, runtime: AsyncRuntime) -> None:
        self.runtime = runtime
        self._alive: list[object] = []

    def call(self, name: str, *words: int | ctypes.Structure) -> int:
        """Call a C function with words, or with pointers to records."""
        self._alive += [word for word in words if isinstance(word, ctypes.Structure)]
        given = [
            ctypes.addressof(word) if isinstance(word, ctypes.Structure) else word for word in words
        ]
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(words))
        return kind(self.runtime.functions[name])(*given)

    def main(self, body: Callable[[], object]) -> None:
        """Run `body` as the program's main function, which fails if `body` returns a true value."""
        function = MAIN(lambda _: bool(body()))
        self.runtime.run(ctypes.cast(function, Pointer).value or 0)

    def task(self, body: Callable[[], None]) -> int:
        """Let the queue run `body`; return a token that is resolved when it has returned."""
        token = self.call("mlirAsyncRuntimeCreateToken")

        def run(_: int | None) -> None:
            body()
            self.call("mlirAsyncRuntimeEmplaceToken", token)

        resume = RESUME(run)
        self._alive.append(resume)
        self.call("mlirAsyncRuntimeExecute", 0, ctypes.cast(resume, Pointer).value or 0)
        return token

    def wait(self, token: int) -> None:
        """Wait for a token, and drop the reference to it."""
        self.call("mlirAsyncRuntimeAwaitToken", token)
        self.call("mlirAsyncRuntimeDropRef", token, 1)


@pytest.fixture
def code(host: HostContext) -> Iterator[Code]:
    """Compiled code on a host that checks references."""
    with AsyncRuntime(host, checked=True) as runtime:
        yield Code(runtime)


def test_a_function_that_fails_raises_with_its_message_and_place(code: Code) -> None:
    def main() -> bool:
        code.call("tfrtAsyncFail", record(b"limit exceeded", 7))
        return True

    with pytest.raises(TfrtError) as raised:
        code.main(main)
    assert raised.value.diagnostics == (error("limit exceeded", Location("cell", 7, 3)),)


def test_a_function_may_fail_without_a_reason(code: Code) -> None:
    with pytest.raises(TfrtError, match="an async operation failed"):
        code.main(lambda: True)


def test_what_is_left_over_is_known_with_who_made_it(host: HostContext) -> None:
    with AsyncRuntime(host, checked=True) as runtime:
        code = Code(runtime)
        kept: list[int] = []
        made_by = record(b"async.execute", 4)

        def main() -> None:
            kept.append(code.call("tfrtAsyncCreateValue", 8, made_by))
            code.call("mlirAsyncRuntimeEmplaceValue", kept[0])

        code.main(main)

        assert runtime.live_objects() == [
            LiveObject("value", 1, State.AVAILABLE, "async.execute", Location("cell", 4, 3))
        ]
        code.main(lambda: code.call("mlirAsyncRuntimeDropRef", kept[0], 1) and False)
        assert runtime.live_objects() == []


def test_who_waits_in_vain_is_told_for_what(code: Code) -> None:
    def main() -> bool:
        token = code.call("tfrtAsyncCreateToken", record(b"async.runtime.create", 2))
        code.call("mlirAsyncRuntimeAwaitToken", token)
        code.call("tfrtAsyncFailFrom", token)
        code.call("mlirAsyncRuntimeDropRef", token, 2)
        return True

    with pytest.raises(TfrtError) as raised:
        code.main(main)
    message = "nothing can resolve a token of 'async.runtime.create' anymore"
    assert raised.value.diagnostics == (error(message, Location("cell", 2, 3)),)


def test_a_producer_that_comes_after_all_does_no_harm(code: Code) -> None:
    def main() -> None:
        token = code.call("mlirAsyncRuntimeCreateToken")
        code.call("mlirAsyncRuntimeAwaitToken", token)
        code.call("mlirAsyncRuntimeEmplaceToken", token)
        code.call("mlirAsyncRuntimeDropRef", token, 1)

    with pytest.raises(TfrtError, match="^error: nothing can resolve a token anymore$"):
        code.main(main)


def test_a_second_runtime_on_the_same_host_is_refused(code: Code) -> None:
    with pytest.raises(TfrtError, match="the host has an async runtime already"):
        AsyncRuntime(code.runtime.host)


def test_a_host_may_have_one_runtime_after_the_other(host: HostContext) -> None:
    for _ in range(2):
        with AsyncRuntime(host) as runtime:
            Code(runtime).main(lambda: False)


def test_any_thread_may_call_the_runtime(code: Code) -> None:
    token = code.call("mlirAsyncRuntimeCreateToken")
    thread = threading.Thread(target=lambda: code.call("mlirAsyncRuntimeEmplaceToken", token))
    thread.start()
    thread.join()

    assert code.call("mlirAsyncRuntimeIsTokenError", token) & 1 == 0

    code.call("mlirAsyncRuntimeDropRef", token, 1)


def test_there_are_as_many_workers_as_threads_that_run_tasks(code: Code) -> None:
    numbers: list[int] = []

    code.main(lambda: numbers.append(code.call("mlirAsyncRuntimGetNumWorkerThreads")))

    assert numbers == [code.runtime.queue.parallelism_level]


def test_the_current_thread_prints_its_number(host: HostContext) -> None:
    output: list[str] = []
    with AsyncRuntime(host, output=output.append) as runtime:
        code = Code(runtime)
        code.main(lambda: code.call("mlirAsyncRuntimePrintCurrentThreadId") and False)

    assert re.fullmatch(r"Current thread id: \d+\n", "".join(output))


LINKED = """
declare ptr @mlirAsyncRuntimeCreateValue(i64)
declare ptr @mlirAsyncRuntimeGetValueStorage(ptr)
declare void @mlirAsyncRuntimeEmplaceValue(ptr)
declare void @mlirAsyncRuntimeAwaitValue(ptr)
declare i1 @mlirAsyncRuntimeIsValueError(ptr)
declare void @mlirAsyncRuntimeDropRef(ptr, i64)

define i1 @main(ptr %pointers) {
  %value = call ptr @mlirAsyncRuntimeCreateValue(i64 32)
  %storage = call ptr @mlirAsyncRuntimeGetValueStorage(ptr %value)
  store <4 x double> <double 1.0, double 2.0, double 3.0, double 4.0>, ptr %storage, align 16
  call void @mlirAsyncRuntimeEmplaceValue(ptr %value)
  call void @mlirAsyncRuntimeAwaitValue(ptr %value)
  %failed = call i1 @mlirAsyncRuntimeIsValueError(ptr %value)
  %place = getelementptr double, ptr %storage, i64 3
  %last = load double, ptr %place
  %result = load ptr, ptr %pointers
  store double %last, ptr %result
  call void @mlirAsyncRuntimeDropRef(ptr %value, i64 1)
  ret i1 %failed
}
"""


def test_code_of_other_compilers_links_against_the_names(code: Code) -> None:
    for name, address in code.runtime.functions.items():
        llvm.add_symbol(name, address)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(LINKED), machine)
    engine.finalize_object()
    result = ctypes.c_double()

    code.runtime.run(engine.get_function_address("main"), ctypes.addressof(result))

    assert result.value == 4.0
