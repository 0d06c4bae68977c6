"""Test `tfrt-nb grade` on answers that try to do something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest import CaptureFixture, MonkeyPatch

from tfrt_nb.cli.main import main
from tfrt_nb.exercises.exercise import exercises

HOMEWORK = """\
import tfrt_nb as tfrt

@tfrt.exercise("words", right="5", wrong={"6": "Add"}, why="2 + 3 = 5.")
def words(answer: tfrt.Answer):
    "What is 2 + 3?"
    return None if answer.number() == 5 else "=SUM(2;3)"

def add(name):
    @tfrt.exercise(name, right="def done(): return 1", wrong={}, why="It is 1.")
    def check(answer: tfrt.Names):
        "Write a function that returns 1."
        return None if answer.call("done") == 1 else "It is not 1."

for letter in "abcdefghijklmn":
    add(letter)
"""
DONE = "\ndef done(): return 1"
HARMLESS = {
    "a": "import os\nfor _ in range(2000): os.write(1, bytes(10000))\nprint('garbage')",
    "b": "import sys, os\nos.closerange(0, 3)",
    "c": "open('mine', 'w').write('x')\nimport os\nassert os.listdir('.') == ['mine']\n"
    "import shutil\nshutil.rmtree(os.getcwd(), ignore_errors=True)",
    "d": "import os\nassert 'SECRET' not in os.environ and os.environ['HOME'] == os.getcwd()\n"
    "open_files = [os.path.realpath(f'/proc/self/fd/{one}') for one in range(3, 40)]\n"
    "assert not any('inherited' in one for one in open_files), open_files",
    "e": "big = open('big', 'wb')\ntry:\n    while True: big.write(bytes(1 << 20))\n"
    "except OSError: big.truncate(0)",
}
"""Answers that do such things, but are right."""
WITHHELD = {
    "f": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 5)",
    "g": "open('TEACHER', 'w')",
    "h": "import os\nos.kill(PARENT, 9)",
    "i": "import ctypes\nctypes.CDLL(None).unshare(0x10020000)\n"
    "ctypes.CDLL(None).syscall(442, -100, b'/', 0x8000, (ctypes.c_uint64 * 4)(0, 1), 32)\n"
    "open('TEACHER', 'w')",
    "j": "lots = []\nwhile True: lots.append(bytes(1 << 27))",
}
"""Answers that fail when they try something forbidden."""
FATAL = {
    "k": ("import os\nos._exit(0)", "ended its process: exit status 0"),
    "l": (
        "import os\nos.fork() or os.setsid()\nos.kill(os.getpid(), 9)",
        "ended its process: Killed",
    ),
    "m": ("import time\ntime.sleep(1000)", "took longer than 5 s"),
}


def notebook(path: Path, answers: dict[str, str]) -> str:
    cells = [
        {"cell_type": "code", "source": f"%%tfrt_check {name}\n{text}"}
        for name, text in answers.items()
    ]
    path.write_text(json.dumps({"cells": cells}))
    return path.name


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    """A teacher's folder with the module `graded`; it is the working directory."""
    (tmp_path / "graded.py").write_text(HOMEWORK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    exercises()  # registered once in a process: the next lines must not undo this
    monkeypatch.setattr("tfrt_nb.exercises.exercise._exercises", {})
    monkeypatch.delitem(sys.modules, "graded", raising=False)
    return tmp_path


def can_confine() -> bool:
    """Return whether this system lets a user create namespaces."""
    code = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x78020000))"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_answer_harms_neither_its_teacher_nor_the_answers_beside_it(
    folder: Path, capsys: CaptureFixture[str], monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    confined = can_confine()
    teacher = folder / "marks.txt"
    teacher.write_text("untouched")
    inherited = os.open(folder / "inherited", os.O_CREAT | os.O_RDONLY)
    os.set_inheritable(inherited, True)
    withheld = WITHHELD if confined else {"j": WITHHELD["j"]}
    answers = {name: text + DONE for name, text in (HARMLESS | withheld).items()}
    answers |= {name: text + DONE for name, (text, _) in FATAL.items()}
    for word, value in ("TEACHER", teacher), ("PARENT", os.getpid()), ("PORT", 9):
        answers = {name: text.replace(word, str(value)) for name, text in answers.items()}
    path = notebook(folder / "eve.ipynb", {**answers, "words": "5", "n": DONE})

    options = ["--exercises", "graded", "--timeout", "5", "--format", "json"]
    assert main(["grade", path, *options]) == 1
    os.close(inherited)

    out, err = capsys.readouterr()
    rows = {row["exercise"]: row for row in json.loads(out)}
    assert list(rows) == [*answers, "words", "n"]
    assert {name: rows[name]["text"] for name in (*HARMLESS, "words", "n")} == {
        **dict.fromkeys(HARMLESS, "It is 1."),
        "words": "2 + 3 = 5.",
        "n": "It is 1.",
    }
    assert {rows[name]["mark"] for name in withheld} == {"not yet"}
    assert {name: (rows[name]["mark"], rows[name]["text"]) for name in FATAL} == {
        name: ("error", reason) for name, (_, reason) in FATAL.items()
    }
    assert teacher.read_text() == "untouched"
    assert ("cannot keep answers away from: the network" in err) == (not confined)


def test_without_namespaces_answers_are_graded_and_a_warning_says_so(
    folder: Path, capsys: CaptureFixture[str]
) -> None:
    refusing = "class Library(ctypes.CDLL):\n    unshare = staticmethod(lambda flags: -1)"
    text = f"import ctypes\n{refusing}\nctypes.CDLL = Library\n"
    (folder / "sitecustomize.py").write_text(text)
    path = notebook(folder / "ann.ipynb", {"words": "5"})

    assert main(["grade", path, "--exercises", "graded"]) == 0

    out, err = capsys.readouterr()
    assert out == "ann.ipynb: words: right\nann.ipynb: 1 of 1 right\n"
    assert err == (
        "tfrt-nb: warning: this system cannot keep answers away from: the network,"
        " other processes, files that you may write\n"
    )


def test_a_notebook_that_cannot_be_graded_is_one_line(
    folder: Path, capsys: CaptureFixture[str]
) -> None:
    Path("=json.ipynb").write_text("{")
    Path("deep.ipynb").write_text("[" * 100_000)
    names = ["=json.ipynb", "deep.ipynb", "none.ipynb"]
    names.append(notebook(folder / "bob\x1b.ipynb", {"wrods": "5"}))

    assert main(["grade", *names, "--exercises", "graded"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "=json.ipynb: error: is not a notebook: it has no JSON",
        "deep.ipynb: error: is not a notebook: it has no list of cells with sources",
        "none.ipynb: error: cannot be read: No such file or directory",
        r"bob\x1b.ipynb: wrods: error: no exercise is called 'wrods'; did you mean 'words'?",
        r"bob\x1b.ipynb: 0 of 1 right",
    ]
    assert main(["grade", *names, "--format", "csv", "--exercises", "graded"]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "notebook,exercise,mark,text",
        "'=json.ipynb,,error,is not a notebook: it has no JSON",
    ]
