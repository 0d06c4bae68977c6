"""Cache programs that earlier commands have compiled, so that running them needs no compiler.

Importing the compiler takes longer than most programs run. For each source, the cache has the BEF
of its host functions, and the interfaces of functions that become machine code. The machine code is
in the same cache (`jit.programs`). The key of a program covers its source, its name in messages,
and the compiler's sources.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import tfrt_nb
import tfrt_runtime
from tfrt_nb.compiled.interface import Interface
from tfrt_nb.compiled.module import CompiledModule, requested_parallel_for
from tfrt_nb.programs import Program, code_of_text, program_of_bef
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.wire import MalformedBef
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.cache import code_cache, digest_of, installed
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.kernels.users.user import USER_KERNELS
from tfrt_runtime.native.library import sources_digest

_COMPILER = ("compiled", "convert", "dialects", "jit", "passes", "source")
_RUNTIME = ("async_runtime", "bef", "kernels")
MAX_TEXT = 1 << 16
"""The maximum length of a cached source in characters.

For a longer source, using the cache would take longer than importing the compiler.
"""


def program_of(text: str, name: str) -> Program:
    """Return `Program.from_source(text, name)`, without the compiler if the cache has the program.

    Raises:
        TfrtError: if the program is invalid.
    """
    # Users' kernels add syntax, which is not part of the key.
    if len(text) > MAX_TEXT or USER_KERNELS.version:
        return Program.from_source(text, name)
    key = _key("text", text, name)
    kept = code_cache().get(key)
    if kept is not None:
        interface, _, data = kept.partition(b"\n")
        try:
            program = Program._of_file(BefFile.load(data, name), text)
        except MalformedBef:
            pass  # compile the program again
        else:
            if interface:
                read = functools.partial(_code_of_program, text, name)
                program._compiled = _known(interface, text, name, read)
            return program
    program = Program.from_source(text, name)
    line = b"" if program._compiled is None else _line(program._compiled)
    if line is not None:
        code_cache().put(key, line + b"\n" + write_bef(program.file))
    return program


def program_of_file(data: bytes | memoryview, name: str) -> Program:
    """Return `Program.from_bef(data, name)`, without parsing compiled functions in the cache.

    Raises:
        TfrtError: if the program or one of its compiled functions is invalid.
    """
    return program_of_bef(data, name, _code_of_file)


def _code_of_program(text: str, name: str) -> CompiledModule:
    code = Program.from_source(text, name)._compiled
    assert code is not None
    return code


def _code_of_file(text: str, name: str) -> CompiledModule:
    key = _key("interface", text, name)
    line = code_cache().get(key)
    if line is not None:
        return _known(line, text, name, functools.partial(code_of_text, text, name))
    code = code_of_text(text, name)
    line = _line(code)
    if line is not None:
        code_cache().put(key, line)
    return code


def _line(code: CompiledModule) -> bytes | None:
    """Return the interfaces of compiled functions in the format of the cache.

    Return None if the functions call Python functions.
    """
    # Imported here, because only a program that is being compiled needs this.
    from tfrt_nb.jit.declarations import check_declarations

    try:
        calls = check_declarations(code.module)
    except TfrtError:
        return None
    text = None if calls else code.interface.to_json()
    return None if text is None else text.encode()


def _known(line: bytes, text: str, name: str, read: Callable[[], CompiledModule]) -> CompiledModule:
    interface = Interface.from_json(line.decode())
    return CompiledModule.known(interface, read, requested_parallel_for(text), (text, name))


def _key(kind: str, text: str, name: str) -> str:
    compiler, runtime = (Path(one.__path__[0]) for one in (tfrt_nb, tfrt_runtime))
    folders = [*(compiler / part for part in _COMPILER), *(runtime / part for part in _RUNTIME)]
    facts = (sources_digest(), installed("xdsl"), sys.implementation.cache_tag or "", name, text)
    return f"{kind}-{digest_of(folders, facts).hex()[:40]}"
