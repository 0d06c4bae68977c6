"""Compiled functions on a host: the runtime that they share, and their code."""

from __future__ import annotations

import weakref

from tfrt_nb.compiled.module import CompiledModule
from tfrt_nb.jit.compiler import MachineCode
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.host.context import HostContext

_abandoned: list[object] = []
"""Code of closed hosts that still runs: freed, it would end the process."""


class HostCode:
    """What compiled functions of one host share; `host.shared_context(HostCode)`.

    Code stays loaded until the host is closed: objects that it has made refer to it.
    """

    def __init__(self, host: HostContext) -> None:
        self.host = host
        self.runtime = AsyncRuntime(host)
        self._codes: dict[int, MachineCode] = {}
        self._checked: weakref.WeakSet[CompiledModule] = weakref.WeakSet()

    def add(self, compiled: CompiledModule, code: MachineCode) -> None:
        """Keep the machine code of a compiled module as long as the host."""
        self._codes.setdefault(id(code), code)
        self.check(compiled)

    def check(self, compiled: CompiledModule) -> None:
        """Check references from now on if the module's text counts them by itself, and so may miscount.

        Does nothing for a module that this host has seen before.
        """
        if compiled not in self._checked:
            self._checked.add(compiled)
            self.runtime.checked |= compiled.interface.counts_references

    def __del__(self) -> None:
        # The host is closed.  If all is garbage of one cycle, the code may be gone already.
        if not hasattr(self, "runtime"):
            return
        if self.runtime.is_at_rest() and not self.host.has_runs:
            self.runtime.close()
        else:
            _abandoned.append((self.runtime, self._codes))
