"""Test that each reference is dropped exactly once, whatever the control flow.

Counts are added to random functions with tokens in branches, loops, calls, and block arguments.
Then the functions are walked at random, with a count for each object.
"""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import cf, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.dialects.async_.runtime import RuntimeAddRefOp, RuntimeCreateOp, RuntimeDropRefOp
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.passes.counting.async_ref_counting import AsyncRuntimeRefCountingOpt
from tfrt_nb.passes.counting.async_runtime_ref_counting import AsyncRuntimeRefCounting
from tfrt_nb.source import parse_module

TOKEN = "!async.token"
MAX_STEPS = 300


def random_program(random: Random) -> str:
    """Return a function with a chain of blocks that branch forward and, sometimes, backward."""
    count = random.randint(1, 5)
    blocks = [_random_block(random, index, count) for index in range(count)]
    return f"""
func.func private @take({TOKEN})
func.func private @take_two({TOKEN}, {TOKEN})
func.func private @make() -> {TOKEN}
func.func @f(%c: i1, %a: {TOKEN}, %b: {TOKEN}) -> {TOKEN} {{
{"".join(blocks)}}}
"""


def _random_block(random: Random, index: int, count: int) -> str:
    # Use only the entry block's values and the block's own, because they dominate every use.
    visible = ["%a", "%b"]
    lines = [] if index == 0 else [f"^b{index}(%x{index}: {TOKEN}):"]
    if index > 0:
        visible.append(f"%x{index}")
    for number in range(random.randint(0, 4)):
        lines.append(_random_operation(random, visible, f"%n{index}_{number}"))
    lines.append(_random_terminator(random, visible, index, count))
    return "\n".join(lines) + "\n"


def _random_operation(random: Random, visible: list[str], name: str) -> str:
    value, other = random.choice(visible), random.choice(visible)
    match random.randrange(5):
        case 0:
            return f"  async.runtime.await {value} : {TOKEN}"
        case 1:
            return f"  func.call @take({value}) : ({TOKEN}) -> ()"
        case 2:
            return f"  func.call @take_two({value}, {other}) : ({TOKEN}, {TOKEN}) -> ()"
        case 3:
            visible.append(name)
            return f"  {name} = func.call @make() : () -> {TOKEN}"
        case _:
            return f'  "test.if"(%c) ({{ async.runtime.await {value} : {TOKEN} }}) : (i1) -> ()'


def _random_terminator(random: Random, visible: list[str], index: int, count: int) -> str:
    if index == count - 1:
        return f"  return {random.choice(visible)} : {TOKEN}"
    forwards = index + 1
    target = random.randint(1, count - 1)
    value, other = random.choice(visible), random.choice(visible)
    if random.random() < 0.3:
        return f"  cf.br ^b{forwards}({value} : {TOKEN})"
    return f"  cf.cond_br %c, ^b{forwards}({value} : {TOKEN}), ^b{target}({other} : {TOKEN})"


class Walk:
    """Runs a function with counts instead of objects, and a random choice for each condition."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.counts: dict[int, int] = {}
        self.objects: dict[SSAValue, int] = {}

    def run(self, function: func.FuncOp) -> bool:
        """Walk to the return; return False if that takes too long."""
        block: Block | None = function.body.blocks[0]
        for argument in function.args:
            if is_async(argument):
                self._make(argument)
        for _ in range(MAX_STEPS):
            if block is None:
                return True
            block = self._block(block)
        return False

    def _make(self, value: SSAValue) -> None:
        number = len(self.counts)
        self.counts[number], self.objects[value] = 1, number

    def _block(self, block: Block) -> Block | None:
        for op in block.ops:
            self._use(op)
            match op:
                case RuntimeAddRefOp():
                    self.counts[self.objects[op.operand]] += op.count.value.data
                case RuntimeDropRefOp():
                    self.counts[self.objects[op.operand]] -= op.count.value.data
                case func.CallOp():
                    for argument in op.arguments:
                        self.counts[self.objects[argument]] -= 1
                    for result in op.res:
                        self._make(result)
                case func.ReturnOp():
                    for argument in op.arguments:
                        self.counts[self.objects[argument]] -= 1
                    return None
                case cf.BranchOp() | cf.ConditionalBranchOp():
                    return self._branch(op)
        raise AssertionError("a block without a terminator")

    def _use(self, op: Operation) -> None:
        for operand in op.operands:
            if is_async(operand):
                assert self.counts[self.objects[operand]] > 0, "used after its last reference"

    def _branch(self, op: Operation) -> Block:
        edge = self.random.randrange(len(op.successors))
        target = op.successors[edge]
        passed = [self.objects[value] for value in branch_operands(op, edge)]
        self.objects.update(zip(target.args, passed, strict=True))
        return target


def counted(program: str, *, optimised: bool, share_exits: bool = False) -> ModuleOp:
    """Return the program with counts, and optionally without those that cancel out."""
    module = parse_module(program, "program")
    AsyncRuntimeRefCounting(share_exits).apply(Context(), module)
    if optimised:
        AsyncRuntimeRefCountingOpt().apply(Context(), module)
    module.verify()
    return module


@given(st.integers(min_value=0), st.booleans())
@settings(max_examples=100)
def test_every_reference_is_given_up_once_on_every_way(seed: int, optimised: bool) -> None:
    random = Random(seed)
    program = random_program(random)
    function = counted(program, optimised=optimised).body.block.last_op
    assert isinstance(function, func.FuncOp)

    for _ in range(8):
        walk = Walk(random)
        if walk.run(function):
            assert set(walk.counts.values()) <= {0}, program


def test_a_token_made_in_a_loop_is_counted_in_each_round() -> None:
    function = counted(
        f"""
func.func @f(%c: i1) {{
  cf.br ^loop
^loop:
  %t = async.runtime.create : {TOKEN}
  async.runtime.await %t : {TOKEN}
  cf.cond_br %c, ^loop, ^end
^end:
  return
}}""",
        optimised=False,
    ).body.block.last_op
    assert isinstance(function, func.FuncOp)

    drops = [op for op in function.walk() if isinstance(op, RuntimeDropRefOp)]

    assert [isinstance(op.operand.owner, RuntimeCreateOp) for op in drops] == [True]
    assert drops[0].parent is function.body.blocks[1]


class Failing:
    """A function that makes tokens, and fails at some of the places where it waits for them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ways_out: list[str] = []
        self.count = 0

    def make(self) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = func.call @make() : () -> {TOKEN}")
        return f"%t{self.count}"

    def wait(self, token: str) -> None:
        number = len(self.ways_out)
        self.lines += [
            f"  %e{number} = async.runtime.is_error {token} : {TOKEN}",
            f"  cf.cond_br %e{number}, ^failed{number}, ^go{number}",
            f"^go{number}:",
        ]
        self.ways_out.append(
            f"^failed{number}:\n  async.runtime.fail_from {token} : {TOKEN}\n  cf.br ^out\n"
        )

    def text(self) -> str:
        body = "\n".join([*self.lines, "  return"])
        return (
            f"func.func private @make() -> {TOKEN}\n"
            f"func.func @f(%c: i1) {{\n{body}\n{''.join(self.ways_out)}^out:\n  return\n}}\n"
        )


def sharing_exits(program: str, *, optimised: bool = False) -> func.FuncOp:
    """Return the function with counts; paths to an error share theirs."""
    module = counted(program, optimised=optimised, share_exits=True)
    function = module.body.block.last_op
    assert isinstance(function, func.FuncOp)
    return function


def random_failing_program(random: Random) -> str:
    failing = Failing()
    made = [failing.make() for _ in range(random.randint(1, 12))]
    for _ in range(random.randint(1, 25)):
        if random.random() < 0.3:
            made.append(failing.make())
        else:
            failing.wait(random.choice(made))
    return failing.text()


@given(st.integers(min_value=0), st.booleans())
@settings(max_examples=100)
def test_every_reference_is_given_up_once_where_ways_to_an_error_share(
    seed: int, optimised: bool
) -> None:
    random = Random(seed)
    program = random_failing_program(random)
    function = sharing_exits(program, optimised=optimised)

    for _ in range(30):
        walk = Walk(random)
        assert walk.run(function)
        assert set(walk.counts.values()) <= {0}, program


def drops(function: func.FuncOp) -> int:
    return sum(isinstance(op, RuntimeDropRefOp) for op in function.walk())


def test_what_many_ways_give_up_is_written_once() -> None:
    first_in_first_out, last_in_first_out = Failing(), Failing()
    for failing, step in ((first_in_first_out, 1), (last_in_first_out, -1)):
        for token in [failing.make() for _ in range(40)][::step]:
            failing.wait(token)

    # One on the normal path, and one where it fails.
    assert drops(sharing_exits(first_in_first_out.text())) <= 2 * 40
    assert drops(sharing_exits(last_in_first_out.text())) <= 2 * 40


def test_few_ways_out_stay_on_their_own() -> None:
    failing = Failing()
    for token in [failing.make() for _ in range(3)]:
        failing.wait(token)

    assert len(sharing_exits(failing.text()).body.blocks) == 1 + 2 * 3 + 1
