"""Test the cache of compiled code: what is read, what is replaced, and what is reported."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tfrt_runtime.cache import Cache, code_cache

NAME = "native-0123"
CONTENT = bytes(range(256)) * 4


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache with one file, in a folder that it has created."""
    made = Cache(tmp_path / "parent" / "cache")
    made.put(NAME, CONTENT)
    return made


def path_in(cache: Cache) -> Path:
    """Return the path of the cached file."""
    return cache.folder / NAME


def test_a_file_is_what_was_put_there(cache: Cache) -> None:
    assert cache.get(NAME) == CONTENT
    assert cache.get("native-other") is None
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert list(cache.folder.iterdir()) == [path_in(cache)]


def test_a_changed_bit_is_noticed_wherever_it_is(cache: Cache) -> None:
    data = path_in(cache).read_bytes()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        path_in(cache).write_bytes(changed)
        assert cache.get(NAME) is None


def test_a_file_of_another_length_is_noticed(cache: Cache) -> None:
    data = path_in(cache).read_bytes()
    for length in range(len(data)):
        path_in(cache).write_bytes(data[:length])
        assert cache.get(NAME) is None
    path_in(cache).write_bytes(data + b"x")
    assert cache.get(NAME) is None


def test_a_file_does_not_pass_for_another_one(cache: Cache) -> None:
    path_in(cache).rename(cache.folder / "native-new")

    assert cache.get("native-new") is None


def test_a_damaged_file_is_replaced(cache: Cache) -> None:
    path_in(cache).write_bytes(b"")
    cache.put(NAME, CONTENT)

    assert cache.get(NAME) == CONTENT


def test_a_file_that_memory_does_not_hold_is_replaced(cache: Cache) -> None:
    os.truncate(path_in(cache), 1 << 40)  # this uses no blocks on the disk
    assert cache.get(NAME) is None
    cache.put(NAME, CONTENT)

    assert cache.get(NAME) == CONTENT


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.chmod(0o666), "other users may write there (mode 0666): chmod go-w"),
        (lambda path: path.chmod(0o664), "other users may write there (mode 0664): chmod go-w"),
        (make_pipe, f"'{NAME}' is not a file"),
        (make_link, "Too many levels of symbolic links"),
    ],
    ids=["world", "group", "pipe", "link"],
)
def test_a_file_that_another_user_could_change_is_replaced(
    change: Callable[[Path], None],
    reason: str,
    cache: Cache,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(path_in(cache))

    assert cache.get(NAME) is None
    assert reason in capsys.readouterr().err
    cache.put(NAME, CONTENT)
    assert cache.get(NAME) == CONTENT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_not_read(
    cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    os.chown(path_in(cache), 4711, -1)
    assert cache.get(NAME) is None
    assert "belongs to another user (uid 4711)" in capsys.readouterr().err

    cache.put(NAME, CONTENT)
    os.chown(cache.folder, 4711, -1)
    assert Cache(cache.folder).get(NAME) is None


def is_a_file(path: Path) -> str:
    path.touch()
    return "Not a directory"


def is_in_a_file(path: Path) -> str:
    path.parent.rmdir()
    path.parent.touch()
    return "Not a directory"


def is_open_to_all(path: Path) -> str:
    path.mkdir()
    path.chmod(0o777)
    return "other users may write there (mode 0777): chmod go-w"


@pytest.mark.parametrize("make", [is_a_file, is_in_a_file, is_open_to_all])
def test_a_bad_folder_is_told_in_one_line(
    make: Callable[[Path], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "parent" / "cache"
    folder.parent.mkdir()
    reason = make(folder)
    cache = Cache(folder, "TFRT_NB_CACHE")

    for _ in range(2):
        assert cache.get(NAME) is None
        cache.put(NAME, CONTENT)

    assert capsys.readouterr().err == (
        f"tfrt-nb: compiled code is not cached in {folder} (TFRT_NB_CACHE): {reason}\n"
    )


def test_a_relative_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Cache(Path("cache")).put(NAME, CONTENT)

    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == (
        "tfrt-nb: compiled code is not cached in cache: it is not an absolute path\n"
    )


FULL = """
import resource, sys
from pathlib import Path
from tfrt_runtime.cache import Cache
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
cache = Cache(Path(sys.argv[1]))
cache.put("native-a", bytes(1000))
print(cache.get("native-a"))
"""


def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: PLW1510
        [sys.executable, "-c", FULL, str(tmp_path / "cache")], capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (0, "None\n")
    assert done.stderr == (
        f"tfrt-nb: compiled code is not cached in {tmp_path / 'cache'}: File too large\n"
    )
    assert list((tmp_path / "cache").iterdir()) == []


def test_readers_see_whole_files_while_others_write(cache: Cache) -> None:
    def use(_: int) -> bytes | None:
        cache.put(NAME, CONTENT)
        return cache.get(NAME)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(use, range(200))) == {CONTENT}
    assert list(cache.folder.iterdir()) == [path_in(cache)]


def test_the_oldest_files_of_a_kind_go_and_so_do_parts(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most_files=4)
    tmp_path.chmod(0o700)
    (tmp_path / "program-0.0.tmp").touch()
    os.utime(tmp_path / "program-0.0.tmp", (0, 0))
    cache.put("native-0", CONTENT)
    for number in range(5):
        cache.put(f"program-{number}", CONTENT)
        os.utime(tmp_path / f"program-{number}", (number, number))

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "native-0",
        "program-3",
        "program-4",
    ]


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"TFRT_NB_CACHE": "/a/b"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/a"}, "/a/tfrt-nb"),
        ({"HOME": "/home/me"}, "/home/me/.cache/tfrt-nb"),
        ({"TFRT_NB_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/tfrt-nb"),
    ],
)
def test_the_folder_is_named_by_the_environment(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TFRT_NB_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert code_cache.__wrapped__().folder == Path(folder)


IN_ITS_TURN = """
import sys
from pathlib import Path
from tfrt_runtime.cache import Cache

cache = Cache(Path(sys.argv[1]))
with cache.turn(lambda: print("waits", flush=True)):
    if cache.get("native-new") is None:
        print("compiles", flush=True)
        sys.stdin.readline()
        cache.put("native-new", b"code")
print(cache.get("native-new"), flush=True)
"""


def test_of_several_processes_one_compiles_and_the_others_wait(tmp_path: Path) -> None:
    def start() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", IN_ITS_TURN, str(tmp_path / "cache")]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)

    def says(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline()

    with start() as killed:
        assert says(killed) == "compiles\n"
        with start() as first:
            assert says(first) == "waits\n"
            killed.kill()  # its compiled code is lost
            assert says(first) == "compiles\n"
            with start() as second:
                assert says(second) == "waits\n"
                assert first.communicate("\n", 60)[0] == "b'code'\n"
                assert second.communicate()[0] == "b'code'\n"


def test_nothing_is_waited_for_where_the_folder_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", Path("relative")):
        with Cache(folder).turn(lambda: pytest.fail("it waits")):
            pass
