"""The native core, a shared object that came with the package, or was compiled here.

A wheel has one for each machine that it runs on, made by the build hook (`prebuilding`).  A checkout, whose
sources change, compiles its own into the cache (`compiling`).
"""

from __future__ import annotations

import os
import sys
import threading

from tfrt_runtime.cache import code_cache
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native.loaded import HERE, Library, Progress, sources_digest

MACHINES = ("x86_64", "aarch64")
WAITING = "waiting for another process, which compiles the native core"


def prebuilt() -> Library | None:
    """The core that came with the package, if there is one for this machine and these sources."""
    path = HERE / f"core-{os.uname().machine}.elf"
    if not path.exists():
        return None
    try:
        core = Library(path)
        return core if core.sources == sources_digest() else None
    except (OSError, ValueError):
        return None


def show_progress(line: str) -> None:
    """One line on standard error that is written over."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Ktfrt-nb: compiling the native core (once): {line}")
        if line == "optimising":
            sys.stderr.write("\n")
    elif line.startswith("1/"):
        sys.stderr.write("tfrt-nb: compiling the native core (once, about half a minute)\n")
    elif line == WAITING:
        sys.stderr.write(f"tfrt-nb: {WAITING}\n")
    sys.stderr.flush()


_lock = threading.Lock()
_library: list[Library] = []


def load(progress: Progress = show_progress) -> Library:
    """The core, loaded once per process; compiled first when none came along and the cache has none.

    Raises:
        TfrtError: if this is another platform than those that it runs on, or it cannot be compiled.
    """
    with _lock:
        if not _library:
            check_platform(sys.platform, os.uname().machine)
            core = prebuilt()
            _library.append(compiled_here(progress) if core is None else core)
        return _library[0]


def check_platform(system: str, machine: str) -> None:
    """Refuse what the core is not made for.

    Raises:
        TfrtError: on anything but Linux on x86-64 and AArch64.
    """
    if not system.startswith("linux") or machine not in MACHINES or sys.maxsize < 1 << 32:
        raise TfrtError(
            error(
                f"tfrt-nb runs on Linux on x86-64 and AArch64 (64 bits), this is {system} on"
                f" {machine}: use a container, WSL or Binder"
            )
        )


def compiled_here(progress: Progress) -> Library:
    """The core from the cache, compiled if it is missing.

    Raises:
        TfrtError: if it cannot be compiled, or the process may have no file in memory for it.
    """
    from tfrt_runtime.native.building import compiling

    name = f"native-{compiling.fingerprint()}"
    cache = code_cache()
    core = cache.get(name)
    if core is None:
        with cache.turn(lambda: progress(WAITING)):
            core = cache.get(name)  # what another process has put there meanwhile
            if core is None:
                core = compiling.build_core(progress)
                cache.put(name, core)
    try:
        return Library.of_bytes(core)
    except OSError as refused:
        size = f"{len(core) / 1e6:.1f} MB"
        reason = refused.strerror or refused
        text = f"the native core, {size}, cannot be opened as a file in memory: {reason}"
        raise TfrtError(error(text)) from None
