"""Compiled code that later processes need not compile again: files by name in one folder.

What is in these files runs in this process.  So a file is read only if this user or root owns it
and no other user may write it, and the same holds for the folder; and only if it is whole:

    "tfrt-nb 1\\n", SHA-256 of its name, a zero and its content (32 bytes), the content

The name is in the digest, so that an older file does not pass for a newer one.  Any other file is
replaced. A folder that cannot be used is reported once, on standard error; the process goes on
without it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = b"tfrt-nb 1\n"
_DIGEST_SIZE = 32
_MOST_BYTES = 1 << 28
"""No code is that long: a file that is longer is damaged, and reading it could take all memory."""
_ABANDONED = 3600.0
"""Seconds after which a file that is not complete belongs to a process that is gone."""


class _Unusable(OSError):
    """The folder or a file must not be used; the text says why."""


@dataclass
class Cache:
    """The files of one folder, which is made when the first is written.

    Safe to use by several threads and processes: files are replaced as a whole.
    """

    folder: Path
    named_by: str = ""
    """The environment variable that has named the folder, if one has."""
    most_files: int = 512
    """For each kind, which is what a name begins with, up to its first '-'."""
    _is_told: bool = field(default=False, init=False)

    def get(self, name: str) -> bytes | None:
        """Return the bytes stored under the name; None if they are missing, damaged, or not
        trusted.
        """
        try:
            with self._opened() as folder:
                return _content(name, _read(folder, name))
        except FileNotFoundError:
            return None
        except OSError as problem:
            self._tell(problem)
            return None

    def put(self, name: str, content: bytes) -> None:
        """Keep the content under a name; the oldest of its kind go if there are too many."""
        try:
            self._make()
            with self._opened() as folder:
                _write(folder, name, _MAGIC + _digest(name, content) + content)
                self._forget_the_oldest(folder, name.partition("-")[0])
        except OSError as problem:
            self._tell(problem)

    @contextlib.contextmanager
    def turn(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Within, no other process is in such a block of this folder, so that what takes long is
        done once.

        Calls `on_wait` before it waits for one.  Where the folder cannot be used, it waits for
        none.
        """
        import fcntl  # few processes compile a core

        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                self._make()
                folder = stack.enter_context(self._opened())
                try:
                    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    on_wait()
                    fcntl.flock(folder, fcntl.LOCK_EX)
            yield  # the lock ends with the descriptor, even if the process dies

    def _make(self) -> None:
        if not self.folder.is_absolute():
            raise _Unusable("it is not an absolute path")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """The folder, by a descriptor: what is checked is then what is used."""
        if not self.folder.is_absolute():
            raise _Unusable("it is not an absolute path")
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check(os.fstat(folder), "it")
            yield folder
        finally:
            os.close(folder)

    def _tell(self, problem: OSError) -> None:
        if self._is_told:
            return
        self._is_told = True
        reason = str(problem) if isinstance(problem, _Unusable) else problem.strerror
        named = f" ({self.named_by})" if self.named_by else ""
        sys.stderr.write(
            f"tfrt-nb: compiled code is not cached in {self.folder}{named}: {reason}\n"
        )

    def _forget_the_oldest(self, folder: int, kind: str) -> None:
        found = []
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                changed = entry.stat(follow_symlinks=False).st_mtime
                if entry.name.endswith(".tmp"):
                    if changed < time.time() - _ABANDONED:
                        os.unlink(entry.name, dir_fd=folder)
                elif entry.name.startswith(f"{kind}-"):
                    found.append((changed, entry.name))
        if len(found) > self.most_files:
            for _, name in sorted(found)[: len(found) - self.most_files // 2]:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=folder)


def _check(found: os.stat_result, what: str) -> None:
    """Check what ssh requires of its files: no other user may have written there."""
    # A page has no users.
    if hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid()):
        raise _Unusable(f"{what} belongs to another user (uid {found.st_uid})")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(found.st_mode)
        raise _Unusable(f"other users may write there (mode {mode:04o}): chmod go-w")


def _read(folder: int, name: str) -> bytes:
    # Not blocking, as a pipe would: it is seen below that it is no file.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=folder), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise _Unusable(f"'{name}' is not a file")
        _check(found, f"'{name}'")
        return file.read() if found.st_size <= _MOST_BYTES else b""


def _content(name: str, data: bytes) -> bytes | None:
    start = len(_MAGIC) + _DIGEST_SIZE
    content = data[start:]
    return content if data[:start] == _MAGIC + _digest(name, content) else None


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _write(folder: int, name: str, data: bytes) -> None:
    """Replace a file by another one, atomically."""
    partial = f"{name}.{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o644, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o644)
            file.write(data)
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise


def digest_of(folders: Iterable[Path], facts: Iterable[str]) -> bytes:
    """Hash the source of all modules in these folders, and everything else that code depends on."""
    digest = hashlib.sha256()
    for folder in folders:
        for module in sorted(folder.rglob("*.py")):
            digest.update(module.read_bytes())
    for fact in facts:
        digest.update(fact.encode(errors="surrogatepass") + b"\0")
    return digest.digest()


def installed(package: str) -> str:
    """Return a package's name and version as its installer recorded them: `importlib.metadata`
    takes 15 ms.
    """
    found = importlib.util.find_spec(package)
    folder = "" if found is None or found.origin is None else str(Path(found.origin).parents[1])
    return " ".join(sorted(one for one in os.listdir(folder) if one.startswith(f"{package}-")))


@functools.cache
def code_cache() -> Cache:
    """The cache of this process: TFRT_NB_CACHE, or a folder among the user's caches."""
    if named := os.environ.get("TFRT_NB_CACHE"):
        return Cache(Path(named), "TFRT_NB_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Cache(Path(os.path.expanduser(base)) / "tfrt-nb")
