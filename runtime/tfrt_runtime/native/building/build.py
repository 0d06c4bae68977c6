"""Compile the native core to shared objects.

An object for this machine goes into the cache; a wheel contains one for each kind of machine.
Building runs in a separate process (`library.build_core`), so that the process that needs the core
imports neither Numba nor llvmlite.  Numba turns each function into LLVM IR that uses none of
Numba's helpers and is the same for all kinds of machines.  All functions are put into one module,
together with a few lines of IR that depend on the machine.  The module gets simple wrappers (`word
name(word, ...)`) for the functions, and is optimized and linked once.
"""

import functools
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import llvmlite.binding as llvm

from tfrt_runtime.native import memory, threads
from tfrt_runtime.native.building import entries, lowering, python_api
from tfrt_runtime.native.building.machines import MACHINES, Machine
from tfrt_runtime.native.kernels import tensor_loops
from tfrt_runtime.native.library import SOURCES, file_name, fingerprint, sources_digest
from tfrt_runtime.native.machine import this_machine

WRAPPER = """
define i64 @"{name}"({parameters}) {{
  %result = alloca i64
  %error = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @"{inner}"(ptr %result, ptr %error{arguments})
  %value = load i64, ptr %result
  ret i64 %value
}}
"""


def wrapper(name: str, inner: str, count: int) -> str:
    """Return a function with a C signature that wraps an inner function.

    Numba's inner functions write their result through the first parameter; a function without a
    result writes a null pointer there, which reads as 0.
    """
    words = [f"i64 %{i}" for i in range(count)]
    declared = ", ".join(["ptr", "ptr", *["i64"] * count])
    text = WRAPPER.format(
        name=name,
        parameters=", ".join(words),
        inner=inner,
        arguments="".join(f", {word}" for word in words),
    )
    return f'declare i32 @"{inner}"({declared})\n' + text


def export_wrapper(name: str, inner: str, export: memory.Export) -> str:
    """Return a wrapper of an export's inner function, with the C name and the C types."""
    kinds = list(enumerate(export.parameters))
    lines = [f"  %w{i} = ptrtoint ptr %{i} to i64" for i, kind in kinds if kind == "ptr"]
    words = ", ".join(f"i64 %w{i}" if kind == "ptr" else f"i64 %{i}" for i, kind in kinds)
    call = f'call i64 @"{name}.words"({words})'
    match export.returns:
        case "void":
            lines += [f"  {call}", "  ret void"]
        case "i64":
            lines += [f"  %r = {call}", "  ret i64 %r"]
        case "ptr":
            lines += [f"  %w = {call}", "  %r = inttoptr i64 %w to ptr", "  ret ptr %r"]
        case _:
            lines += [f"  %w = {call}", "  %r = trunc i64 %w to i1", "  ret i1 %r"]
    parameters = ", ".join(f"{kind} %{i}" for i, kind in kinds)
    body = "\n".join(lines)
    words_only = wrapper(f"{name}.words", inner, len(kinds))
    return f'{words_only}define {export.returns} @"{name}"({parameters}) {{\n{body}\n}}\n'


def mark_functions(module: llvm.ModuleRef, names: set[str], attribute: str) -> None:
    """Add an attribute to native functions, such as the functions that `memory.inline` marks.

    In Numba's names, each part of a qualified name is preceded by its length.
    """
    marks = [f"{len(name)}{name}B" for name in names]
    for function in module.functions:
        if not function.is_declaration and any(mark in function.name for mark in marks):
            function.add_function_attribute(attribute)


def collect(progress: Callable[[str], None]) -> list[str]:
    """Let Numba generate the IR of every entry; return the wrappers that export the entries."""
    functions = entries.load()
    exports = entries.exports()
    lowering.install()
    for name, row in lowering.TENSOR_OPERATIONS.items():
        lowering.install_operation(getattr(tensor_loops, name), *row)
    wrappers = []
    count = len(functions) + len(exports)
    for number, (name, function) in enumerate(functions.items(), 1):
        progress(f"{number}/{count} {name}")
        words = len(inspect.signature(function).parameters)
        wrappers.append(wrapper(name, lowering.collect(function, words), words))
    # A function may have several C names.
    collected_once = functools.cache(lowering.collect)
    for number, (name, export) in enumerate(exports.items(), len(functions) + 1):
        progress(f"{number}/{count} {name}")
        inner = collected_once(export.function, len(export.parameters))
        wrappers.append(export_wrapper(name, inner, export))
    return wrappers


def collected(wrappers: Sequence[str], machine: Machine, header: str) -> llvm.ModuleRef:
    """Return all collected IR as one unoptimized module, in which only entries are visible.

    `header` contains the lines of IR that name the target machine.
    """
    # Remove the name of the machine for which Numba generated the IR.
    made = (re.sub(r"^target .*\n", "", text, flags=re.MULTILINE) for text in lowering.COLLECTED)
    texts = [machine.threads, machine.libc, *made, *wrappers]
    kept = {*entries.load(), *entries.exports(), *threads.EXPORTS}
    if not machine.has_wide_pointers:
        adapters, names = python_api.adapters(entries.load(), threads.EXPORTS, entries.exports())
        # These come first, because Numba declares functions of CPython with other types, but never
        # calls them.
        texts = [*adapters, *texts]
        kept.update(names)
    module = linked([llvm.parse_assembly(header + text) for text in texts])
    for function in module.functions:
        # Functions are made internal so that LLVM removes the functions that no wrapper uses.
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    mark_functions(module, memory.INLINE, "alwaysinline")
    mark_functions(module, memory.OUTLINE, "noinline")
    return module


def linked(modules: list[llvm.ModuleRef]) -> llvm.ModuleRef:
    """Link all modules into one, in pairs, because each step traverses the whole module so far."""
    while len(modules) > 1:
        for first, second in zip(modules[::2], modules[1::2], strict=False):
            first.link_in(second)
        modules = modules[::2]
    return modules[0]


def object_for(machine: Machine, wrappers: Sequence[str]) -> bytes:
    """Return the core as an object file that works on every machine of the given kind."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    align_functions()
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="small"
    )
    header = f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n'
    module = collected(wrappers, machine, header)
    stamp = f'@{SOURCES} = constant [64 x i8] c"{sources_digest()}"\n'
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.link_in(llvm.parse_assembly(header + stamp))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


@functools.cache  # LLVM accepts an option only once per process
def align_functions() -> None:
    """Align functions to cache lines (64 bytes).

    The loop of sync functions takes up to a third longer at some positions within a cache line, and
    any change to code before the loop would move it to such a position.
    """
    llvm.set_option("tfrt-nb", "-align-all-functions=6")


def linker(machine: Machine) -> list[str]:
    """Return the command for a linker: LLVM's, which supports all machines, or this machine's."""
    if found := shutil.which(machine.linker):
        return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", machine.linker]
    if machine.name == this_machine() and (found := shutil.which("ld")):
        return [found]
    raise SystemExit(
        f"there is no linker for {machine.name}: install `ld`, or: pip install 'tfrt_nb[linker]'"
    )


def shared_object(machine: Machine, wrappers: Sequence[str]) -> bytes:
    """Return the core as a shared object that works on every machine of the given kind.

    Raises:
        subprocess.CalledProcessError: if the linker fails; it has reported the reason on standard
            error.
    """
    with tempfile.TemporaryDirectory() as folder:
        made, shared = Path(folder, "core.o"), Path(folder, "core.elf")
        made.write_bytes(object_for(machine, wrappers))
        command = [*linker(machine), *machine.flags, "-o", str(shared), str(made)]
        subprocess.run(command, check=True)
        return shared.read_bytes()


def build_here(before: str) -> None:
    """Write the sources' fingerprint, on one line, and this machine's core to standard output.

    Each step also writes a line to standard error.  `before` is the fingerprint that was computed
    before the sources were imported.

    Raises:
        RuntimeError: if the sources have changed since then.
    """
    linker(MACHINES[this_machine()])  # compiling takes half a minute: report a missing linker first
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries may print
    wrappers = collect(show)
    show("optimising")
    code = shared_object(MACHINES[this_machine()], wrappers)
    if fingerprint() != before:
        raise RuntimeError("the sources changed while they were compiled: start again")
    with output:
        output.write(before.encode() + b"\n" + code)


def build_for_wheel(folder: str, *machines: str) -> None:
    """Write `core-MACHINE.elf` into a folder for each given machine, or for all machines if none is
    given.

    The project's build hook calls this.
    """
    wrappers = collect(show_some)
    for name in machines or MACHINES:
        show_some(f"optimising for {name}")
        code = shared_object(MACHINES[name], wrappers)
        Path(folder, file_name(name)).write_bytes(code)


def show(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def show_some(line: str) -> None:
    """Print a line of progress for a log; of the lines about entries, print every hundredth."""
    number, slash, _ = line.partition("/")
    if not slash or int(number) % 100 == 1:
        show(f"native core: {line}")
