"""Hot functions of host programs as machine code: scalars, calls of such functions and control
flow.

Each function of the file, its regions included, is a function of LLVM, which puts them into each
other.  A value is in a register; a chain is 0.  What is not ordinary goes to the block `out`, which
bails out: the limit of the stack becomes such that each call on the way back returns at once, and
each loop ends.  `native.calls.machine_calls` says what happens then.  So no call has to be asked
how it has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tfrt_nb.jit.compiler import MachineCode, load, object_code
from tfrt_nb.jit.scalar_operations import Lines, literal, lower
from tfrt_runtime import scalars
from tfrt_runtime.bef.records import BefKernel
from tfrt_runtime.executor.machine import LLVM_TYPES, Uncompilable, is_known
from tfrt_runtime.executor.machine import MAX_KERNELS as MAX_KERNELS_OF_ONE
from tfrt_runtime.executor.sync.sync_code import register_type
from tfrt_runtime.executor.sync.sync_lowering import SyncFunction
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.kernels.registry import ControlKernel, NativeKernel
from tfrt_runtime.native import layouts as at

MAX_KERNELS = 4000
"""What LLVM is given at once: its time grows faster than the code."""

_OPERATIONS = {f"scalar_kernels.{one.symbol}": one for one in scalars.OPERATIONS.values()}
_SEED = f"""
declare ptr @llvm.frameaddress.p0(i32)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.floor.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)

define internal void @bail_out(ptr %attempt) noinline cold {{
  store i64 -1, ptr %attempt
  ret void
}}

define internal i1 @goes_on(ptr %attempt) noinline cold {{
  %end = load i64, ptr %attempt
  %is.over = icmp eq i64 %end, -1
  br i1 %is.over, label %stop, label %ask
ask:
  %ask.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ASK}
  %function = load ptr, ptr %ask.place
  %fuel = call i64 %function(ptr %attempt)
  %fuel.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_FUEL}
  store i64 %fuel, ptr %fuel.place
  %has.fuel = icmp sgt i64 %fuel, 0
  br i1 %has.fuel, label %go, label %stop
go:
  ret i1 true
stop:
  ret i1 false
}}

; A recursion without end is an error: it must not become a loop.
attributes #0 = {{ "disable-tail-calls"="true" }}

!0 = !{{!"branch_weights", i32 1, i32 1000000}}
"""


def compile_hot(functions: Mapping[int, SyncFunction], index: int) -> MachineCode:
    """Machine code of a function and what it calls: `executor.machine.Compiler`."""
    return load(object_code(module_text(functions, index)), {})


def module_text(functions: Mapping[int, SyncFunction], index: int) -> str:
    """The module of a function and what it calls.

    Raises:
        Uncompilable: at the first kernel that cannot be machine code.
    """
    module = _Module(functions, _called_twice(functions, index))
    entry = module.entry(index)
    return "\n".join([_SEED, *module.written(), entry])


def _called_twice(functions: Mapping[int, SyncFunction], index: int) -> set[int]:
    """Functions that are called at more than one place, where function `index` is called once from
    outside.

    Each cycle of calls has one: it is called from within the cycle, and from where the cycle is
    entered.
    """
    callers, pending = Counter([index]), [index]
    while pending:
        own = functions.get(pending.pop())
        for call in own.calls if own is not None else ():
            for callee in call.functions if call is not None else ():
                if callee not in callers:
                    pending.append(callee)
                callers[callee] += 1
    return {callee for callee, count in callers.items() if count > 1}


class _Module:
    """Writes functions when they are first called."""

    def __init__(self, functions: Mapping[int, SyncFunction], called_twice: set[int]) -> None:
        self.functions = functions
        self.called_twice = called_twice
        self._called: dict[int, None] = {}

    def call(self, index: int) -> str:
        """A function's name."""
        self._called[index] = None
        return f"@f{index}"

    def types(self, index: int) -> tuple[list[int], list[int]]:
        """Payload types of arguments and results.

        Raises:
            Uncompilable: if it has other ones than scalars, or too many kernels.
        """
        if index not in self.functions:
            text = f"a function of more than {MAX_KERNELS_OF_ONE} kernels cannot be machine code"
            raise Uncompilable(text, index)
        own = self.functions[index].function
        for text in (*own.argument_types, *own.result_types):
            if register_type(text) not in LLVM_TYPES:
                raise Uncompilable(f"a value of type {text} cannot be machine code", index)
        arguments, results = (
            map(register_type, own.argument_types),
            map(register_type, own.result_types),
        )
        return [*arguments], [*results]

    def entry(self, index: int) -> str:
        """The function that is called from outside: from words to words."""
        arguments, results = self.types(index)
        lines = Lines()
        lines.add("%frame = call ptr @llvm.frameaddress.p0(i32 0)")
        lines.add("%top = ptrtoint ptr %frame to i64")
        lines.add("%room = load i64, ptr %attempt")
        lines.add("%end = sub i64 %top, %room")
        lines.add("store i64 %end, ptr %attempt")
        lines.add(f"%words.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ARGUMENTS}")
        lines.add("%words = load ptr, ptr %words.place")
        given = ["ptr %attempt"]
        for number, type_ in enumerate(arguments):
            place = lines.value(f"getelementptr i8, ptr %words, i64 {8 * number}")
            word = lines.value(f"load i64, ptr {place}")
            given.append(f"{LLVM_TYPES[type_]} {_from_word(lines, type_, word)}")
        made = lines.value(
            f"call fastcc {_returned(results)} {self.call(index)}({', '.join(given)})"
        )
        for number, (type_, value) in enumerate(
            zip(results, _parts(lines, results, made), strict=True)
        ):
            place = lines.value(
                f"getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_RESULTS + 8 * number}"
            )
            lines.add(f"store i64 {_to_word(lines, type_, value)}, ptr {place}")
        end = lines.value("load i64, ptr %attempt")
        done = lines.value(f"icmp ne i64 {end}, -1")
        lines.add(f"ret i64 {lines.value(f'zext i1 {done} to i64')}")
        return "define i64 @entry(ptr %attempt) {\n" + "\n".join(lines.lines) + "\n}\n"

    def written(self) -> list[str]:
        """The functions that are called."""
        texts: dict[int, str] = {}
        kernels = 0
        while pending := [index for index in self._called if index not in texts]:
            for index in pending:
                kernels += len(self.functions[index].function.kernels)
                if kernels > MAX_KERNELS:
                    raise Uncompilable(f"it calls more than {MAX_KERNELS} kernels", index)
                texts[index] = _Function(self, index).text()
        return list(texts.values())


class _Function:
    """Writes one function."""

    def __init__(self, module: _Module, index: int) -> None:
        self._module, self._index = module, index
        self._source = module.functions[index]
        self._lines = Lines()
        self._values: dict[int, tuple[int, str]] = {}
        """Payload type and name, by register."""

    def text(self) -> str:
        """The function."""
        lines = self._lines
        arguments, results = self._module.types(self._index)
        for number, type_ in enumerate(arguments):
            self._values[number] = type_, f"%a{number}"
        own = self._source.function
        for number, record in enumerate(own.kernels):
            if not is_known(self._source.kernels[number]):
                reason = f"'{record.name}' cannot be machine code"
                raise Uncompilable(reason, self._index, number)
        for register, constant in self._source.constants.items():
            type_ = constant.payload_type
            if type_ in LLVM_TYPES:
                self._values[register] = type_, _constant(lines, type_, constant.first)
        lines.lines.insert(0, "begin:")
        lines.block = "begin"
        # A region is part of a function, or of a loop; but a file may have one that calls itself.
        if own.name or self._index in self._module.called_twice:
            frame = lines.value("call ptr @llvm.frameaddress.p0(i32 0)")
            end = lines.value("load ptr, ptr %attempt")
            is_deep = lines.value(f"icmp ult ptr {frame}, {end}")
            fits = lines.name()
            lines.add(f"br i1 {is_deep}, label %out, label %{fits}, !prof !0")
            lines.start(fits)
            self._burn(len(own.kernels) + 1)
        for number in self._order():
            self._kernel(number, own.kernels[number])
        returned = self._read(own.result_registers, results, None)
        lines.add(f"ret {_returned(results)} {_packed(lines, results, returned)}")
        lines.start("out")
        lines.add("call void @bail_out(ptr %attempt)")
        lines.add(f"ret {_returned(results)} zeroinitializer")
        given = ", ".join(
            ["ptr %attempt"] + [f"{LLVM_TYPES[type_]} %a{i}" for i, type_ in enumerate(arguments)]
        )
        head = f"define internal fastcc {_returned(results)} @f{self._index}({given}) #0 {{"
        return "\n".join([head, *lines.lines, "}\n"])

    def _order(self) -> list[int]:
        """The kernels that run, each behind those that it takes values of."""
        kernels = self._source.function.kernels
        makers = {register: i for i, one in enumerate(kernels) for register in one.results}
        order: dict[int, None] = {}
        for start in range(len(kernels)):
            pending = [start]
            while pending:
                number = pending[-1]
                before = [
                    makers[register]
                    for register in kernels[number].arguments
                    if register in makers and makers[register] not in order
                ]
                if number in order or not before:
                    order[pending.pop()] = None
                else:
                    pending += before
        return [number for number in order if self._source.calls[number] is not None]

    def _burn(self, kernels: int) -> None:
        """Count kernels, and ask now and then whether to go on."""
        lines = self._lines
        place = lines.value(f"getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_FUEL}")
        fuel = lines.value(f"load i64, ptr {place}")
        left = lines.value(f"sub i64 {fuel}, {kernels}")
        lines.add(f"store i64 {left}, ptr {place}")
        is_empty = lines.value(f"icmp slt i64 {left}, 0")
        ask, go = lines.name(), lines.name()
        lines.add(f"br i1 {is_empty}, label %{ask}, label %{go}, !prof !0")
        lines.start(ask)
        more = lines.value("call i1 @goes_on(ptr %attempt)")
        lines.add(f"br i1 {more}, label %{go}, label %out")
        lines.start(go)

    def _read(
        self, registers: Sequence[int], types: Sequence[int], kernel: int | None
    ) -> list[str]:
        """Values as operands of known types."""
        values = []
        for register, type_ in zip(registers, types, strict=True):
            found, value = self._values.get(register, (-1, ""))
            if found != type_:
                raise Uncompilable(
                    "a value of another type cannot be machine code", self._index, kernel
                )
            values.append(value)
        return values

    def _kernel(self, number: int, record: BefKernel) -> None:
        kernel = self._source.kernels[number]
        if isinstance(kernel, ControlKernel):
            types, values = self._control(kernel, number, record)
        else:
            assert isinstance(kernel, NativeKernel)
            operation = _OPERATIONS.get(kernel.symbol)
            if operation is None:
                types, values = [at.TYPE_CHAIN], ["0"]
            else:
                wanted = [SCALAR_TYPES[word] for word in operation.operands]
                operands = self._read(record.arguments, wanted, number)
                types = [SCALAR_TYPES[word] for word in operation.results]
                values = lower(self._lines, operation, operands, "out")
        for register, type_, value in zip(record.results, types, values, strict=False):
            self._values[register] = type_, value

    def _call(self, index: int, values: Sequence[str]) -> list[str]:
        arguments, results = self._module.types(index)
        given = ["ptr %attempt"]
        given += [
            f"{LLVM_TYPES[type_]} {value}" for type_, value in zip(arguments, values, strict=True)
        ]
        callee = f"{_returned(results)} {self._module.call(index)}({', '.join(given)})"
        return _parts(self._lines, results, self._lines.value(f"call fastcc {callee}"))

    def _control(
        self, kernel: ControlKernel, number: int, record: BefKernel
    ) -> tuple[list[int], list[str]]:
        name = kernel.symbol.rpartition(".")[2]
        call = self._source.calls[number]
        assert call is not None
        wanted, results = self._module.types(call.functions[0])
        first = {"call": [], "cond": [at.TYPE_I1], "while_loop": [at.TYPE_I1]}.get(
            name, [at.TYPE_I32]
        )
        if len(record.arguments) != len(first) + len(wanted):
            raise Uncompilable("a call with another number of arguments", self._index, number)
        values = self._read(record.arguments, [*first, *wanted], number)
        match name:
            case "call":
                return results, self._call(call.functions[0], values)
            case "cond" | "case":
                return results, self._branches(call.functions, values, results, number)
            case "repeat":
                return wanted, self._repeat(call.functions[0], values, wanted)
            case _:
                return wanted, self._while(call.functions[0], values, wanted)

    def _branches(
        self, functions: Sequence[int], values: Sequence[str], results: list[int], number: int
    ) -> list[str]:
        """`tfrt.cond`, whose first value is an i1, and `tfrt.case`."""
        lines = self._lines
        starts, end = [lines.name() for _ in functions], lines.name()
        if any(self._module.types(one) != self._module.types(functions[0]) for one in functions):
            raise Uncompilable("branches of different types", self._index, number)
        kernel = self._source.kernels[number]
        if isinstance(kernel, ControlKernel) and kernel.symbol.endswith("cond"):
            lines.add(f"br i1 {values[0]}, label %{starts[0]}, label %{starts[1]}")
        else:
            cases = " ".join(f"i32 {i}, label %{label}" for i, label in enumerate(starts))
            lines.add(f"switch i32 {values[0]}, label %out [ {cases} ]")
        ways = []
        for label, function in zip(starts, functions, strict=True):
            lines.start(label)
            ways.append((self._call(function, values[1:]), lines.block))
            lines.add(f"br label %{end}")
        lines.start(end)
        return [
            lines.value(
                f"phi {LLVM_TYPES[type_]} "
                + ", ".join(f"[ {made[i]}, %{block} ]" for made, block in ways)
            )
            for i, type_ in enumerate(results)
        ]

    def _repeat(self, body: int, values: Sequence[str], types: Sequence[int]) -> list[str]:
        lines, ordinary = self._lines, self._lines.name()
        is_negative = lines.value(f"icmp slt i32 {values[0]}, 0")
        lines.add(f"br i1 {is_negative}, label %out, label %{ordinary}, !prof !0")
        lines.start(ordinary)
        loop = _Loop(lines, ["i32", *(LLVM_TYPES[one] for one in types)], values)
        left, *old = loop.now
        self._step(loop, lines.value(f"icmp sgt i32 {left}, 0"), body)
        new = self._call(body, old)
        loop.again([lines.value(f"sub i32 {left}, 1"), *new[: len(old)]])
        return old

    def _while(self, body: int, values: Sequence[str], types: Sequence[int]) -> list[str]:
        loop = _Loop(self._lines, ["i1", *(LLVM_TYPES[one] for one in types)], values)
        holds, *old = loop.now
        self._step(loop, holds, body)
        new = self._call(body, old)
        loop.again([new[len(old)], *new[: len(old)]])
        return old

    def _step(self, loop: _Loop, goes_on: str, body: int) -> None:
        """Begin an iteration if there is one."""
        iteration = self._lines.name()
        self._lines.add(f"br i1 {goes_on}, label %{iteration}, label %{loop.end}")
        self._lines.start(iteration)
        self._burn(len(self._module.functions[body].function.kernels) + 1)


class _Loop:
    """A loop whose values are in registers: `now` are those of an iteration."""

    def __init__(self, lines: Lines, types: Sequence[str], values: Sequence[str]) -> None:
        self._lines, self._types, self._values, self._before = lines, types, values, lines.block
        self.end = lines.name()
        self._head = lines.name()
        lines.add(f"br label %{self._head}")
        lines.start(self._head)
        self.now = [f"%{lines.name()}" for _ in types]
        self._place = len(lines.lines)

    def again(self, values: Sequence[str]) -> None:
        """The end of an iteration, with the values of the next one; what follows is behind the
        loop.
        """
        lines = self._lines
        lines.add(f"br label %{self._head}")
        lines.lines[self._place : self._place] = [
            f"  {name} = phi {type_} [ {first}, %{self._before} ], [ {value}, %{lines.block} ]"
            for name, type_, first, value in zip(
                self.now, self._types, self._values, values, strict=True
            )
        ]
        lines.start(self.end)


def _returned(types: Sequence[int]) -> str:
    if len(types) == 1:
        return LLVM_TYPES[types[0]]
    return "{ " + ", ".join(LLVM_TYPES[one] for one in types) + " }"


def _packed(lines: Lines, types: Sequence[int], values: Sequence[str]) -> str:
    if len(types) == 1:
        return values[0]
    whole = "zeroinitializer"
    for i, (type_, value) in enumerate(zip(types, values, strict=True)):
        whole = lines.value(
            f"insertvalue {_returned(types)} {whole}, {LLVM_TYPES[type_]} {value}, {i}"
        )
    return whole


def _parts(lines: Lines, types: Sequence[int], whole: str) -> list[str]:
    if len(types) == 1:
        return [whole]
    return [lines.value(f"extractvalue {_returned(types)} {whole}, {i}") for i in range(len(types))]


def _from_word(lines: Lines, type_: int, word: str) -> str:
    """A value from the word that its AsyncValue has as payload."""
    if type_ == at.TYPE_F64:
        return lines.value(f"bitcast i64 {word} to double")
    if type_ == at.TYPE_F32:
        half = lines.value(f"trunc i64 {word} to i32")
        return lines.value(f"bitcast i32 {half} to float")
    if LLVM_TYPES[type_] == "i64":
        return word
    return lines.value(f"trunc i64 {word} to {LLVM_TYPES[type_]}")


def _to_word(lines: Lines, type_: int, value: str) -> str:
    if type_ == at.TYPE_F64:
        return lines.value(f"bitcast double {value} to i64")
    if type_ == at.TYPE_F32:
        half = lines.value(f"bitcast float {value} to i32")
        return lines.value(f"zext i32 {half} to i64")
    if LLVM_TYPES[type_] == "i64":
        return value
    name = "zext" if type_ == at.TYPE_I1 else "sext"
    return lines.value(f"{name} {LLVM_TYPES[type_]} {value} to i64")


def _constant(lines: Lines, type_: int, word: int) -> str:
    if type_ in (at.TYPE_F32, at.TYPE_F64):
        return _from_word(lines, type_, str(word))
    bits = 64 if type_ == at.TYPE_CHAIN else int(LLVM_TYPES[type_][1:])
    return literal(scalars.wrapped(word, bits)) if bits > 1 else str(word & 1)
