"""Compiled functions as kernels for host programs.

    func.func @main(%x: i32) -> i32 {
      %y = tfrt.call @twice(%x) : (i32) -> i32
      tfrt.return %y : i32
    }
    async.func @twice(%x: i32) -> !async.value<i32> { ... }

For host functions, @twice is a native function: `division` declares it. The kernel of that name is
machine code, which this module compiles when a program is first loaded. A run of @twice itself runs
a host function whose body is such a call. All compiled functions on a host share a runtime. Their
code is kept as long as the host exists (`HostCode`).
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
"""The code of closed hosts that is still running. Freeing it would crash the process."""


def compile_kernels(
    compiled: CompiledModule,
    names: Sequence[str],
    *,
    watched: bool = False,
    interpreted: bool = False,
) -> dict[str, CompiledKernel]:
    """Return kernels for the functions `names` of a compiled module, by their registry names.

    For `watched` and `interpreted`, see `CompiledModule.compile`.

    Raises:
        TfrtError: if an operation cannot be compiled.
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
    """Return a file with host functions that each call one compiled function.

    The functions have the types of host functions, except that buffers keep their own types, so
    that Python passes only arrays that fit.
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
    """Return the source names of arguments, by the indexes of the function and the argument."""
    functions = compiled.interface.functions
    return {
        (index, place): name
        for index, one in enumerate(names)
        for place, name in enumerate(functions[one].parameters)
        if name
    }


def _prepare(compiled: CompiledModule, code: ProgramCode, run: Request, *, each: bool) -> bool:
    """Prepare for a run that may call into the code; clean up after the run.

    Return `each`, which says whether every run needs this. It is False if the runtime does not need
    to know about runs of this code.
    """
    shared = run.host.shared_context(HostCode)
    shared.add(compiled, code)
    shared.runtime.serve(run)
    return each


class HostCode:
    """The state that the compiled functions of one host share; see `host.shared_context`.

    Code stays loaded until the host is closed, because objects that the code created refer to it.
    """

    def __init__(self, host: HostContext) -> None:
        self.host = host
        self.runtime = AsyncRuntime(host)
        self._codes: dict[int, ProgramCode] = {}
        self._checked: weakref.WeakSet[CompiledModule] = weakref.WeakSet()

    def add(self, compiled: CompiledModule, code: ProgramCode) -> None:
        """Keep the machine code of a compiled module as long as the host exists."""
        # The entry keeps the code alive, so no other code can get the same id.
        self._codes.setdefault(id(code), code)
        self.check(compiled)

    def check(self, compiled: CompiledModule) -> None:
        """From now on, check references if the module's source counts them itself, perhaps wrongly.

        The method does nothing for a module that this host has seen before.
        """
        if compiled not in self._checked:
            self._checked.add(compiled)
            self.runtime.checked |= compiled.interface.counts_references

    def __del__(self) -> None:
        # The host is closed. If the host and the code were garbage in the same cycle, the code may
        # already be gone.
        if not hasattr(self, "runtime"):
            return
        if self.runtime.is_at_rest() and not self.host.has_runs:
            self.runtime.close()
        else:
            _abandoned.append((self.runtime, self._codes))
