"""Convert hot functions of host programs to `func`, `arith`, and `scf`, and compile them.

    %r = tfrt.repeat.i32 %n, %x : i32 {       %ok = arith.cmpi sge, %n, %zero : i32
      %y = tfrt.add.i32 %x, %x                cf.assert %ok, "bails out"
      tfrt.return %y : i32              =>    %l, %r = scf.while (%i = %n, %z = %x) : ... {
    }                                           %more = arith.cmpi sgt, %i, %zero : i32
                                                scf.condition(%more) %i, %z : i32, i32
                                              } do {
                                              ^bb0(%i: i32, %z: i32):
                                                %y = arith.addi %z, %z : i32
                                                %less = arith.subi %i, %one : i32
                                                scf.yield %less, %y : i32, i32
                                              }

A function is hot if it has run often. It can be compiled if it contains only scalars, control flow,
and calls to other such functions. A chain becomes the number 0. A function that is called from only
one place is inlined there. The passes are the same as for async programs, so a failed assertion, a
full stack, or an interrupt ends the function and its callers. The machine code does not report the
reason: the executor repeats the call, and reports the error with its place (see
`native.calls.machine_calls`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.dialects.fast_ir import append, create
from tfrt_nb.jit.compiler import MachineCode, load, object_code
from tfrt_nb.jit.coroutines import lower_to_llvm
from tfrt_nb.jit.scalar_operations import TYPES, constant, emit, emit_operation
from tfrt_nb.passes.lowering.await_in_calls import PropagateFailures
from tfrt_nb.passes.lowering.convert_scf_to_cf import ConvertScfToCf
from tfrt_nb.passes.safety.guard_operations import GuardOperations
from tfrt_nb.passes.safety.interruptible_loops import InterruptibleLoops
from tfrt_runtime import scalars
from tfrt_runtime.bef.records import BefKernel
from tfrt_runtime.executor.machine import (
    CODE,
    LOOP,
    OPERATIONS,
    SCALARS,
    LoadedFunction,
    Uncompilable,
    is_known,
    register_type,
)
from tfrt_runtime.executor.machine import MAX_KERNELS as MAX_KERNELS_OF_ONE
from tfrt_runtime.kernels.registry import ControlKernel, NativeKernel
from tfrt_runtime.native import layouts as at

MAX_KERNELS = 4000
"""The maximum number of kernels in one module.

LLVM's compilation time grows faster than the code's size.
"""
MAX_NESTED = 30
"""The maximum nesting depth of inlined functions."""
_TYPES: dict[int, Attribute] = {number: TYPES[word] for number, word in SCALARS.items()}
_TYPES[at.TYPE_CHAIN] = i64
_PIPELINE = (
    # Only recursion needs this guard: `_Scope._operation` asserts that scalar operations do not
    # fail.
    GuardOperations(divisions=False, accesses=False, loops=False),
    InterruptibleLoops(),
    PropagateFailures(),
    ConvertScfToCf(),
)
_EQUAL, _GREATER, _AT_LEAST, _BELOW = (IntegerAttr(number, i64) for number in (0, 4, 5, 6))
_UNTYPED = StringAttr("bails out")


def compile_hot(
    functions: Mapping[int, LoadedFunction], index: int, *, is_body: bool
) -> MachineCode:
    """Compile a function and its callees to machine code; implements `HOOKS.compiler`."""
    module = convert(functions, index, is_body=is_body)
    for one in _PIPELINE:
        one.apply(Context(), module)
    return load(object_code(lower_to_llvm(module, attempts=True)), {})


def convert(functions: Mapping[int, LoadedFunction], index: int, *, is_body: bool) -> ModuleOp:
    """Return a module with the function `CODE`, from words to words, and `LOOP` if `is_body`.

    Raises:
        Uncompilable: if a kernel cannot be compiled. The error is about the first such kernel.
    """
    return _Module(functions, index, is_body=is_body).module


class _Module:
    """Builds a module, and converts each function when it is first called."""

    def __init__(
        self, functions: Mapping[int, LoadedFunction], index: int, *, is_body: bool
    ) -> None:
        self.functions = functions
        self.module = ModuleOp([])
        self._called: dict[int, None] = {}
        self._kernels = 0
        self.repeated = self._called_again(index, is_body=is_body)
        self._entry(CODE, index, is_loop=False)
        if is_body:
            self._entry(LOOP, index, is_loop=True)
        done = 0
        # Converting a function may add more callees.
        while done < len(self._called):
            callee = list(self._called)[done]
            done += 1
            arguments, results = self.types(callee)
            block = self._function(
                f"f{callee}", [_TYPES[one] for one in arguments], [_TYPES[one] for one in results]
            )
            append(block, func.ReturnOp(*_Scope(self, callee, block, block.args, 0).results()))

    def _called_again(self, index: int, *, is_body: bool) -> set[int]:
        """Return the functions that are called from more than one place.

        Each cycle of calls contains such a function, because it is called from within the cycle and
        from outside.
        """
        # The entry has one call from outside. If it is a body, `LOOP` also calls it.
        callers, pending = Counter({index: 1 + is_body}), [index]
        while pending:
            own = self.functions.get(pending.pop())
            for call in own.calls if own is not None else ():
                for callee in call.functions if call is not None else ():
                    if callee not in callers:
                        pending.append(callee)
                    callers[callee] += 1
        return {callee for callee, count in callers.items() if count > 1}

    def types(self, index: int) -> tuple[list[int], list[int]]:
        """Return the payload types of a function's arguments and results.

        Raises:
            Uncompilable: if a type is not a scalar, or if there are too many kernels.
        """
        if index not in self.functions:
            text = f"a function with more than {MAX_KERNELS_OF_ONE} kernels cannot be compiled"
            raise Uncompilable(text, index)
        own = self.functions[index].function
        for text in (*own.argument_types, *own.result_types):
            if register_type(text) not in _TYPES:
                raise Uncompilable(f"values of type {text} cannot be compiled", index)
        given, made = map(register_type, own.argument_types), map(register_type, own.result_types)
        return [*given], [*made]

    def count(self, index: int) -> None:
        """Add the kernels of a function to the module's total.

        Raises:
            Uncompilable: if the total is too large.
        """
        self._kernels += len(self.functions[index].function.kernels)
        if self._kernels > MAX_KERNELS:
            raise Uncompilable(f"it calls more than {MAX_KERNELS} kernels", index)

    def call(
        self, block: Block, index: int, values: Sequence[SSAValue], depth: int
    ) -> tuple[Block, list[SSAValue]]:
        """Call a function, or inline it here.

        Return the block in which the code continues, and the results.
        """
        if index not in self.repeated and depth < MAX_NESTED:
            return block, _Scope(self, index, block, values, depth + 1).results()
        self._called[index] = None
        callee, results = SymbolRefAttr(f"f{index}"), [_TYPES[one] for one in self.types(index)[1]]
        call = create(func.CallOp, values, results, {}, UNKNOWN_LOC, {"callee": callee})
        append(block, call)
        return block, [*call.results]

    def _function(
        self, name: str, arguments: Sequence[Attribute], results: Sequence[Attribute]
    ) -> Block:
        block = Block(arg_types=arguments)
        type_ = FunctionType.from_lists(arguments, results)
        visibility = StringAttr("public" if name in (CODE, LOOP) else "private")
        append(self.module.body.block, func.FuncOp(name, type_, Region(block), visibility))
        return block

    def _entry(self, name: str, index: int, *, is_loop: bool) -> None:
        """Convert the function that is called from outside, which takes and returns words."""
        arguments, results = self.types(index)
        if is_loop:
            results = arguments[:]
            # The body of `tfrt.while` has one more result, the next condition.
            is_counted = len(self.types(index)[1]) == len(arguments)
            arguments = [at.TYPE_I32 if is_counted else at.TYPE_I1, *arguments]
        block = self._function(name, [i64] * len(arguments), [i64] * len(results))
        given = [_from_word(block, *pair) for pair in zip(block.args, arguments, strict=True)]
        if is_loop:
            made = loop(self, block, index, given, 0)
        else:
            _, made = self.call(block, index, given, 0)
        words = [_to_word(block, *pair) for pair in zip(made, results, strict=True)]
        append(block, func.ReturnOp(*words))


class _Scope:
    """Converts the kernels of one function, and appends the operations to a block."""

    def __init__(
        self,
        module: _Module,
        index: int,
        block: Block,
        arguments: Sequence[SSAValue],
        depth: int,
    ) -> None:
        self._module, self._index, self._block, self._depth = module, index, block, depth
        self._source = module.functions[index]
        types, _ = module.types(index)
        module.count(index)
        self._values = dict(enumerate(zip(types, arguments, strict=True)))

    def results(self) -> list[SSAValue]:
        """Convert all kernels, and return the results of the function."""
        own = self._source.function
        for number, record in enumerate(own.kernels):
            if not is_known(self._source.kernels[number]):
                raise Uncompilable(f"'{record.name}' cannot be compiled", self._index, number)
        for register, one in self._source.constants.items():
            if one.payload_type in _TYPES:
                self._values[register] = (
                    one.payload_type,
                    self._constant(one.payload_type, one.first),
                )
        for number, record in enumerate(own.kernels):
            if self._source.calls[number] is not None:
                self._kernel(number, record)
        return self._read(own.result_registers, self._module.types(self._index)[1], None)

    def _constant(self, type_: int, word: int) -> SSAValue:
        if type_ in (at.TYPE_F32, at.TYPE_F64):
            # The word of a float constant contains the float's bits.
            return _from_word(self._block, constant(self._block, word, i64), type_)
        return constant(self._block, word, _TYPES[type_])

    def _read(
        self, registers: Sequence[int], types: Sequence[int], kernel: int | None
    ) -> list[SSAValue]:
        """Return the values in registers, which must have the given types."""
        values = []
        for register, type_ in zip(registers, types, strict=True):
            found, value = self._values.get(register, (-1, None))
            if found != type_ or value is None:
                raise Uncompilable(
                    "a value of another type cannot be compiled", self._index, kernel
                )
            values.append(value)
        return values

    def _kernel(self, number: int, record: BefKernel) -> None:
        kernel = self._source.kernels[number]
        if isinstance(kernel, ControlKernel):
            types, values = self._control(kernel, number, record)
        else:
            assert isinstance(kernel, NativeKernel)
            operation = OPERATIONS.get(kernel.symbol)
            if operation is None:
                # The only other known native kernel makes a chain; `is_known` rejects the rest.
                types, values = [at.TYPE_CHAIN], [constant(self._block, 0, i64)]
            else:
                types, values = self._operation(operation, number, record)
        self._values.update(zip(record.results, zip(types, values, strict=False), strict=False))

    def _operation(
        self, operation: scalars.Operation, number: int, record: BefKernel
    ) -> tuple[list[int], list[SSAValue]]:
        wanted, types = (
            [_NUMBERS[word] for word in words] for words in (operation.operands, operation.results)
        )
        values = self._read(record.arguments, wanted, number)
        operands = [*zip(operation.operands, values, strict=True)]
        block = self._block
        if operation.failure is not None:
            [fails] = emit_operation(block, operation.failure.when, operands, ["i1"])
            _assert(block, emit(block, arith.XOrIOp, (fails, constant(block, 1, i1)), i1))
        return types, emit_operation(block, operation.compute, operands, operation.results)

    def _control(
        self, kernel: ControlKernel, number: int, record: BefKernel
    ) -> tuple[list[int], list[SSAValue]]:
        name = kernel.symbol.rpartition(".")[2]
        call = self._source.calls[number]
        assert call is not None
        callee = call.functions[0]
        wanted, results = self._module.types(callee)
        # The first operand decides what to call: an i1, or an i32 for `case` and `repeat`. The
        # callee's arguments follow.
        first = {"call": [], "cond": [at.TYPE_I1], "while_loop": [at.TYPE_I1]}.get(
            name, [at.TYPE_I32]
        )
        if len(record.arguments) != len(first) + len(wanted):
            raise Uncompilable("a call with a different number of arguments", self._index, number)
        values = self._read(record.arguments, [*first, *wanted], number)
        if name == "call":
            return results, self._module.call(self._block, callee, values, self._depth)[1]
        if name in ("cond", "case"):
            types = [self._module.types(one) for one in call.functions]
            if types != types[:1] * len(types):
                raise Uncompilable("branches of different types", self._index, number)
            return results, self._branches(call.functions, values, results)
        return wanted, loop(self._module, self._block, callee, values, self._depth)

    def _branches(
        self, functions: Sequence[int], values: Sequence[SSAValue], results: Sequence[int]
    ) -> list[SSAValue]:
        """Convert `tfrt.cond`, whose first operand is an i1, or `tfrt.case`."""
        block, choice = self._block, values[0]
        regions = []
        for function in functions:
            inner = Block()
            _, made = self._module.call(inner, function, values[1:], self._depth)
            append(inner, scf.YieldOp(*made))
            regions.append(Region(inner))
        types = [_TYPES[one] for one in results]
        op: Operation
        if choice.type == i1:
            op = scf.IfOp(choice, types, regions[0], regions[1])
        else:
            # If the index has no branch, the machine code gives way to the executor.
            _assert(block, _compare(block, choice, len(functions), _BELOW))
            index = emit(block, arith.IndexCastOp, (choice,), IndexType())
            # The assertion leaves only index 0 without a case, so branch 0 is the default.
            cases = DenseArrayBase.from_list(i64, [*range(1, len(functions))])
            op = scf.IndexSwitchOp(index, cases, regions[0], regions[1:], types)
        append(block, op)
        return [*op.results]


def loop(
    module: _Module, block: Block, body: int, values: Sequence[SSAValue], depth: int
) -> list[SSAValue]:
    """Convert `tfrt.repeat`, whose first operand is an i32, or `tfrt.while`."""
    is_counted = values[0].type == i32
    if is_counted:
        _assert(block, _compare(block, values[0], 0, _AT_LEAST))
    types = [value.type for value in values]
    before, after = Block(arg_types=types), Block(arg_types=types)
    left = before.args[0]
    more = _compare(before, left, 0, _GREATER) if is_counted else left
    append(before, scf.ConditionOp(more, *before.args))
    _, made = module.call(after, body, after.args[1:], depth)
    if is_counted:
        following = emit(after, arith.SubiOp, (after.args[0], constant(after, 1, i32)), i32)
    else:
        # The last result of the body of `tfrt.while` is the next condition.
        following = made.pop()
    append(after, scf.YieldOp(following, *made))
    op = scf.WhileOp(values, types, [before], [after])
    append(block, op)
    return [*op.results[1:]]


def _compare(block: Block, value: SSAValue, number: int, predicate: IntegerAttr) -> SSAValue:
    operands = value, constant(block, number, value.type)
    return emit(block, arith.CmpiOp, operands, i1, predicate=predicate)


def _assert(block: Block, condition: SSAValue) -> None:
    append(block, create(cf.AssertOp, (condition,), (), {}, UNKNOWN_LOC, {"msg": _UNTYPED}))


_NUMBERS = {word: number for number, word in SCALARS.items()}


def _from_word(block: Block, word: SSAValue, type_: int) -> SSAValue:
    """Convert the payload word of an AsyncValue to a value."""
    match type_:
        case at.TYPE_F32:
            return emit(
                block, arith.BitcastOp, (emit(block, arith.TruncIOp, (word,), i32),), TYPES["f32"]
            )
        case at.TYPE_F64:
            return emit(block, arith.BitcastOp, (word,), f64)
    return word if _TYPES[type_] == i64 else emit(block, arith.TruncIOp, (word,), _TYPES[type_])


def _to_word(block: Block, value: SSAValue, type_: int) -> SSAValue:
    if type_ in (at.TYPE_F32, at.TYPE_F64):
        value = emit(block, arith.BitcastOp, (value,), i64 if type_ == at.TYPE_F64 else i32)
    if value.type == i64:
        return value
    return emit(block, arith.ExtSIOp if type_ in _SIGNED else arith.ExtUIOp, (value,), i64)


_SIGNED = (at.TYPE_I8, at.TYPE_I16, at.TYPE_I32)
