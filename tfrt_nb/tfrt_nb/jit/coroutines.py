"""Lower async programs to LLVM IR with coroutine intrinsics.

The input is the output of `passes.pipeline.executable_pipeline`: functions whose blocks contain
runtime and coroutine operations, `arith`, `math` and `memref`. Each MLIR block becomes an LLVM
block, block arguments become phi instructions, and several results become a struct. The intrinsics
are described at https://llvm.org/docs/Coroutines.html.

A function called by kernels of host programs gets an adapter (`adapters`).

Each public function `f` gets a second entry point, `__packed_f`. It takes a pointer to an array
that has one pointer per argument, followed by one pointer per result. It returns whether the
function failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region

from tfrt_nb.dialects.async_.extensions import RuntimeStackIsLowOp
from tfrt_nb.dialects.async_.runtime import CoroFreeOp
from tfrt_nb.dialects.async_.upstream.branches import reachable_blocks
from tfrt_nb.jit import spawning
from tfrt_nb.jit.adapters import attempt_entry, has_buffers, kernel_adapter
from tfrt_nb.jit.declarations import Externals
from tfrt_nb.jit.function_body import LIVE_COUNTER, STACK_LIMIT, FunctionBody, ModuleText
from tfrt_nb.jit.llvm_types import UnsupportedType, llvm_type, signature
from tfrt_nb.jit.names import INTERRUPT_FLAG, global_symbol, plain_name
from tfrt_nb.jit.operations import arithmetic, async_runtime, buffers, control
from tfrt_nb.jit.operations.descriptors import METADATA
from tfrt_nb.jit.places import Places
from tfrt_nb.jit.runtime_calls import lower
from tfrt_nb.passes.control_flow import fail, split_edge, terminator_of
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE
from tfrt_nb.passes.lowering.coroutines import GIVEN_RESULTS, PRESPLIT
from tfrt_runtime.async_runtime.printing import BUFFER_PRINTERS

_LOWERINGS = {
    **arithmetic.LOWERINGS,
    **buffers.LOWERINGS,
    **control.LOWERINGS,
    **async_runtime.LOWERINGS,
    **spawning.LOWERINGS,
}

_RESUME = f"""\
define internal void {FunctionBody.resume}(ptr %handle) {{
  call void @llvm.coro.resume(ptr %handle)
  ret void
}}"""


def lower_to_llvm(
    module: ModuleOp,
    adapted: frozenset[str] = frozenset(),
    *,
    externals: Externals = MappingProxyType({}),
    quick: frozenset[str] = frozenset(),
    places: Places | None = None,
    attempts: bool = False,
) -> str:
    """Return the LLVM IR of the module.

    The function modifies the MLIR module by adding blocks on some edges.

    - `adapted` contains the functions that get an adapter.
    - `externals` contains the declared functions that Python implements.
    - `quick` contains the functions that should compile quickly rather than run fast.
    - With `places`, instructions record the operation from which they come.
    - `attempts` has the same meaning as in `ModuleText`.

    Raises:
        PassError: if an operation or a function cannot be compiled.
    """
    ops = list(module.body.block.ops)
    buffer_globals = [op for op in ops if isinstance(op, memref.GlobalOp)]
    functions = [op for op in ops if isinstance(op, func.FuncOp)]
    text = ModuleText(
        adapted,
        any(op.sym_name.data in adapted and has_buffers(op.function_type) for op in functions),
        constant_globals=frozenset(
            op.sym_name.data for op in buffer_globals if op.constant is not None
        ),
        fallible=frozenset(op.sym_name.data for op in functions if FALLIBLE in op.attributes),
        resolving=frozenset(op.sym_name.data for op in functions if GIVEN_RESULTS in op.attributes),
        defined=frozenset(op.sym_name.data for op in functions if not op.is_declaration),
        attempts=attempts,
        limited=frozenset(op.sym_name.data for op in functions if attempts or _compares_stack(op)),
        quick=quick,
        externals=externals,
        places=places,
    )
    definitions: list[str] = []
    if text.counts:
        text.globals.append(f"{LIVE_COUNTER} = internal global i64 0")
    for op in ops:
        match op:
            case func.FuncOp():
                definitions.extend(_lower_function(text, op))
            case memref.GlobalOp():
                buffers.lower_global(text, op)
            case _:
                fail(op, f"'{op.name}' cannot be compiled")
    if text.watches_interrupts:
        text.globals.append(f"{INTERRUPT_FLAG} = dso_local global ptr null")
    # `_RESUME` is fixed text, so no lowering declares the function that it calls.
    text.declare("llvm.coro.resume", "void", "ptr")
    constants = [
        f"{name} = private unnamed_addr constant {value}" for value, name in text.constants.items()
    ]
    declarations = [*text.declarations.values()]
    return "\n".join(
        [
            *constants,
            *text.globals,
            *declarations,
            _RESUME,
            *text.helpers.values(),
            *definitions,
            METADATA,
            *(() if places is None else (places.text(),)),
            "",
        ]
    )


def packed_name(symbol: str) -> str:
    """Return the name of the entry point through which the host calls function `symbol`."""
    return f"__packed_{plain_name(symbol)}"


def _lower_function(text: ModuleText, op: func.FuncOp) -> Iterator[str]:
    try:
        returns, parameters = signature(op.function_type)
    except UnsupportedType as error:
        fail(op, str(error))
    name = op.sym_name.data
    if op.is_declaration:
        # Calls to printers of buffers and to externals declare these functions with other types.
        if name not in BUFFER_PRINTERS and name not in text.externals:
            text.declare(name, returns, ", ".join(parameters))
        return
    yield _definition(text, op, returns)
    if op.sym_visibility is None or op.sym_visibility.data == "public":
        yield attempt_entry(text, op) if text.attempts else _packed(text, op, returns)
    if name in text.adapted:
        yield kernel_adapter(text, op)


def _definition(text: ModuleText, op: func.FuncOp, returns: str) -> str:
    _separate_edges(op.body)
    is_coroutine = op.attributes.get("passthrough") == PRESPLIT
    symbol = op.sym_name.data
    has_limit = symbol in text.limited
    # A coroutine also returns at each suspension, so it has finished only when it frees its frame.
    end = CoroFreeOp if is_coroutine else func.ReturnOp
    body = FunctionBody(
        text,
        looks_ahead=symbol not in text.quick,
        frees_buffers=buffers.has_frame_buffers(op),
        has_limit=has_limit,
    )
    debug = "" if text.places is None else text.places.function(op.sym_name.data, op)
    # A value gets its name at its definition, so blocks must come after their dominators.
    # Unreachable blocks are left out.
    for block in reachable_blocks(op.body):
        body.place = "" if text.places is None else text.places.of(op)
        body.start(block)
        if body.frees_buffers and block is op.body.blocks[0]:
            buffers.begin_buffers(body)
        for nested in block.ops:
            if body.frees_buffers and isinstance(nested, end):
                buffers.end_buffers(body)
            body.place = "" if text.places is None else text.places.of(nested)
            lower(body, nested, _LOWERINGS)
    parameters = body.typed_list(op.args)
    is_private = op.sym_visibility is not None and op.sym_visibility.data == "private"
    linkage = "internal " if is_private else ""
    attributes = "presplitcoroutine " if is_coroutine else ""
    if has_limit:
        # An endless recursion must reach the end of the stack, so LLVM must not turn it into an
        # endless loop.
        attributes += '"disable-tail-calls"="true" '
    # If all functions are quick, the level of the whole module takes care of that.
    if symbol in text.quick and text.quick != text.defined:
        attributes += "noinline optnone "
    begin = f"define {linkage}{returns} {text.function(symbol)}({parameters}) "
    content = body.text()
    if not has_limit:
        return f"{begin}{attributes}{debug}{{\n{content}\n}}"
    # The outermost call looks up the end of the stack, and recursive calls pass it on.
    limited = text.limited_function(symbol)
    arguments = ", ".join(filter(None, (parameters, f"ptr {STACK_LIMIT}")))
    definition = (
        f"define internal {returns} {limited}({arguments}) {attributes}{debug}{{\n{content}\n}}"
    )
    if text.attempts:
        return definition
    limit = f"{text.declare('tfrtAsyncStackLimit', 'ptr', '')}()"
    forward = _forward(returns, limited, arguments)
    return f"{begin}{{\n  {STACK_LIMIT} = call ptr {limit}\n{forward}}}\n{definition}"


def _forward(returns: str, name: str, arguments: str) -> str:
    """Return the text of a call to `name`, followed by a return of the call's result."""
    if returns == "void":
        return f"  call void {name}({arguments})\n  ret void\n"
    return f"  %result = call {returns} {name}({arguments})\n  ret {returns} %result\n"


def _compares_stack(op: func.FuncOp) -> bool:
    """Return whether a function, not a coroutine, starts with a check of the remaining stack."""
    if op.is_declaration or op.attributes.get("passthrough") == PRESPLIT:
        return False
    return any(isinstance(nested, RuntimeStackIsLowOp) for nested in op.body.blocks[0].ops)


def _separate_edges(region: Region) -> None:
    """Give each edge its own block if several edges between two blocks pass values.

    In LLVM, several edges between the same blocks cannot pass different values.
    """
    if region.first_block is region.last_block:
        return
    for block in list(region.blocks):
        targets = list(terminator_of(block).successors)
        for edge, target in enumerate(targets):
            if target.args and target in targets[:edge]:
                split_edge(terminator_of(block), edge)


def _packed(text: ModuleText, op: func.FuncOp, returns: str) -> str:
    """Return the text of the entry point of a public function.

    The entry point loads the arguments, calls the function, and stores the results. It returns the
    failure flag of a fallible function instead of storing it.
    """
    lines: list[str] = []

    def pointer(name: str, place: int) -> str:
        lines.append(f"  %{name}.place = getelementptr ptr, ptr %pointers, i64 {place}")
        lines.append(f"  %{name} = load ptr, ptr %{name}.place")
        return f"ptr %{name}"

    arguments = []
    for index, type_ in enumerate(op.function_type.inputs):
        parameter, place = llvm_type(type_), pointer(f"a{index}", index)
        lines.append(f"  %x{index} = load {parameter}, {place}, align 1")
        arguments.append(f"{parameter} %x{index}")
    call = f"call {returns} {text.function(op.sym_name.data)}({', '.join(arguments)})"
    lines.append(f"  {call}" if returns == "void" else f"  %r = {call}")
    outputs = op.function_type.outputs.data
    is_fallible = FALLIBLE in op.attributes
    names = ["%r"] if len(outputs) == 1 else [f"%r{index}" for index in range(len(outputs))]
    for index, (name, type_) in enumerate(zip(names, outputs, strict=True)):
        if len(outputs) > 1:
            lines.append(f"  {name} = extractvalue {returns} %r, {index}")
        if index >= is_fallible:
            place = pointer(f"p{index}", len(arguments) + index - is_fallible)
            lines.append(f"  store {llvm_type(type_)} {name}, {place}, align 1")
    lines.append(f"  ret i1 {names[0] if is_fallible else 'false'}")
    body = "\n".join(lines)
    return f"define i1 {global_symbol(packed_name(op.sym_name.data))}(ptr %pointers) {{\n{body}\n}}"
