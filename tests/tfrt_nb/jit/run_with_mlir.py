"""Compile a program with MLIR's tools, and run the LLVM IR on our runtime, in its own process.

    python run_with_mlir.py PROGRAM MLIR_OPT MLIR_TRANSLATE

The program's output goes to standard output.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

from tfrt_nb.jit.compiler import load, object_code
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.host.context import HostContext

THEIR_PASSES = (
    "async-func-to-async-runtime",
    "async-to-async-runtime",
    "async-runtime-ref-counting",
    "async-runtime-ref-counting-opt",
    "convert-async-to-llvm",
    "convert-scf-to-cf",
    "arith-expand",
    "convert-math-to-llvm",
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)
THEIR_FUNCTIONS = ("abort", "calloc", "free", "malloc", "puts")
"""Functions called by MLIR's lowering of `cf.assert` and of buffers, but not by our programs."""


def parallel_options(text: str) -> str:
    """Return the options of `async-parallel-for` in the first line; "" if it has none."""
    first = text.splitlines()[0]
    return first.partition(":")[2].strip() if first.startswith("// parallel-for:") else ""


def address_of(function: object) -> int:
    """Return the address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def theirs_on_ours(text: str, mlir_opt: str, mlir_translate: str) -> None:
    """Compile with MLIR's tools, and run here."""
    options = parallel_options(text)
    passes = [f"--async-parallel-for={options}"] if options else []
    passes += [f"--{name}" for name in THEIR_PASSES]
    lowered = filtered([mlir_opt, *passes], text)
    code_text = filtered([mlir_translate, "--mlir-to-llvmir"], lowered)
    # In newer releases of LLVM, this call has no result.
    code_text = re.sub(r"(%\w+ = )?call i1 @llvm\.coro\.end", "call void @llvm.coro.end", code_text)
    code_text = code_text.replace("declare i1 @llvm.coro.end", "declare void @llvm.coro.end")
    code_text += "\ndefine i1 @__enter(ptr %p) {\n  call void @main()\n  ret i1 false\n}\n"
    with (
        HostContext("mstd:2") as host,
        AsyncRuntime(host, checked=True, output=sys.stdout.write) as runtime,
    ):
        libc = ctypes.CDLL(None)
        theirs = {name: address_of(getattr(libc, name)) for name in THEIR_FUNCTIONS}
        code = load(object_code(code_text), runtime.functions | theirs)
        runtime.run(code.address("__enter"))
        assert runtime.live_objects() == []


def filtered(command: list[str], text: str) -> str:
    """Return a tool's output for this input."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    program, *tools = sys.argv[1:]
    theirs_on_ours(Path(program).read_text(), *tools)
