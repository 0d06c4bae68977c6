"""Test that the core is compiled in another process, from the sources that determine its key."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from tfrt_runtime.cache import Cache
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.native import library

BUILD = """
import sys
sys.path[:] = sys.argv[1:]
from tfrt_runtime.native.library import fingerprint
print("1/1 step", file=sys.stderr)
sys.stdout.write(fingerprint() + "\\n" + "\\n".join(sys.path))
"""


def test_the_compiler_imports_what_this_process_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_BUILD", BUILD)
    monkeypatch.setattr(sys, "path", ["/nowhere", *sys.path])
    steps: list[str] = []

    code = library.build_core(steps.append)

    assert code.decode().split("\n") == [str(library.HERE.parents[1]), *sys.path]
    assert steps == ["1/1 step"]


def test_a_core_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_BUILD", BUILD)
    monkeypatch.setattr(library, "fingerprint", lambda: "that of other sources")

    with pytest.raises(TfrtError, match="the native core changed while it was compiled"):
        library.build_core(lambda _: None)


def test_why_the_compiler_failed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_BUILD", "raise SystemExit('out of order')")

    with pytest.raises(TfrtError, match="could not be compiled:\nout of order"):
        library.build_core(lambda _: None)


def test_a_damaged_core_is_compiled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache") / "cache")
    name = f"native-{library.fingerprint()}"
    cache.put(name, b"code")
    path = cache.folder / name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    built: list[bytes] = []
    monkeypatch.setattr(library, "code_cache", lambda: cache)
    monkeypatch.setattr(library, "build_core", lambda _: b"new code")
    monkeypatch.setattr(library.Library, "of_bytes", built.append)
    monkeypatch.setattr(library, "prebuilt", lambda: None)
    monkeypatch.setattr(library, "_library", [])

    library.load()

    assert built == [b"new code"]
    assert cache.get(name) == b"new code"


def test_a_process_that_may_have_no_file_in_memory_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    library.load()  # the cache has it
    monkeypatch.setattr(os, "memfd_create", refuse)

    with pytest.raises(TfrtError, match=r"MB, cannot be opened as a file in memory: Too many open"):
        library.compiled_here(lambda _: None)
