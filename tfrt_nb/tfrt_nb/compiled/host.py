"""Compiled functions on a host: their code, and the runtime that they share."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from tfrt_nb.compiled.half import CompiledFunction, CompiledHalf
from tfrt_nb.jit.compiler import MachineCode
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.async_runtime.printing import Printing
from tfrt_runtime.host.context import HostContext

Sink = Callable[[str], None]

_abandoned: list[object] = []
"""Code of closed hosts that still runs: freed, it would end the process."""


class LoadedHalf:
    """The code of a compiled half on one host.

    What it prints goes to a sink that it was loaded with, and to the `listeners` of its runs: one code
    does not know for which of several runs it prints.
    """

    def __init__(self, home: CompiledHome, half: CompiledHalf, sink: Sink) -> None:
        """
        Raises:
            TfrtError: at what cannot be compiled.
        """
        self.home = home
        self.sink = sink
        self.listeners: list[Sink] = []
        self._printing = Printing(self._print)
        functions = home.runtime.functions | self._printing.addresses
        self.code: MachineCode = half.compile(functions)

    def address(self, function: CompiledFunction) -> int:
        """Where the function's packed form starts."""
        return self.code.address(function.packed)

    def _print(self, text: str) -> None:
        self.sink(text)
        for listener in list(self.listeners):
            listener(text)


class CompiledHome:
    """What compiled functions of one host share; `host.shared_context(CompiledHome)`.

    Code stays loaded until the host is closed: objects that it has made refer to it.
    """

    def __init__(self, host: HostContext) -> None:
        self.host = host
        self.runtime = AsyncRuntime(host)
        self._loaded: list[LoadedHalf] = []
        self._codes: dict[int, MachineCode] = {}
        self._by_half: weakref.WeakKeyDictionary[CompiledHalf, list[LoadedHalf]] = (
            weakref.WeakKeyDictionary()
        )

    def load(self, half: CompiledHalf, sink: Sink | None = None) -> LoadedHalf:
        """Code of the half that prints to `sink`, or to the host's.

        Runs with a sink of their own share no code, so that each has its own output.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        known = self._by_half.setdefault(half, [])
        for loaded in known:
            is_shared = loaded.sink == self.host.print
            if is_shared if sink is None else not is_shared and not loaded.listeners:
                loaded.sink = sink or self.host.print
                return loaded
        # What counts references by itself may do so wrongly, which is an error only where it is seen.
        self.runtime.checked |= half.counts_references
        loaded = LoadedHalf(self, half, sink or self.host.print)
        known.append(loaded)
        self._loaded.append(loaded)
        return loaded

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
