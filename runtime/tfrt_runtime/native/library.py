"""Load the native core: a shared object from the package, or one that was compiled on this machine.

The build hook adds a core for each supported machine to a wheel.  In a checkout, or if the wheel
has no core for this machine, Numba and llvmlite compile the core in a separate process
(`building.build`).  The compiled core is cached.  The cache key depends on the core's source and on
the versions of both packages.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tfrt_runtime.cache import code_cache
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native import machine as here

Progress = Callable[[str], None]
HERE = Path(__file__).parent
SOURCES = "tfrt_core_sources"
"""The symbol in each shared object that holds the digest of the sources it was compiled from."""
WAITING = "waiting for another process, which compiles the native core"

_lock = threading.Lock()
_library: list[Library] = []


@functools.cache
def sources_digest() -> str:
    """Return the digest of the core's sources, including the table of scalar operations."""
    digest = hashlib.sha256()
    for module in [*sorted(HERE.rglob("*.py")), HERE.parent / "scalars.py"]:
        digest.update(module.name.encode() + module.read_bytes())
    return digest.hexdigest()


class Library(dict[str, int]):
    """A loaded core: maps each entry's name to its address, which is looked up on first use."""

    def __init__(self, path: Path | str) -> None:
        """Open the shared object.

        Raises:
            OSError: if the file is incomplete or is for another machine.
        """
        self._library = ctypes.CDLL(str(path))

    @staticmethod
    def of_bytes(core: bytes) -> Library:
        """Load a core from the bytes of its file; later changes to the file have no effect.

        Raises:
            OSError: as for `__init__`, or if the system does not let this process create a file in
                memory.
        """
        with open(os.memfd_create("tfrt-core"), "wb") as file:
            file.write(core)
            file.flush()
            # Load the file while it is open: the path refers to the open descriptor.
            return Library(f"/proc/self/fd/{file.fileno()}")

    def built_in(self, name: str) -> int:
        """Return the address of an entry that CPython calls as METH_FASTCALL."""
        return self[name if here.HAS_WIDE_POINTERS else f"{name}.fast"]

    def of_words(self, name: str) -> int:
        """Return the address of an entry that `python_entries.call_with` calls with seven words."""
        return self[name if here.HAS_WIDE_POINTERS else f"{name}.any"]

    def python(self, name: str) -> int:
        """Return the address of a CPython function that the core calls."""
        if not here.HAS_WIDE_POINTERS:
            return self[f"tfrt_api.{name}"]
        return ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value or 0

    def __missing__(self, name: str) -> int:
        try:
            found = self._library[name]
        except AttributeError:
            raise KeyError(name) from None
        address = self[name] = ctypes.cast(found, ctypes.c_void_p).value or 0
        return address

    @property
    def sources(self) -> str:
        """Return the digest of the sources from which the core was compiled."""
        # The digest is a SHA-256 digest in hexadecimal: 64 characters.
        return bytes((ctypes.c_char * 64).in_dll(self._library, SOURCES)).decode()


def show_progress(line: str) -> None:
    """Show a line of progress on standard error, replacing the previous line on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Ktfrt-nb: compiling the native core (once): {line}")
        if line == "optimizing":
            sys.stderr.write("\n")
    # In a file, a line for each function would be noise: announce only the start.
    elif line.startswith("1/"):
        sys.stderr.write("tfrt-nb: compiling the native core (once, about half a minute)\n")
    elif line == WAITING:
        sys.stderr.write(f"tfrt-nb: {WAITING}\n")
    sys.stderr.flush()


def load_at_hand() -> bool:
    """Load the core if that requires no compilation, and return whether the core is loaded.

    Raises:
        TfrtError: as for `load`.
    """
    with _lock:
        if not _library and (core := prebuilt() or _cached()) is not None:
            _library.append(core)
        return bool(_library)


def load(progress: Progress = show_progress) -> Library:
    """Return the core, loading it on the first call.

    If the core is neither in the package nor in the cache, compile it.

    Raises:
        TfrtError: if the core does not support this platform or cannot be compiled.
    """
    with _lock:
        if not _library:
            check_platform(sys.platform, here.this_machine())
            core = prebuilt()
            _library.append(compiled_here(progress) if core is None else core)
        return _library[0]


def check_platform(system: str, machine: str) -> None:
    """Reject platforms that the core does not support.

    Raises:
        TfrtError: unless the platform is Linux on x86-64 or AArch64, or a web page.
    """
    bits = here.POINTER_BITS.get(machine, 0)
    is_system = system == "emscripten" if machine == here.PAGE else system.startswith("linux")
    # A Python with 32-bit pointers may run on a 64-bit machine, so check the pointer's size, too.
    if not is_system or bits != sys.maxsize.bit_length() + 1:
        raise TfrtError(
            error(
                f"tfrt-nb runs in a page, and on Linux on x86-64 and AArch64 (64 bits); this is"
                f" {system} on {machine}: use JupyterLite, a container, WSL or Binder"
            )
        )


def prebuilt() -> Library | None:
    """Return the package's core, or None if the package has none for this machine and sources."""
    path = HERE / file_name(here.this_machine())
    if not path.exists():
        return None
    try:
        core = Library(path)
        return core if core.sources == sources_digest() else None
    # ctypes raises ValueError if the file has no symbol SOURCES.
    except (OSError, ValueError):
        return None


def file_name(machine: str) -> str:
    """Return the file name of a machine's core in the package.

    On a web page, the name includes the digest.  A page never unloads a file, and would mistake a
    second file of the same name for the first one.
    """
    if machine == here.PAGE:
        return f"core-{machine}-{sources_digest()[:16]}.wasm"
    return f"core-{machine}.elf"


def compiled_here(progress: Progress) -> Library:
    """Return the core from the cache, or compile it.

    Raises:
        TfrtError: if the core cannot be compiled, or if the system does not let this process create
            a file in memory.
    """
    cache = code_cache()
    if (found := _cached()) is not None:
        return found
    with cache.turn(lambda: progress(WAITING)):
        if (found := _cached()) is not None:  # another process may have added it in the meantime
            return found
        core = build_core(progress)
        cache.put(_name(), core)
    return _opened(core)


def _cached() -> Library | None:
    """Return the core from the cache, or None if the cache does not have it."""
    core = code_cache().get(_name())
    return None if core is None else _opened(core)


def _opened(core: bytes) -> Library:
    try:
        return Library.of_bytes(core)
    except OSError as refused:
        size = f"{len(core) / 1e6:.1f} MB"
        reason = refused.strerror or refused
        text = f"the native core, {size}, cannot be opened as a file in memory: {reason}"
        raise TfrtError(error(text)) from None


def _name() -> str:
    """Return the file name of the core in the cache."""
    return f"native-{fingerprint()}"


def fingerprint() -> str:
    """Return a key that changes whenever the compiled core may change."""
    digest = hashlib.sha256(sources_digest().encode())
    parts = (sys.implementation.cache_tag or "", version("llvmlite"), version("numba"))
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:32]


def version(package: str) -> str:
    """Return the contents of a package's version module, without importing the package.

    `importlib.metadata` would take 30 ms, because it imports an e-mail parser.

    Raises:
        TfrtError: if the package is not installed.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise TfrtError(
            error(
                f"this installation has no native core that fits, and no {package} to compile it:"
                " pip install 'tfrt-nb[native]'"
            )
        )
    return Path(found.origin).with_name("_version.py").read_text()


_BUILD = """
import sys
sys.path[:] = sys.argv[1:]
from tfrt_runtime.native.library import fingerprint
before = fingerprint()
from tfrt_runtime.native.building.build import build_here
build_here(before)
"""


def build_core(progress: Progress) -> bytes:
    """Compile the core in another process, from this process's sources.

    Raises:
        TfrtError: if the compiler fails; the message includes the end of the compiler's output.
    """
    import subprocess  # not needed if the core is in the cache
    import tempfile

    # Pass on this process's paths, so that the other process imports the same package.
    command = [sys.executable, "-c", _BUILD, str(HERE.parents[1]), *sys.path]
    try:
        # Use a file for the standard output: this process reads only standard error until the
        # compiler exits, so the compiler could block on a full pipe.
        with tempfile.TemporaryFile() as output:
            with subprocess.Popen(
                command, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace"
            ) as compiler:
                lines = []
                for line in compiler.stderr or ():
                    lines.append(line.rstrip())
                    progress(line.rstrip())
            output.seek(0)
            made_of, _, code = output.read().partition(b"\n")
    except OSError as problem:
        raise TfrtError(error(f"the native core could not be compiled: {problem}")) from None
    if compiler.returncode != 0:
        last = "\n".join(lines[-20:])
        raise TfrtError(error(f"the native core could not be compiled:\n{last}"))
    if made_of.decode() != fingerprint():
        raise TfrtError(
            error("the sources of the native core changed while it was compiled: start again")
        )
    return code
