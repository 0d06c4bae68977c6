"""The calling convention of host functions' machine code, and its checks whether to continue.

    define i64 @code(ptr %attempt)

takes its arguments from the words of an attempt (`native.layouts`, ATTEMPT_*), and stores its
results there. Each function of such a module gets the attempt where other modules pass the end of
the stack: the attempt has that end, and the fuel.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Operation

from tfrt_nb.jit.function_body import STACK_LIMIT, FunctionBody, ModuleText
from tfrt_nb.jit.llvm_types import result_type
from tfrt_nb.jit.names import global_symbol
from tfrt_nb.passes.lowering.propagate_failures import FALLIBLE
from tfrt_runtime.native import layouts as at

CHECK = 4
"""The fuel of an iteration or a call: most have some operations."""
_ASK = f"""\
define internal i1 @__asks_to_stop(ptr %attempt) noinline cold {{
  %ask.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ASK}
  %ask = load ptr, ptr %ask.place
  %fuel = call i64 %ask(ptr %attempt)
  %fuel.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_FUEL}
  store i64 %fuel, ptr %fuel.place
  %stops = icmp sle i64 %fuel, 0
  ret i1 %stops
}}"""


def burn_fuel(body: FunctionBody, op: Operation) -> None:
    """Lower `async.runtime.interrupt_is_pending`: true if the fuel is used up."""
    place = body.value(f"getelementptr i8, ptr {STACK_LIMIT}, i64 {at.ATTEMPT_FUEL}")
    left = body.value(f"sub i64 {body.value(f'load i64, ptr {place}')}, {CHECK}")
    body.emit(f"store i64 {left}, ptr {place}")
    body.bind(op.results[0], seldom(body, body.value(f"icmp slt i64 {left}, 0")))


def seldom(body: FunctionBody, condition: str) -> str:
    """Return a condition of which LLVM assumes that it does not hold."""
    return body.call("llvm.expect.i1", "i1", ("i1", condition), ("i1", "false"))


def ask_to_stop(body: FunctionBody, op: Operation) -> None:
    """Lower `async.runtime.is_interrupted`."""
    body.module.helpers["ask"] = _ASK
    body.set(op.results[0], f"call i1 @__asks_to_stop(ptr {STACK_LIMIT})")


def attempt_entry(module: ModuleText, op: func.FuncOp) -> str:
    """Return the function that an attempt calls, for a function from words to words."""
    name, outputs = op.sym_name.data, op.function_type.outputs.data
    is_fallible = FALLIBLE in op.attributes
    frame = module.declare("llvm.frameaddress.p0", "ptr", "i32")
    lines = [
        # The caller passes the room on the stack in this word; the code needs where it ends.
        f"%frame = call ptr {frame}(i32 0)",
        "%room = load i64, ptr %attempt",
        "%below = sub i64 0, %room",
        "%end = getelementptr i8, ptr %frame, i64 %below",
        "store ptr %end, ptr %attempt",
        f"%words.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ARGUMENTS}",
        "%words = load ptr, ptr %words.place",
    ]
    given = []
    for index in range(len(op.function_type.inputs.data)):
        lines.append(f"%a{index}.place = getelementptr i64, ptr %words, i64 {index}")
        lines.append(f"%a{index} = load i64, ptr %a{index}.place")
        given.append(f"i64 %a{index}")
    returns = result_type(outputs)
    arguments = ", ".join([*given, "ptr %attempt"])
    call = f"call {returns} {module.limited_function(name)}({arguments})"
    lines.append(f"%r = {call}" if outputs else call)
    for index in range(len(outputs)):
        is_one = len(outputs) == 1
        value = f"{returns} %r" if is_one else f"i64 %r{index}"
        if not is_one:
            lines.append(f"%r{index} = extractvalue {returns} %r, {index}")
        if index >= is_fallible:
            place = at.ATTEMPT_RESULTS + 8 * (index - is_fallible)
            lines.append(f"%p{index} = getelementptr i8, ptr %attempt, i64 {place}")
            lines.append(f"store {value}, ptr %p{index}")
    failed = "false" if not is_fallible else "%r" if len(outputs) == 1 else "%r0"
    lines += [f"%done = xor i1 {failed}, true", "%word = zext i1 %done to i64", "ret i64 %word"]
    body = "\n  ".join(lines)
    return f"define i64 {global_symbol(name)}(ptr %attempt) {{\n  {body}\n}}"
