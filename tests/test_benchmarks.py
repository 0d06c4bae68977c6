"""Test the pure functions of the benchmarks: cachegrind's counts, and the names of processors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.counts import ROWS, count, events, per_unit, table
from benchmarks.driver import Missing
from benchmarks.processor import cache_sizes, processor, slug
from benchmarks.report import Result, Results, page, ratios, saved, won, write

FILE = """desc: I1 cache:         32768 B, 64 B, 8-way associative
desc: LL cache:         524288 B, 64 B, 8-way associative
cmd: python -m benchmarks.counted a: b
events: Ir Dr D1mr
fl=a.c
fn=main: inner
3 10 4 1
summary: {}
"""
CPUINFO = "processor\t: 0\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\n\n"


def test_the_difference_of_two_files_is_without_the_start() -> None:
    few, many = (events(FILE.format(counts)) for counts in ("1020 400 7", "1120 460 12"))
    assert few == {"Ir": 1020, "Dr": 400, "D1mr": 7}
    assert per_unit(few, many, 10) == {"Ir": 10.0, "Dr": 6.0, "D1mr": 0.5}


def test_the_table_adds_misses_of_reads_and_writes_and_leaves_out_what_was_not_counted() -> None:
    counts = {"Ir": 494.2, "Dr": 3.0, "Dw": 2.0, "D1mr": 1.5, "D1mw": 0.25, "DLmr": 1.0}
    case = {"fib": {**counts, "DLmw": 0.5, "Bi": 3.12}}
    assert table({"us": case, "them": {}}).splitlines()[2:] == [
        "| fib | call | us | 494 | 3.0 | 2.0 | 1.8 | 0.2 | 1.5 | 0.5 | 3.1 |"
    ]


def test_a_program_that_fails_is_missing_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="ChildProcess"):
        count(["sh", "-c", "echo ChildProcess >&2; exit 1", "fib"], {"fib": ROWS[1]}, tmp_path)


@pytest.mark.parametrize(
    ("cpu", "l2", "expected"),
    [
        (("AuthenticAMD", 25, 1, "AMD EPYC"), "512K", "amd-epyc-zen-3-512k"),
        (("AuthenticAMD", 25, 17, "AMD EPYC 9R14"), "1024K", "amd-epyc-9r14-zen-4-1024k"),
        (("AuthenticAMD", 25, 33, "AMD Ryzen 9"), "512K", "amd-ryzen-9-zen-3-512k"),
        (("AuthenticAMD", 26, 2, "AMD EPYC"), "1024K", "amd-epyc-zen-5-1024k"),
        (("AuthenticAMD", 99, 2, "AMD New"), "1024K", "amd-new-1024k"),
        (("GenuineIntel", 6, 85, "Intel(R) Xeon(R)"), "2048K", "intel-xeon-2048k"),
    ],
)
def test_a_kind_of_processor_has_a_name(cpu: tuple[object, ...], l2: str, expected: str) -> None:
    assert slug(processor(CPUINFO.format(*cpu)), {"L1": "32K", "L2": l2}) == expected


def test_caches_of_instructions_are_left_out(tmp_path: Path) -> None:
    for index, fields in enumerate(
        [("1", "Data", "32K"), ("1", "Instruction", "48K"), ("2", "Unified", "512K")]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), fields, strict=True):
            (folder / name).write_text(f"{text}\n")
    assert cache_sizes(tmp_path) == {"L1": "32K", "L2": "512K"}


def test_a_case_is_won_only_where_it_is_won_on_each_processor(tmp_path: Path) -> None:
    peer = Result("fib", "C++", "oneTBB", 1, True, "ns", 2.0, 2.0, 2.0, 9, 0.0)
    ours = replace(peer, peer="tfrt-nb", variant="s", min=1.0)
    chain = [replace(one, case="chain_1000") for one in (peer, ours)]
    write(Results("Fast", {}, [peer, ours, *chain], {}, "fast"), tmp_path)
    slow = [replace(ours, min=3.0), peer]
    write(Results("Slow", {}, slow, {"numpy": "openblas"}, "slow"), tmp_path)
    machines = saved(tmp_path)
    assert [each.machine for each in machines] == ["Fast", "Slow"]
    assert [ratios(each) for each in machines] == [
        {("fib", 1): 0.5, ("chain_1000", 1): 0.5},
        {("fib", 1): 1.5},
    ]
    assert won(machines) == {("chain_1000", 1)}
    text = page(machines)
    assert (tmp_path / "results.md").read_text() == text
    assert text.count("0.50 +") == 1 and "1 of 2 are" in text
    assert "## On Fast" in text and "## On Slow" in text and "- numpy: openblas" in text
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "fast.scalars.svg",
        "slow.scalars.svg",
    }
