"""Compiled functions as kernels of host programs.

    func.func @main(%x: i32) -> i32 {
      %y = tfrt.call @twice(%x) : (i32) -> i32
      tfrt.return %y : i32
    }
    async.func @twice(%x: i32) -> !async.value<i32> { ... }

For host programs, @twice is a native function. `division` declares it, and the kernel of that name
is machine code, which this module compiles when a program is first loaded. A run of @twice itself
runs a host function whose body is such a call. All compiled functions of a host share a runtime,
and their code is kept as long as the host exists (`HostCode`).
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence

from tfrt_nb.compiled.module import CompiledModule, ProgramCode
from tfrt_nb.jit.names import adapter_name
from tfrt_runtime.async_runtime import AsyncRuntime, kernel_functions
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefModule, FunctionKind
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.executor.loading.native_functions import PREFIX
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.request import Request
from tfrt_runtime.kernels.registry import CompiledKernel

_abandoned: list[object] = []
"""Code of closed hosts that is still running. Freeing it would crash the process."""


def compile_kernels(
    compiled: CompiledModule,
    names: Sequence[str],
    *,
    watched: bool = False,
    interpreted: bool = False,
) -> dict[str, CompiledKernel]:
    """Return kernels for some functions of a compiled module, by their registry names.

    `watched` and `interpreted` are as for `CompiledModule.compile`.

    Raises:
        TfrtError: at an operation that cannot be compiled.
    """
    functions = [compiled.interface.functions[name] for name in names]
    for one in functions:
        if one.uncrossable is not None:
            text = f"'{one.name}' cannot be called by host programs: its {one.uncrossable}"
            raise TfrtError(error(text, one.location))
    code = compiled.compile(kernel_functions(), names, watched=watched, interpreted=interpreted)
    is_plain = all(one.is_plain for one in functions)
    prepare = functools.partial(_prepare, compiled, code, each=not is_plain)
    kernels = [
        CompiledKernel(
            name=PREFIX + one.name,
            adapter=code.address(adapter_name(one.name)),
            arguments=one.argument_words,
            results=one.result_words,
            awaited=one.awaited,
            heavy=one.is_heavy,
            lasting=not one.is_plain,
            code=code,
            interpreted=code.is_interpreted,
            prepare=prepare,
        )
        for one in functions
    ]
    return {kernel.name: kernel for kernel in kernels}


def function_file(compiled: CompiledModule, names: Sequence[str], name: str) -> BefFile:
    """Return a file that declares functions of a compiled module.

    Each function becomes a host function that makes one call. Its types are the types of host
    functions, except that buffers keep their own types, so that Python passes only arrays that fit.
    """
    places = PlaceWriter()
    declared = [
        BefFunction(
            FunctionKind.NATIVE,
            one.name,
            one.given_types,
            one.returned_types,
            places.add(one.place),
        )
        for one in map(compiled.interface.functions.__getitem__, names)
    ]
    return BefFile.of(
        BefModule(
            tuple(declared),
            (),
            (),
            b"",
            locations=bytes(places.records.data),
            location_strings=bytes(places.strings.data),
        ),
        name,
    )


def argument_names(compiled: CompiledModule, names: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return the arguments' names in the text, by the indexes of function and argument."""
    functions = compiled.interface.functions
    return {
        (index, place): name
        for index, one in enumerate(names)
        for place, name in enumerate(functions[one].parameters)
        if name
    }


def _prepare(compiled: CompiledModule, code: ProgramCode, run: Request, *, each: bool) -> bool:
    """Prepare for a run that may call into the code, and clean up after it.

    Returns:
        `each`: whether every run needs this. It is False if the runtime need not know about runs of
            this code.
    """
    shared = run.host.shared_context(HostCode)
    shared.add(compiled, code)
    shared.runtime.serve(run)
    return each


class HostCode:
    """The state that compiled functions of one host share; `host.shared_context(HostCode)`.

    Code stays loaded until the host is closed, because objects that it created refer to it.
    """

    def __init__(self, host: HostContext) -> None:
        self.host = host
        self.runtime = AsyncRuntime(host)
        self._codes: dict[int, ProgramCode] = {}
        self._checked: weakref.WeakSet[CompiledModule] = weakref.WeakSet()

    def add(self, compiled: CompiledModule, code: ProgramCode) -> None:
        """Keep the machine code of a compiled module for as long as the host exists."""
        self._codes.setdefault(id(code), code)
        self.check(compiled)

    def check(self, compiled: CompiledModule) -> None:
        """Check references from now on if the module's own source counts them, because it may
        miscount.

        Does nothing for a module that this host has seen before.
        """
        if compiled not in self._checked:
            self._checked.add(compiled)
            self.runtime.checked |= compiled.interface.counts_references

    def __del__(self) -> None:
        # The host is closed. If host and code were garbage in the same cycle, the code may be gone
        # already.
        if not hasattr(self, "runtime"):
            return
        if self.runtime.is_at_rest() and not self.host.has_runs:
            self.runtime.close()
        else:
            _abandoned.append((self.runtime, self._codes))
