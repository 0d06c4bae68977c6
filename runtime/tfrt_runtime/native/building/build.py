"""Compile the native core to shared objects.

`build_here` compiles for this machine; the result goes into the cache.  `build_for_wheel` compiles
for all kinds of machines.  `library.build_core` runs this module in a separate process, so that the
process that uses the core imports neither Numba nor llvmlite.

Numba turns each function into LLVM IR that calls none of Numba's helpers and is the same for all
machines.  The functions are linked into one module.  The module also has a few lines of IR that
differ between machines, and a wrapper `word name(word, ...)` for each exported function.  The
module is optimized once, as a whole.
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

# A result may have any type, such as `i1` or `ptr`. Reading it back from zeroed memory turns it
# into a word without a conversion for each type.
WRAPPER = """
declare {result} @"{inner}"({declared})
define i64 @"{name}"({parameters}) {{
  %place = alloca i64
  store i64 0, ptr %place
  %result = call {result} @"{inner}"({parameters})
  store {result} %result, ptr %place
  %word = load i64, ptr %place
  ret i64 %word
}}
"""


def wrapper(name: str, inner: str, result: str, count: int) -> str:
    """Return the IR of a C function `name` that calls Numba's function `inner` with `count` words.

    `result` is the type of the inner function's result.  A function without a result returns a null
    pointer, which the wrapper returns as 0.
    """
    declared = ", ".join(["i64"] * count)
    words = ", ".join(f"i64 %{i}" for i in range(count))
    return WRAPPER.format(
        name=name, inner=inner, result=result, declared=declared, parameters=words
    )


def export_wrapper(name: str, inner: str, result: str, export: memory.Export) -> str:
    """Return the IR of a C function `name` that calls `inner`, whose result has type `result`.

    The C function has the export's parameter types.
    """
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
    words_only = wrapper(f"{name}.words", inner, result, len(kinds))
    return f'{words_only}define {export.returns} @"{name}"({parameters}) {{\n{body}\n}}\n'


def mark_functions(module: llvm.ModuleRef, names: set[str], attribute: str) -> None:
    """Add an LLVM attribute to the native functions whose Python names are in `names`.

    In the function names in Numba's IR, each Python name comes after its length and before the
    letter B.
    """
    marks = ["".join(f"{len(part)}{part}" for part in name.split(".")) + "B" for name in names]
    for function in module.functions:
        if not function.is_declaration and any(mark in function.name for mark in marks):
            function.add_function_attribute(attribute)


def collect(progress: Callable[[str], None]) -> list[str]:
    """Have Numba generate the IR of every exported function; return the IR of the wrappers."""
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
        wrappers.append(wrapper(name, *lowering.collect(function, words), words))
    # A function may have several C names.
    collected_once = functools.cache(lowering.collect)
    for number, (name, export) in enumerate(exports.items(), len(functions) + 1):
        progress(f"{number}/{count} {name}")
        inner = collected_once(export.function, len(export.parameters))
        wrappers.append(export_wrapper(name, *inner, export))
    return wrappers


def collected(wrappers: Sequence[str], machine: Machine, header: str) -> llvm.ModuleRef:
    """Link all collected IR into one unoptimized module.

    Only exported functions remain visible.  `header` contains the lines of IR that name the target
    machine.
    """
    # Remove the name of the machine for which Numba generated the IR.
    made = (re.sub(r"^target .*\n", "", text, flags=re.MULTILINE) for text in lowering.COLLECTED)
    texts = [machine.threads, machine.libc, *made, *wrappers]
    kept = {*entries.load(), *entries.exports(), *threads.EXPORTS}
    if not machine.has_wide_pointers:
        adapters, names = python_api.adapters(entries.load(), threads.EXPORTS, entries.exports())
        # The adapters come first: Numba also declares these CPython functions, with other types,
        # but never calls them.
        texts = [*adapters, *texts]
        kept.update(names)
    module = linked([llvm.parse_assembly(header + text) for text in texts])
    for function in module.functions:
        # LLVM removes internal functions that no wrapper uses.
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    mark_functions(module, memory.INLINE | machine.inlined, "alwaysinline")
    mark_functions(module, memory.OUTLINE, "noinline")
    return module


def linked(modules: list[llvm.ModuleRef]) -> llvm.ModuleRef:
    """Link all modules into one.

    Linking in pairs is faster than adding one module at a time, because each step traverses the
    whole module built so far.
    """
    while len(modules) > 1:
        # Of an odd number of modules, the last one waits for the next round.
        for first, second in zip(modules[::2], modules[1::2], strict=False):
            first.link_in(second)
        modules = modules[::2]
    return modules[0]


def object_for(machine: Machine, wrappers: Sequence[str]) -> bytes:
    """Return the core as an object file for all machines of the given kind."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    align_functions()
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="small"
    )
    header = f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n'
    module = collected(wrappers, machine, header)
    # The stamp is linked after the loop below, because it must stay visible: `library` reads it.
    stamp = f'@{SOURCES} = constant [64 x i8] c"{sources_digest()}"\n'
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.link_in(llvm.parse_assembly(header + stamp))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    if not machine.has_wide_pointers:
        module = llvm.parse_assembly(with_offsets(str(module)))
        # A sum that is no longer used would still keep LLVM from using the offset.
        cleaning = llvm.create_new_module_pass_manager()
        cleaning.add_dead_code_elimination_pass()
        cleaning.run(module, builder)
    return bytes(target.emit_object(module))


SUM = re.compile(r"^  (%\S+) = add (?:nuw |nsw )*i32 (%\S+), (\d+)$", re.MULTILINE)
POINTER = re.compile(r'^  (%"?([^"\s]+)"?) = inttoptr i32 (%\S+) to ptr$', re.MULTILINE)


def with_offsets(text: str) -> str:
    """Return IR in which the offset of a field is part of its pointer.

        %2 = add i32 %1, 16               %"p.base" = inttoptr i32 %1 to ptr
        %p = inttoptr i32 %2 to ptr       %p = getelementptr inbounds nuw i8, ptr %"p.base", i32 16

    WebAssembly's loads and stores add a constant offset at no cost, but without wrapping around.
    LLVM uses an offset only if it knows that the sum does not wrap, and it loses this knowledge
    when it shortens the core's words to the 32 bits of a pointer.  An address of a field never
    wraps: the core computes it from the address of an object that is large enough.
    """

    def replace(function: str) -> str:
        sums = {found[1]: (found[2], found[3]) for found in SUM.finditer(function)}

        def pointer(found: re.Match[str]) -> str:
            name, bare, address = found.groups()
            if address not in sums:
                return found[0]
            word, offset = sums[address]
            return (
                f'  %"{bare}.base" = inttoptr i32 {word} to ptr\n'
                f'  {name} = getelementptr inbounds nuw i8, ptr %"{bare}.base", i32 {offset}'
            )

        return POINTER.sub(pointer, function)

    # Names are unique only within a function.
    return "".join(map(replace, re.split(r"^(?=define )", text, flags=re.MULTILINE)))


@functools.cache  # LLVM accepts an option only once per process
def align_functions() -> None:
    """Align functions to cache lines (64 bytes).

    At some positions within a cache line, the loop that runs sync functions takes up to a third
    longer.  Without alignment, any change to earlier code could move the loop to such a position.
    """
    llvm.set_option("tfrt-nb", "-align-all-functions=6")


def linker(machine: Machine) -> list[str]:
    """Return the command that runs a linker for `machine`.

    LLVM's linker supports all machines; the system's `ld` supports only this machine.

    Raises:
        SystemExit: if no linker is installed.
    """
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
    """Return the core as a shared object for all machines of the given kind.

    Raises:
        subprocess.CalledProcessError: if the linker fails.  The linker has reported the reason on
            standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        made, shared = Path(folder, "core.o"), Path(folder, "core.elf")
        made.write_bytes(object_for(machine, wrappers))
        command = [*linker(machine), *machine.flags, "-o", str(shared), str(made)]
        subprocess.run(command, check=True)
        return shared.read_bytes()


def build_here(before: str) -> None:
    """Compile the core for this machine.

    Write one line with the sources' fingerprint, followed by the shared object, to standard output.
    Write one line per step to standard error.  `before` is the fingerprint that was computed before
    this process imported the sources.

    Raises:
        RuntimeError: if the sources have changed since `before` was computed.
    """
    linker(MACHINES[this_machine()])  # report a missing linker before half a minute of compiling
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries may print
    wrappers = collect(show)
    show("optimizing")
    code = shared_object(MACHINES[this_machine()], wrappers)
    if fingerprint() != before:
        raise RuntimeError("the sources changed while they were compiled: start again")
    with output:
        output.write(before.encode() + b"\n" + code)


def build_for_wheel(folder: str, *machines: str) -> None:
    """Write `core-MACHINE.elf` into `folder` for each of `machines`, or for all if none is given.

    The project's build hook calls this.
    """
    wrappers = collect(show_some)
    for name in machines or MACHINES:
        show_some(f"optimizing for {name}")
        code = shared_object(MACHINES[name], wrappers)
        Path(folder, file_name(name)).write_bytes(code)


def show(line: str) -> None:
    """Print a progress line to standard error."""
    print(line, file=sys.stderr, flush=True)


def show_some(line: str) -> None:
    """Print a progress line.  Of lines such as `101/640 NAME`, print one in a hundred."""
    number, slash, _ = line.partition("/")
    if not slash or int(number) % 100 == 1:
        show(f"native core: {line}")
