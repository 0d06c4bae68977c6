"""Test which operations share a stream."""

from __future__ import annotations

import pytest

from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, assign_streams
from tfrt_nb.source import parse_module

CHEAP = StreamOptions(cost_threshold=10)


def streams(text: str, options: StreamOptions = AUTOMATIC) -> list[int]:
    """Return the first function's streams: that of its start, then those of its operations."""
    return list(to_records(parse_module(text, "f.mlir"), streams=options).functions[0].streams)


def test_a_path_is_one_stream() -> None:
    assert assign_streams([[], [], [1], [2], [3]], [1] * 5, AUTOMATIC) == [0] * 5


TWO_LANES: list[list[int]] = [[], [], [1], [1], [2], [3], [4, 5]]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1, [0, 0, 0, 1, 0, 1, 0]), (2, [0, 0, 0, 1, 0, 1, 0]), (3, [0, 0, 0, 0, 0, 0, 0])],
)
def test_a_lane_is_a_stream_of_its_own_if_it_is_worth_it(
    threshold: int, expected: list[int]
) -> None:
    assert assign_streams(TWO_LANES, [1] * 7, StreamOptions(threshold)) == expected


def test_cheap_lanes_are_merged_until_they_are_worth_it() -> None:
    lanes = 6
    definers = [[], *([] for _ in range(lanes)), list(range(1, lanes + 1))]
    assigned = assign_streams(definers, [1] * (lanes + 2), StreamOptions(2))
    sizes = sorted(assigned.count(stream) for stream in set(assigned))

    assert sizes == [2, 2, 4]


def test_automatically_a_side_branch_runs_with_the_longest_path() -> None:
    side_branch = [[], [], [1], [2], [3], [1], [4]]

    assert assign_streams(side_branch, [1] * 7, AUTOMATIC) == [0] * 7


def test_automatically_as_much_as_the_longest_path_is_one_stream() -> None:
    width, depth = 12, 3
    definers: list[list[int]] = [[]]
    for _ in range(width):
        definers += [[], *([len(definers) + step] for step in range(depth - 1))]
    definers.append([1 + lane * depth + depth - 1 for lane in range(width)])
    assigned = assign_streams(definers, [1] * len(definers), AUTOMATIC)

    assert 1 < len(set(assigned)) <= width // 2 + 1


@pytest.mark.parametrize(("prefers_return", "expected"), [(True, 0), (False, 1)])
def test_an_operation_joins_the_return_or_the_costliest(
    prefers_return: bool, expected: int
) -> None:
    options = StreamOptions(1, prefers_return=prefers_return)
    start, *_ = assign_streams([[], [0], [0], [2], [1]], [1, 1, 5, 5, 1], options)

    assert start == expected


FOUR_LANES: list[list[int]] = [[], [], [], [], [], [1], [2], [3, 1], [4], []]
"""Four lanes, from 1, 2, 3, and 4; the one from 3 also needs the result of 1."""


@pytest.mark.parametrize(
    ("merges", "data_definers", "beside_the_first"),
    [(False, None, 2), (True, None, 3), (True, [*FOUR_LANES[:7], [3], *FOUR_LANES[8:]], 2)],
)
def test_cheap_streams_that_wait_for_data_of_each_other_are_merged_first_on_demand(
    merges: bool, data_definers: list[list[int]] | None, beside_the_first: int
) -> None:
    options = StreamOptions(4, merge_inter_dependent_streams=merges)
    assigned = assign_streams(FOUR_LANES, [1] * 10, options, data_definers)

    assert [lane for lane in (2, 3, 4) if assigned[lane] == assigned[1]] == [beside_the_first]


def test_no_operation_joins_a_stream_that_costs_the_upper_threshold() -> None:
    path: list[list[int]] = [[], [0], [1], [2], [3]]
    costs = [1, 8, 8, 8, 1]

    assert assign_streams(path, costs, StreamOptions(10)) == [0] * 5
    assert assign_streams(path, costs, StreamOptions(10, upper_cost_threshold=17)) == [
        1,
        1,
        0,
        0,
        0,
    ]


def test_the_attributes_of_the_function_win_over_those_of_the_module() -> None:
    text = """module attributes {tfrt.cost_threshold = 1 : i64} {
  func @f(%c: !tfrt.chain) attributes {tfrt.cost_threshold = 100 : i64} {
    "my.op"(%c) {_tfrt_cost = 5 : i64} : (!tfrt.chain) -> ()
    "my.op"(%c) {_tfrt_cost = 5 : i64} : (!tfrt.chain) -> ()
    tfrt.return
  }
}"""

    assert len(set(streams(text))) == 1
    assert streams(text.replace("attributes {tfrt.cost_threshold = 100 : i64} ", "")) == [0, 2, 1]


def test_a_threshold_of_nothing_is_the_automatic_one() -> None:
    text = """func @f(%c: !tfrt.chain) attributes {tfrt.cost_threshold = -1 : i64} {
  "my.op"(%c) : (!tfrt.chain) -> ()
  tfrt.return
}"""

    assert streams(text, CHEAP) == streams(text)


def test_a_long_function_takes_microseconds_per_operation() -> None:
    count = 50_000
    path = [[], *([number - 1] for number in range(1, count))]
    fan = [[], *([] for _ in range(1, count - 1)), list(range(1, count - 1))]

    assert set(assign_streams(path, [1] * count, AUTOMATIC)) == {0}
    assert len(assign_streams(fan, [1] * count, AUTOMATIC)) == count
