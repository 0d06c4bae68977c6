"""Test that `tests/programs` covers every kernel and every diagnostic of host programs.

Lists name the exceptions, with the reason and the test that covers each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tfrt_nb.source.spellings import operation_name
from tfrt_runtime.executor.loading.python_kernels import MESSAGES
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.scalars import OPERATIONS

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PROGRAMS = TESTS / "programs"

NAME = re.compile(r"[a-z_]+(?:\.[a-zA-Z0-9_]+)+")

KERNELS_ELSEWHERE = {
    "|".join(map(re.escape, sorted(OPERATIONS))): "the table: tests/differential/test_scalars.py",
    r"tfrt_dht_sync\..*": "run/sync_functions/tensors.mlir has one of each kind",
    r"tfrt\.(captured|dict|list|map|tuple|value)": "made by traced functions only: "
    "tests/tfrt_nb/tracing",
    r"tfrt\.\w+_s(\.\w+)?": "sync functions: test_sync_functions.py of the executor's tests",
}
"""Kernels that other tests run: a regular expression, and where the tests are."""


def test_each_kernel_runs_in_some_program() -> None:
    texts = [path.read_text() for path in (PROGRAMS / "run").rglob("*.mlir")]
    written = {operation_name(name) for text in texts for name in NAME.findall(text)}
    # The runtime's native functions are called only by their names.
    written |= {f"native function {name}" for text in texts for name in re.findall(r"@(\w+)", text)}

    left = sorted(standard_kernels().keys() - written)
    assert [n for n in left if not any(re.fullmatch(e, n) for e in KERNELS_ELSEWHERE)] == []


# --- diagnostics ---

SOURCES = sorted(
    {
        *ROOT.glob("runtime/tfrt_runtime/kernels/**/*.py"),
        *ROOT.glob("runtime/tfrt_runtime/host/tensor/*.py"),
        ROOT / "runtime/tfrt_runtime/executor/loading/resolve.py",
        *ROOT.glob("tfrt_nb/tfrt_nb/dialects/*.py"),
        *ROOT.glob("tfrt_nb/tfrt_nb/dialects/tables/*.py"),
        *ROOT.glob("tfrt_nb/tfrt_nb/dialects/control_flow/*.py"),
        *ROOT.glob("tfrt_nb/tfrt_nb/source/*.py"),
        *ROOT.glob("tfrt_nb/tfrt_nb/convert/*.py"),
    }
    # These are for authors of kernels, or about values that Python created.
    - {
        ROOT / f"runtime/tfrt_runtime/kernels/{name}.py"
        for name in (
            "frame",
            "registry",
            "standard",
            "users/user",
            "users/signatures",
            "users/numba_kernels",
        )
    }
)

RAISERS = {
    "KernelError",
    "MalformedBtf",
    "ValueError",
    "WrongKind",
    "VerifyException",
    "ConversionError",
    "error",
    "raise_error",
    "_op_error",
    "_refuse",
}
"""Functions whose arguments are messages."""

NOT_IN_PROGRAMS = {
    "bytes of elements where the shape asks for": "no text has other elements; test_tensors.py",
    "a tensor cannot hold elements of type": "quantised attributes have no text; test_tensors.py",
    "duplicate locations": "two kernels share a place in crafted files only; test_test_kernels.py",
    "expected a tensor or a tensor type": "needs a Python class as a value",
    "has results that differ from its loop values": "the verifier is first; "
    "tests/fuzz/random_calls.py",
    "do not place .* values in shape": "made in Python only; test_tensor.py",
    "the file shrank while it was being read": "needs another process",
    "empty block: expect at least a terminator": "the parser is first",
    "types or attributes nest more than": "a line of thousands of levels; test_nesting.py",
    "is made of more than": "65,536 aliases of aliases; test_nesting.py",
    "reads as": "types that a program cannot write",
    "the kernel did not set its result": "only native kernels with a mistake do that",
    "Failed to enqueue blocking work": "needs a full pool; test_errors_and_cancellation.py",
    "has a result .*, not": "needs a kernel in Python; test_native_user_kernels.py",
    "has no result type": "kernels in Python only; kernel_short_forms of tests/python_scripts",
    "has two attributes|needs an attribute": "kernels in Python only; test_python_kernels.py",
    "does not give the types?|no names of attributes": "kernels in Python only; "
    "test_python_kernels.py",
    "the kernel returned": "kernels in Python only; kernel_bad_results of tests/python_scripts",
    "without parentheses, or use the quoted form": "test_advice.py of the source's tests",
    "is .*, and the kernel takes": "kernels in Python only; test_python_kernels.py",
    "argument .* of '.*': ": "kernels in Python only; test_arrays_of_others.py",
    "the event loop of the host is closed": "needs a kernel in Python; kernel_coroutines of "
    "tests/python_scripts",
    "exists only in the traced Python program|tfrt.map": "traced functions; tests/tfrt_nb/tracing",
    "cannot flatten shape|1 or 2 tensors": "test_tensors.py",
    "a number before this place does not fit": "parsers of other dialects check first",
    "^a tensor cannot have a mask": "test_python_api.py",
    "^out of memory": "test_memory.py",
    "as a file in memory": "test_library.py",
    "a sync function does not wait": "kernels in Python only; test_sync_functions.py of the "
    "executor",
    "to a negative power|negative shift|does not fit in 64 bits|cannot convert float": "test_native_numbers.py",  # noqa: E501
}
"""Messages that no program in the tests causes: a regular expression, and the reason."""


def pattern(node: ast.expr) -> str | None:
    """Return a regular expression for the strings that an expression yields, or None."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=values):
            return "".join(pattern(value) or ".*" for value in values)
        case ast.BinOp(left=left, right=right):
            return f"{pattern(left) or '.*'}{pattern(right) or '.*'}"
    return None


def messages_of(path: Path) -> Iterator[str]:
    """Yield regular expressions for the messages in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
            patterns = map(pattern, node.args) if name in RAISERS else ()
            # A message that consists almost only of values would be found everywhere.
            yield from (p for p in patterns if p and len(re.sub(r"\.\*|\W", "", p)) > 6)


def messages() -> set[str]:
    """Return regular expressions for all messages that a program may cause."""
    found = {message for path in SOURCES for message in messages_of(path)}
    return found | set(map(re.escape, MESSAGES.values()))


def missing() -> set[str]:
    """Return the messages that are in no output."""
    files = [
        *PROGRAMS.rglob("*.out"),
        *(TESTS / "golden" / "tfrt").glob("*.error"),
        TESTS / "tfrt_nb" / "source" / "refused_by_mlir.mlir",
    ]
    printed = "\n".join(path.read_text() for path in files)
    return {message for message in messages() if not re.search(message, printed)}


def is_excused(message: str, excuse: str) -> bool:
    return re.search(excuse, message.replace("\\", "")) is not None


def test_each_diagnostic_is_in_the_output_of_some_program() -> None:
    without_excuse = {
        message
        for message in missing()
        if not any(is_excused(message, excuse) for excuse in NOT_IN_PROGRAMS)
    }

    assert len(messages()) > 120
    assert sorted(without_excuse) == []


def test_no_diagnostic_is_excused_that_some_program_gets() -> None:
    printed = "\n".join(path.read_text() for path in PROGRAMS.rglob("*.out"))

    assert [excuse for excuse in NOT_IN_PROGRAMS if re.search(excuse, printed)] == []
