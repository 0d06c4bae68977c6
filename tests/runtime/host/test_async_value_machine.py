"""Test that AsyncValue keeps its guarantees in any order of calls."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.held_value import State


class AsyncValueMachine(RuleBasedStateMachine):
    """A concrete value and one that forwards to it, both with waiters."""

    def __init__(self) -> None:
        super().__init__()
        self.host = HostContext("s")
        queue = self.host.work_queue
        self.value = make_unavailable(queue, "i64")
        make = queue.process.quick.value_make_indirect
        self.indirect = AsyncValue(queue, make(queue.context()), "i64")
        self.expected: int | str | None = None
        self.is_forwarded = False
        self.asked: dict[AsyncValue, int] = {self.value: 0, self.indirect: 0}
        self.called: dict[AsyncValue, int] = {self.value: 0, self.indirect: 0}

    def teardown(self) -> None:
        # A waiter keeps its value alive while it waits.
        if self.expected is None:
            self.emplace(0)
        if not self.is_forwarded:
            self.forward()
        del self.value, self.indirect
        self.asked.clear()
        self.called.clear()
        left = self.host.live_values()
        self.host.close()
        assert left == 0

    def count(self, value: AsyncValue) -> None:
        self.called[value] += 1

    @rule(indirect=st.booleans())
    def wait(self, indirect: bool) -> None:
        value = self.indirect if indirect else self.value
        self.asked[value] += 1
        value.add_done_callback(self.count)

    @rule(number=st.integers(-(2**63), 2**63 - 1))
    @precondition(lambda self: self.expected is None)
    def emplace(self, number: int) -> None:
        self.value.emplace(number)
        self.expected = number

    @rule(message=st.text(max_size=5))
    @precondition(lambda self: self.expected is None)
    def set_error(self, message: str) -> None:
        self.value.set_error(error(message))
        self.expected = message

    @rule()
    @precondition(lambda self: not self.is_forwarded)
    def forward(self) -> None:
        queue, process = self.host.work_queue, self.host.work_queue.process
        process.quick.value_add_reference(self.value.address)
        entry = process.slow.value_forward
        entry(queue.context(), self.indirect.address, self.value.address)
        self.is_forwarded = True

    @rule()
    @precondition(lambda self: self.expected is not None)
    def resolving_again_is_refused(self) -> None:
        with pytest.raises(RuntimeError, match="can be resolved only once"):
            self.value.emplace(0)
        with pytest.raises(RuntimeError, match="can be resolved only once"):
            self.value.set_error(error("again"))

    @rule()
    @precondition(lambda self: self.expected is None)
    def waiting_runs_out_of_time(self) -> None:
        with pytest.raises(TimeoutError):
            self.value.result(0)

    @invariant()
    def reads_what_was_written(self) -> None:
        expected_state = {None: State.UNAVAILABLE, int: State.AVAILABLE, str: State.ERROR}
        state = expected_state[None if self.expected is None else type(self.expected)]
        assert self.value.state is state
        assert self.indirect.state is (state if self.is_forwarded else State.UNAVAILABLE)
        for value in (self.value, self.indirect):
            if value.done():
                assert outcome(value) == self.expected

    @invariant()
    def each_waiter_runs_once_and_only_after_the_value(self) -> None:
        for value, asked in self.asked.items():
            assert self.called[value] == (asked if value.done() else 0)


def outcome(value: AsyncValue) -> object:
    try:
        return value.result(0)
    except TfrtError as problem:
        return problem.diagnostics[0].message


TestAsyncValue = AsyncValueMachine.TestCase
TestAsyncValue.settings = settings(max_examples=60, stateful_step_count=25)
