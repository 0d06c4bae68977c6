"""Handle Ctrl-C while compiled code runs on the main thread.

Python's signal handler only sets a flag for the interpreter, and a loop in compiled code does not
return to the interpreter.  Therefore, this module installs another handler, in machine code, which
sets a bit in the word that loops check, and then calls Python's handler.  The loop then calls
Python, which sees the flag.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading

from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import NativeProcess, native_process
from tfrt_runtime.native.layouts import INTERRUPT_SIGNAL, PROCESS_INTERRUPTS
from tfrt_runtime.once import once

_CODE = """
@former = global ptr null
define void @tfrt_on_signal(i32 %number) {{
  %word = inttoptr i64 {word} to ptr
  %bits = atomicrmw or ptr %word, i64 {bit} seq_cst
  %handler = load ptr, ptr @former
  call void %handler(i32 %number)
  ret void
}}
"""


class _Action(ctypes.Structure):
    """`struct sigaction` of the C library on Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def watch_interrupts() -> None:
    """Let loops see Ctrl-C from now on, while the main thread is waiting for a queue."""
    INTERRUPTS.when_installed = _stand_in_front
    INTERRUPTS.when_noted = _loops_need_not_look
    if INTERRUPTS.is_installed:
        _stand_in_front()


def _loops_need_not_look() -> None:
    process = native_process()
    process.quick.change_interrupts(process.address, 0, INTERRUPT_SIGNAL)


def _stand_in_front() -> None:
    """Install this module's handler, which calls Python's SIGINT handler.

    Threads:
        the main thread; on any other thread, nothing is installed
    """
    if not sys.platform.startswith("linux") or threading.current_thread() is not (
        threading.main_thread()
    ):
        return
    try:
        handler = _handler()
    except ImportError:  # without LLVM, there is no machine code whose loops need the handler
        return
    action = _Action()
    set_action = ctypes.CDLL(None).sigaction
    set_action(int(signal.SIGINT), None, ctypes.byref(action))
    if action.handler not in (None, 1, handler.address):  # neither the default handler nor ignored
        handler.former.value = action.handler
        action.handler = handler.address
        set_action(int(signal.SIGINT), ctypes.byref(action), None)


class _Handler:
    """The handler's machine code, which is never freed, and the word with Python's handler."""

    def __init__(self, process: NativeProcess) -> None:
        # Imported here because LLVM takes 40 MB, and only compiled code needs this handler.
        import llvmlite.binding as llvm

        word = process.address + PROCESS_INTERRUPTS
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(_CODE.format(word=word, bit=INTERRUPT_SIGNAL))
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address = self._engine.get_function_address("tfrt_on_signal")
        place = self._engine.get_global_value_address("former")
        self.former = ctypes.c_int64.from_address(place)


@once
def _handler() -> _Handler:
    # The handler is never freed, because a signal may arrive at any moment.
    return _Handler(native_process())
