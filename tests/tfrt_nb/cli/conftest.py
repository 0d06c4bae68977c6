"""Run the command line in this process, in its own folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tfrt_nb.cli.main import main


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command."""

    status: int
    stdout: str
    stderr: str


class Shell:
    """Runs commands, as in `shell("run", "a.mlir")`; `shell.write` writes their files."""

    def __init__(
        self, folder: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self._capture = capture
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            status = main(arguments)
        except SystemExit as exit:
            assert isinstance(exit.code, int)
            status = exit.code
        captured = self._capture.readouterr()
        return Outcome(status, captured.out, captured.err)

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file, and return its name."""
        data = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)
        return name


@pytest.fixture
def shell(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    leak_check: None,
) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path, capsys, monkeypatch)


@pytest.fixture
def leaky_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """A shell for programs that leave values behind."""
    return Shell(tmp_path, capsys, monkeypatch)


@pytest.fixture
def on_text(leaky_shell: Shell) -> Callable[..., tuple[int, str, str]]:
    """A function that runs a command on source text, and returns its status and both outputs.

    It is called as `on_text("run", text, *options)`; the file is `f.mlir`.
    """

    def call(command: str, text: str, *options: str) -> tuple[int, str, str]:
        done = leaky_shell(command, leaky_shell.write("f.mlir", text), *options)
        return done.status, done.stdout, done.stderr

    return call


Run = Callable[..., Outcome]
