"""Run a program half with our compiler and runtime and half with MLIR's, in a process of its own.

    python run_with_mlir.py ours-on-theirs PROGRAM LIBRARY
    python run_with_mlir.py theirs-on-ours PROGRAM MLIR_OPT MLIR_TRANSLATE

The first compiles here and runs on `libmlir_async_runtime`; the second lets MLIR's tools compile, and runs
the LLVM IR that they print on our runtime.  What the program prints goes to standard output.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

from xdsl.context import Context

from tfrt_nb.jit.compiler import compile_module
from tfrt_nb.jit.coroutines import lower_to_llvm, packed_name
from tfrt_nb.jit.operations.async_runtime import MLIR_FUNCTIONS
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.async_runtime.printing import Printing
from tfrt_runtime.host.context import HostContext

OUR_PASSES = (
    "builtin.module(PARALLELasync-func-to-async-runtime{token-last},"
    "async-to-async-runtime{token-last},async-propagate-failures,async-elide-coroutines,"
    "async-runtime-ref-counting,async-runtime-ref-counting-opt,convert-scf-to-cf)"
)
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
"""What MLIR's lowering of `cf.assert` and of buffers calls; our programs may not."""
NOTE_A_FAILURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
"""MLIR's runtime has no messages of errors."""


def parallel_options(text: str) -> str:
    """What the first line asks of `async-parallel-for`; nothing if it does not."""
    first = text.splitlines()[0]
    return first.partition(":")[2].strip() if first.startswith("// parallel-for:") else ""


def ours_on_theirs(text: str, library: str) -> None:
    """Compile here, run there."""
    runtime = ctypes.CDLL(library)
    options = parallel_options(text)
    parallel = f"async-parallel-for{{{options} clamp-trip-counts}}," if options else ""
    module = parse_module(text, "program")
    parse_pipeline(OUR_PASSES.replace("PARALLEL", parallel)).apply(Context(), module)
    functions = {f.name: address_of(getattr(runtime, f.name)) for f in MLIR_FUNCTIONS}
    for name in ("tfrtAsyncFail", "tfrtAsyncFailFrom"):
        functions[name] = address_of(NOTE_A_FAILURE)
    printing = Printing(sys.stdout.write)
    code = compile_module(lower_to_llvm(module, is_portable=True), functions | printing.addresses)
    main = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address(packed_name("main")))
    assert not main(None)
    # Waits for the tasks.
    runtime.__mlir_execution_engine_destroy()


def address_of(function: object) -> int:
    """Where a C function starts."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def theirs_on_ours(text: str, mlir_opt: str, mlir_translate: str) -> None:
    """Compile there, run here."""
    options = parallel_options(text)
    passes = [f"--async-parallel-for={options}"] if options else []
    passes += [f"--{name}" for name in THEIR_PASSES]
    lowered = filtered([mlir_opt, *passes], text)
    code_text = filtered([mlir_translate, "--mlir-to-llvmir"], lowered)
    # LLVM's newer releases have no result there.
    code_text = re.sub(r"(%\w+ = )?call i1 @llvm\.coro\.end", "call void @llvm.coro.end", code_text)
    code_text = code_text.replace("declare i1 @llvm.coro.end", "declare void @llvm.coro.end")
    code_text += "\ndefine i1 @__enter(ptr %p) {\n  call void @main()\n  ret i1 false\n}\n"
    with (
        HostContext("mstd:2") as host,
        AsyncRuntime(host, checked=True, output=sys.stdout.write) as runtime,
    ):
        libc = ctypes.CDLL(None)
        theirs = {name: address_of(getattr(libc, name)) for name in THEIR_FUNCTIONS}
        code = compile_module(code_text, runtime.functions | theirs)
        runtime.run(code.address("__enter"))
        assert runtime.live_objects() == []


def filtered(command: list[str], text: str) -> str:
    """What a tool makes of a text."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    direction, program, *tools = sys.argv[1:]
    run = {"ours-on-theirs": ours_on_theirs, "theirs-on-ours": theirs_on_ours}[direction]
    run(Path(program).read_text(), *tools)
