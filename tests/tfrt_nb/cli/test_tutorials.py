"""Test that `tfrt-nb tutorials` copies the notebooks, and overwrites none of a learner's files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from pytest import CaptureFixture, MonkeyPatch

from tfrt_nb.cli import tutorials
from tfrt_nb.cli.main import main
from tfrt_nb.exercises.exercise import find, progress_in


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "learn"
    assert main(["tutorials", str(folder), "--no-open"]) == 0
    return folder


def test_all_tutorials_are_copied_with_the_pages_and_pictures_that_they_show(copied: Path) -> None:
    names = {path.name for path in copied.iterdir()}
    assert {
        "tutorials.ipynb",
        "00_start.ipynb",
        "00_start.svg",
        "07_python.ipynb",
        "glossary.md",
    } <= names
    assert "demo.py" not in names


def test_a_second_copy_brings_back_what_is_missing(
    copied: Path, capsys: CaptureFixture[str]
) -> None:
    (copied / "03_chains.ipynb").unlink()
    assert main(["tutorials", str(copied), "--no-open"]) == 0
    assert "1 files copied" in capsys.readouterr().out
    assert (copied / "03_chains.ipynb").exists()


def test_a_file_of_a_learner_is_never_overwritten(
    copied: Path, capsys: CaptureFixture[str]
) -> None:
    mine = copied / "03_chains.ipynb"
    mine.write_text("my answers")
    (copied / "04_errors.ipynb").unlink()

    assert main(["tutorials", str(copied), "--no-open"]) == 1

    said = capsys.readouterr().err
    assert "03_chains.ipynb; nothing was copied" in said
    assert f"jupyter lab {copied}" in said
    assert (mine.read_text(), (copied / "04_errors.ipynb").exists()) == ("my answers", False)


def test_a_folder_that_cannot_be_made_is_an_error(
    tmp_path: Path, capsys: CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["tutorials", str(tmp_path / "file" / "learn"), "--no-open"]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_without_jupyterlab_the_files_are_copied_and_the_next_step_is_named(
    tmp_path: Path, capsys: CaptureFixture[str], monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.setattr(tutorials, "find_spec", lambda name: None)
    assert main(["tutorials", str(tmp_path)]) == 1
    assert "pip install 'tfrt-nb[lab]'" in capsys.readouterr().err
    assert (tmp_path / "tutorials.ipynb").exists()


def test_progress_is_read_from_saved_answers(copied: Path) -> None:
    path = copied / "00_start.ipynb"
    given = '"%%tfrt_check start.value\\n",\n    "?"'
    text = path.read_text()
    assert given in text
    path.write_text(text.replace(given, given.replace("?", find("start.value").solution)))

    found = {one.title: one for one in progress_in(copied)}

    assert len(found) == len([*copied.glob("[0-9]*.ipynb")])
    start = found["00 Start: a value appears while you watch"]
    assert (start.minutes, start.right, start.exercises) == ("20", 1, 3)


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_to_open_jupyterlab_as_in_a_container(
    copied: Path, monkeypatch: MonkeyPatch, user: int, allowed: bool
) -> None:
    started: list[list[str]] = []

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[bytes]:
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", run)
    assert main(["tutorials", str(copied)]) == 0
    assert [("--allow-root" in command) for command in started] == [allowed]


def test_the_address_that_jupyterlab_prints_is_that_of_the_start_page(
    copied: Path, monkeypatch: MonkeyPatch
) -> None:
    run = subprocess.run

    def prints_its_address(command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        shown = run([*command, "--show-config-json"], check=check, capture_output=True, text=True)
        config = json.loads(shown.stdout)
        assert config["LabApp"]["default_url"] == "/lab/tree/tutorials.ipynb"
        assert command[-1] == str(copied)
        return shown

    monkeypatch.setattr(subprocess, "run", prints_its_address)
    assert main(["tutorials", str(copied)]) == 0
