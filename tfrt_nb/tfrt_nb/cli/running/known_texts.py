"""Host programs whose BEF earlier commands have made of their text.

The compiler takes longer to import than most programs run.  A text is known by itself, its name in messages,
and the sources of all that makes BEF of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tfrt_nb
import tfrt_runtime
from tfrt_nb.programs import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.wire import MalformedBef
from tfrt_runtime.cache import code_cache, digest_of, installed
from tfrt_runtime.kernels.users.user import USER_KERNELS
from tfrt_runtime.native.loaded import sources_digest

_COMPILER = ("compiled", "convert", "dialects", "passes", "source")
_RUNTIME = ("bef", "kernels")
MAX_TEXT = 1 << 16
"""Characters of the longest text that is kept: to read a longer one takes longer than the imports."""


def program_of(text: str, name: str) -> Program:
    """`Program.from_source(text, name)`; without the compiler if an earlier command had the same text.

    Raises:
        TfrtError: with what is wrong with it, and where.
    """
    if len(text) > MAX_TEXT or USER_KERNELS.version:  # users' kernels have short forms
        return Program.from_source(text, name)
    key = _key(text, name)
    data = code_cache().get(key)
    if data is not None:
        try:
            return Program.of_file(BefFile.load(data, name), text)
        except MalformedBef:
            pass  # made anew
    program = Program.from_source(text, name)
    if program.compiled is None:
        code_cache().put(key, program.bef)
    return program


def _key(text: str, name: str) -> str:
    compiler, runtime = (Path(one.__path__[0]) for one in (tfrt_nb, tfrt_runtime))
    folders = [*(compiler / part for part in _COMPILER), *(runtime / part for part in _RUNTIME)]
    tag = sys.implementation.cache_tag or ""
    facts = (sources_digest(), installed("xdsl"), tag, name, text)
    return f"text-{digest_of(folders, facts).hex()[:40]}"
