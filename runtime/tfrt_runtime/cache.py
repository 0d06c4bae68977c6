"""A cache of compiled code for later processes: named files in one folder.

The code in these files runs in this process.  Therefore, a file is read only if it is complete, and
if both the file and its folder belong to this user or root and no other user may write to them.
The format of a file:

    "tfrt-nb 1\\n", SHA-256 of its name, a zero byte, and its content (32 bytes), the content

Because the digest covers the name, an older file cannot be mistaken for a newer one.  A file in
another format is replaced.  If the folder cannot be used, the process reports that once, on
standard error, and continues without it.
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
"""Maximum size of a file in bytes.

A longer file is damaged, and reading it could exhaust memory.
"""
_ABANDONED = 3600.0
"""The age in seconds at which an incomplete file's writer is assumed to be dead."""


class _Unusable(OSError):
    """The folder or a file must not be used; the message says why."""


@dataclass
class Cache:
    """The files of one folder, which is created when the first file is written.

    Threads:
        any, and several processes: files are replaced atomically
    """

    folder: Path
    named_by: str = ""
    """The environment variable that named the folder, or ""."""
    most_files: int = 512
    """Maximum number of files of each kind.

    A file's kind is the part of its name before the first '-'.
    """
    _is_told: bool = field(default=False, init=False)

    def get(self, name: str) -> bytes | None:
        """Return the bytes stored under the name.

        Return None if they are missing, damaged, or not trusted.
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
        """Store the content under a name.

        If there are too many files of this kind, the oldest are deleted.
        """
        try:
            self._make()
            with self._opened() as folder:
                _write(folder, name, _MAGIC + _digest(name, content) + content)
                self._forget_the_oldest(folder, name.partition("-")[0])
        except OSError as problem:
            self._tell(problem)

    @contextlib.contextmanager
    def turn(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Run `with` blocks of this folder in one process at a time.

        A process that has waited can then use the result of another process's long work.  Call
        `on_wait` before waiting.  If the folder cannot be used, the block runs without waiting.
        """
        import fcntl  # imported here, because few processes compile a core

        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                self._make()
                folder = stack.enter_context(self._opened())
                try:
                    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    on_wait()
                    fcntl.flock(folder, fcntl.LOCK_EX)
            yield  # the lock is released when the descriptor is closed, even if the process dies

    def _make(self) -> None:
        if not self.folder.is_absolute():
            raise _Unusable("it is not an absolute path")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder as a descriptor, so that exactly the checked folder is used."""
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
            # Delete down to half of the maximum, so that not every later call has to delete a file.
            for _, name in sorted(found)[: len(found) - self.most_files // 2]:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=folder)


def _check(found: os.stat_result, what: str) -> None:
    """Check that no other user may write to a file or folder, as ssh checks its files.

    Raises:
        _Unusable: if another user may write to it.
    """
    # In a browser page, files have no owners.
    if hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid()):
        raise _Unusable(f"{what} belongs to another user (uid {found.st_uid})")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(found.st_mode)
        raise _Unusable(f"other users may write there (mode {mode:04o}): chmod go-w")


def _read(folder: int, name: str) -> bytes:
    # Opening a pipe would otherwise block; the check below rejects pipes.
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
    """Replace a file atomically."""
    partial = f"{name}.{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o644, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            # The process's umask has limited the mode given to `os.open`.
            os.fchmod(descriptor, 0o644)
            file.write(data)
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise


def digest_of(folders: Iterable[Path], facts: Iterable[str]) -> bytes:
    """Return a hash of the sources of all modules in these folders, and of the facts.

    The facts describe everything else that affects the compiled code.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for module in sorted(folder.rglob("*.py")):
            digest.update(module.read_bytes())
    for fact in facts:
        digest.update(fact.encode(errors="surrogatepass") + b"\0")
    return digest.digest()


def installed(package: str) -> str:
    """Return the recorded name and version of a package.

    `importlib.metadata` would take 15 ms.
    """
    found = importlib.util.find_spec(package)
    folder = "" if found is None or found.origin is None else str(Path(found.origin).parents[1])
    return " ".join(sorted(one for one in os.listdir(folder) if one.startswith(f"{package}-")))


@functools.cache
def code_cache() -> Cache:
    """Return the cache of this process, in TFRT_NB_CACHE or in the user's cache folder."""
    if named := os.environ.get("TFRT_NB_CACHE"):
        return Cache(Path(named), "TFRT_NB_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Cache(Path(os.path.expanduser(base)) / "tfrt-nb")
