"""Test memory budgets: how users write them, and what the system allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host import budget
from tfrt_runtime.host.budget import default_budget, machine_memory, parse_budget, show_bytes
from tfrt_runtime.host.context import HostContext


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2G", 2 << 30),
        ("500M", 500 << 20),
        ("1.5GiB", 3 << 29),
        ("2097152", 2 << 20),
        (1 << 25, 1 << 25),
    ],
)
def test_a_budget_is_bytes_or_a_text_with_a_unit(text: str | int, size: int) -> None:
    assert parse_budget(text) == size


@pytest.mark.parametrize(
    "text", ["", "2X", "-1G", "G", "1e9", "nan", "100K", "9999999T", True, -1, 0]
)
def test_anything_else_is_refused_with_what_is_expected(text: str | int) -> None:
    with pytest.raises(TfrtError, match="expected"):
        parse_budget(text)


def test_sizes_are_shown_with_their_unit() -> None:
    assert [show_bytes(size) for size in (100, 1 << 16, 3 << 29)] == [
        "100 bytes",
        "64 KiB",
        "1.5 GiB",
    ]


def test_the_default_is_at_most_half_of_the_machine() -> None:
    assert 1 << 20 < default_budget() <= machine_memory() // 2
    with HostContext("s") as host:
        assert host.memory == default_budget()


def test_limits_of_own_cgroups_and_of_those_around_them_count(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    former = tmp_path / "memory" / "c"
    for folder in (inner, former):
        folder.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (tmp_path / "a" / "memory.max").write_text("1000\n")
    (former / "memory.limit_in_bytes").write_text("2000\n")
    own = "5:cpu,cpuacct:/x\n4:memory:/c\n0::/a/b\n"

    assert sorted(budget._cgroup_limits(own, tmp_path)) == [1000, 2000]


def test_a_cgroup_mounted_as_the_root_is_found_without_its_path(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("3000\n")
    assert list(budget._cgroup_limits("0::/docker/1234\n", tmp_path)) == [3000]
