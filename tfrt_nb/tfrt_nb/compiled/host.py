"""Compiled functions on a host: their code, and the runtime that they share."""

from __future__ import annotations

import weakref

from tfrt_nb.compiled.half import CompiledFunction, CompiledHalf
from tfrt_nb.jit.compiler import MachineCode
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.host.context import HostContext

_abandoned: list[object] = []
"""Code of closed hosts that still runs: freed, it would end the process."""


class LoadedHalf:
    """The code of a compiled half on one host."""

    def __init__(self, home: CompiledHome, half: CompiledHalf) -> None:
        """
        Raises:
            TfrtError: at what cannot be compiled.
        """
        self.home = home
        self.code: MachineCode = half.compile(home.runtime.functions)

    def address(self, function: CompiledFunction) -> int:
        """Where the function's packed form starts."""
        return self.code.address(function.packed)


class CompiledHome:
    """What compiled functions of one host share; `host.shared_context(CompiledHome)`.

    Code stays loaded until the host is closed: objects that it has made refer to it.
    """

    def __init__(self, host: HostContext) -> None:
        self.host = host
        self.runtime = AsyncRuntime(host)
        self._loaded: list[LoadedHalf] = []
        self._codes: dict[int, MachineCode] = {}
        self._by_half: weakref.WeakKeyDictionary[CompiledHalf, LoadedHalf] = (
            weakref.WeakKeyDictionary()
        )

    def load(self, half: CompiledHalf) -> LoadedHalf:
        """The code of the half, compiled when it is first asked for.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        loaded = self._by_half.get(half)
        if loaded is None:
            self.check(half)
            loaded = self._by_half[half] = LoadedHalf(self, half)
            self._loaded.append(loaded)
        return loaded

    def check(self, half: CompiledHalf) -> None:
        """Keep an eye on all objects if code counts references by itself.

        It may do so wrongly, which is an error only where it is seen.
        """
        self.runtime.checked |= half.counts_references

    def keep(self, code: MachineCode) -> None:
        """Keep code that runs on the host, for the same reason."""
        self._codes.setdefault(id(code), code)

    def __del__(self) -> None:
        # The host is closed.  If all is garbage of one cycle, the code may be gone already.
        if not hasattr(self, "runtime"):
            return
        if self.runtime.is_at_rest() and not self.host.has_runs:
            self.runtime.close()
        else:
            _abandoned.append((self.runtime, self._loaded, self._codes))
