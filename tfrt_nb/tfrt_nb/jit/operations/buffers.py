"""Lower `memref` to LLVM instructions on descriptors.

A view is a new descriptor, not a copy of the elements. A new buffer is contiguous, and its elements
follow its header; see `tfrt_runtime.native.coroutines.async_buffers`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    NoneAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeIsLiveOp,
    RuntimeIsWritableOp,
)
from tfrt_nb.dialects.async_.upstream.arithmetic import AtomicRMWOp
from tfrt_nb.dialects.async_.upstream.buffers import kept_dimensions
from tfrt_nb.jit.function_body import FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import array_literal, llvm_type, size_of
from tfrt_nb.jit.names import global_symbol
from tfrt_nb.jit.operations.descriptors import (
    IS_ELEMENT,
    IS_HEADER,
    Layout,
    allocated_pointer,
    buffer_type,
    contiguous_strides,
    dead_handle,
    descriptor,
    element_address,
    header_of,
    layout_of,
    narrowed,
    sizes_of,
    static_handle,
    stride_of,
    widened,
)
from tfrt_nb.jit.runtime_calls import same
from tfrt_nb.passes.buffers.guard_buffers import ALIGNMENT, alignment_of, is_on_heap, root
from tfrt_nb.passes.control_flow import fail, integer_of, operations_in
from tfrt_runtime.diagnostics import counted
from tfrt_runtime.native.layouts import BLOCK_ELEMENTS, HANDLE_CONSTANT, HANDLE_SHIFT

_LAST_BUFFER = "%buffers"


def _allocate(body: FunctionBody, op: memref.AllocOp | memref.AllocaOp) -> None:
    type_ = buffer_type(op.memref, op)
    sizes = _numbers(body, type_.get_shape(), op.dynamic_sizes)
    strides, count = contiguous_strides(body, sizes)
    size = body.value(f"mul i64 {count}, {size_of(llvm_type(type_.element_type))}")
    alignment = alignment_of(op)
    if isinstance(op, memref.AllocaOp) and not is_on_heap(op):
        handle = static_handle(body)
        array = f"[{math.prod(type_.get_shape())} x {llvm_type(type_.element_type)}]"
        # An allocation in the first block gets the same memory each time, and lets LLVM use
        # registers.
        elements = body.first(f"alloca {array}, align {alignment}")
        # Zeroing costs nothing if LLVM can prove that the program writes each element before
        # reading it.
        zeros = ("ptr", elements), ("i8", "0"), ("i64", size), ("i1", "false")
        body.call("llvm.memset.p0.i64", "void", *zeros)
    else:
        if alignment > ALIGNMENT:
            # A new buffer is aligned to ALIGNMENT, so its elements move by at most this number of
            # bytes.
            size = body.value(f"add i64 {size}, {alignment - ALIGNMENT}")
        # The handle is the pointer itself, with mark bits, so that LLVM may assume that no other
        # pointer leads to a new buffer.
        if isinstance(op, memref.AllocOp):
            handle = body.call("tfrtAsyncNewBuffer", "noalias ptr", ("i64", size))
        else:
            place = ("ptr", _LAST_BUFFER)
            handle = body.call("tfrtAsyncNewFrameBuffer", "noalias ptr", ("i64", size), place)
        elements = body.value(
            f"getelementptr i8, ptr {header_of(body, handle)}, i64 {BLOCK_ELEMENTS}"
        )
        if alignment > ALIGNMENT:
            # Round the address up: move to the last candidate, and then clear the low bits.
            last = body.value(f"getelementptr i8, ptr {elements}, i64 {alignment - ALIGNMENT}")
            arguments = ("ptr", last), ("i64", str(-alignment))
            elements = body.call("llvm.ptrmask.p0.i64", "ptr", *arguments)
    body.bind(op.memref, descriptor(body, Layout(handle, elements, "0", sizes, strides)))


def has_frame_buffers(op: func.FuncOp) -> bool:
    """Return whether a function must free buffers from `memref.alloca`, which are on the heap."""
    return any(type(o) is memref.AllocaOp and is_on_heap(o) for o in operations_in(op))


def begin_buffers(body: FunctionBody) -> None:
    """Start an empty list of the buffers that the function must free."""
    body.emit(f"{_LAST_BUFFER} = alloca ptr")
    body.emit(f"store ptr null, ptr {_LAST_BUFFER}")


def end_buffers(body: FunctionBody) -> None:
    """Free the listed buffers at the end of the function."""
    last = body.value(f"load ptr, ptr {_LAST_BUFFER}")
    body.call("tfrtAsyncFreeFrameBuffers", "void", ("ptr", last))


def _free(body: FunctionBody, buffer: SSAValue) -> str:
    """Free a buffer, and return the name of a bit that says whether the buffer could be freed."""
    return body.call("tfrtAsyncFreeBuffer", "i1", ("ptr", allocated_pointer(body, buffer)))


def _is_live(body: FunctionBody, op: RuntimeIsLiveOp) -> None:
    handle = allocated_pointer(body, op.buffer)
    # The load is atomic, because another thread may write the word. It is unordered, so that LLVM
    # may merge several checks.
    header = header_of(body, handle)
    generation = body.value(f"load atomic i64, ptr {header} unordered, align 8{IS_HEADER}")
    bits = body.value(f"ptrtoint ptr {handle} to i64")
    expected = body.value(f"lshr i64 {bits}, {HANDLE_SHIFT}")
    is_live = body.value(f"icmp eq i64 {generation}, {expected}")
    body.bind(op.result, body.call("llvm.expect.i1", "i1", ("i1", is_live), ("i1", "true")))


def _dealloc(body: FunctionBody, op: memref.DeallocOp) -> None:
    _free(body, op.memref)


def _is_writable(body: FunctionBody, op: RuntimeIsWritableOp) -> None:
    bits = body.value(f"ptrtoint ptr {allocated_pointer(body, op.buffer)} to i64")
    mark = body.value(f"and i64 {bits}, {HANDLE_CONSTANT}")
    body.set(op.result, f"icmp eq i64 {mark}, 0")


def _load(body: FunctionBody, op: memref.LoadOp) -> None:
    address = element_address(body, op, op.memref, op.indices)
    set_ = body.set_frozen if may_be_undefined(op.memref) else body.set
    set_(op.res, f"load {llvm_type(op.res.type)}, ptr {address}{IS_ELEMENT}")


def may_be_undefined(buffer: SSAValue) -> bool:
    """Return whether a program may load an element of this buffer, as LLVM sees it, before a store.

    That is possible only for a buffer in the frame. It is impossible if the buffer has only one
    element and the next operation that uses the buffer stores that element.
    """
    op = root(buffer).owner
    if not isinstance(op, memref.AllocaOp):
        return False
    users = {use.operation for use in op.memref.uses}
    following = op.next_op
    while following is not None and following not in users:
        following = following.next_op
    is_whole = not buffer_type(op.memref, op).get_shape()
    return not (is_whole and isinstance(following, memref.StoreOp))


def _store(body: FunctionBody, op: memref.StoreOp) -> None:
    address = element_address(body, op, op.memref, op.indices)
    body.emit(f"store {body.typed(op.value)}, ptr {address}{IS_ELEMENT}")


def _dim(body: FunctionBody, op: memref.DimOp) -> None:
    is_unranked = isinstance(op.source.type, UnrankedMemRefType)
    sizes = sizes_of(body, op.source) if is_unranked else layout_of(body, op.source, op).sizes
    dimension = integer_of(op.index)
    check_dimension(op, len(sizes), dimension)
    if dimension is not None:
        body.bind(op.result, sizes[dimension])
        return
    chosen = sizes[0]
    for number, size in enumerate(sizes[1:], start=1):
        is_it = body.value(f"icmp eq {body.typed(op.index)}, {number}")
        chosen = body.value(f"select i1 {is_it}, i64 {size}, i64 {chosen}")
    body.bind(op.result, chosen)


def check_dimension(op: Operation, rank: int, dimension: int | None) -> None:
    """Reject a dimension that a buffer of this rank does not have.

    `dimension` is None if it is known only at run time.
    """
    if not rank or (dimension is not None and not 0 <= dimension < rank):
        fail(op, f"the buffer has only {counted(rank, 'dimension')}")


def _rank(body: FunctionBody, op: Operation) -> None:
    buffer = op.operands[0]
    if isinstance(buffer.type, UnrankedMemRefType):
        body.bind(op.results[0], body.value(f"extractvalue {body.typed(buffer)}, 0"))
    else:
        body.bind(op.results[0], str(len(buffer_type(buffer, op).get_shape())))


def _copy(body: FunctionBody, op: memref.CopyOp) -> None:
    source, target = layout_of(body, op.source, op), layout_of(body, op.destination, op)
    types = buffer_type(op.source, op), buffer_type(op.destination, op)
    if not all(isinstance(type_.layout, NoneAttr) for type_ in types):
        _copy_elements(body, llvm_type(types[0].element_type), source, target)
        return
    _, count = contiguous_strides(body, source.sizes)
    size = body.value(f"mul i64 {count}, {size_of(llvm_type(types[0].element_type))}")
    arguments = ("ptr", target.aligned), ("ptr", source.aligned), ("i64", size), ("i1", "false")
    # Both operands may be the same buffer, so a `memcpy` would be undefined.
    body.call("llvm.memmove.p0.p0.i64", "void", *arguments)


def _copy_elements(body: FunctionBody, element: str, source: Layout, target: Layout) -> None:
    """Copy elements one by one, in a helper function for buffers of this rank."""
    rank = len(source.sizes)
    name = global_symbol(f"__copy.{rank}.{element}")
    body.module.helpers[name] = _copying_function(name, rank, element)
    pointers = [
        body.value(f"getelementptr {element}, ptr {one.aligned}, i64 {one.offset}")
        for one in (source, target)
    ]
    numbers = [*source.sizes, *source.strides, *target.strides]
    arguments = [f"ptr {one}" for one in pointers] + [f"i64 {one}" for one in numbers]
    body.emit(f"call void {name}({', '.join(arguments)})")


def _copying_function(name: str, rank: int, element: str) -> str:
    """Return the text of a function with nested loops that copies elements.

    The block `check.k` tests whether loop k has another index, and `next.k` advances to it.
    """
    parameters = ["ptr %from.0", "ptr %to.0"]
    parameters += [f"i64 %{one}.{k}" for one in ("size", "step", "stride") for k in range(rank)]
    lines = [f"define internal void {name}({', '.join(parameters)}) {{", "start:"]
    for k in range(rank):
        before = f"body.{k - 1}" if k else "start"
        end = f"next.{k - 1}" if k else "done"
        lines += [
            f"  br label %check.{k}",
            f"check.{k}:",
            f"  %i.{k} = phi i64 [ 0, %{before} ], [ %more.{k}, %next.{k} ]",
            f"  %go.{k} = icmp slt i64 %i.{k}, %size.{k}",
            f"  br i1 %go.{k}, label %body.{k}, label %{end}",
            f"body.{k}:",
        ]
        for pointer, stride in (("from", "step"), ("to", "stride")):
            lines += [
                f"  %{pointer}.at.{k} = mul i64 %i.{k}, %{stride}.{k}",
                f"  %{pointer}.{k + 1} = getelementptr {element}, ptr %{pointer}.{k}"
                + f", i64 %{pointer}.at.{k}",
            ]
    lines += [
        f"  %element = load {element}, ptr %from.{rank}",
        f"  store {element} %element, ptr %to.{rank}",
        f"  br label %{f'next.{rank - 1}' if rank else 'done'}",
    ]
    for k in range(rank):
        lines += [
            f"next.{k}:",
            f"  %more.{k} = add i64 %i.{k}, 1",
            f"  br label %check.{k}",
        ]
    return "\n".join([*lines, "done:", "  ret void", "}"])


def _get_global(body: FunctionBody, op: memref.GetGlobalOp) -> None:
    type_ = buffer_type(op.memref, op)
    sizes = [str(size) for size in type_.get_shape()]
    strides = [stride_of(body, op.memref, type_, dimension) for dimension in range(len(sizes))]
    symbol = op.name_.root_reference.data
    handle = static_handle(body, is_constant=symbol in body.module.constant_globals)
    body.bind(op.memref, descriptor(body, Layout(handle, global_name(symbol), "0", sizes, strides)))


def global_name(symbol: str) -> str:
    """Return the name of the LLVM global that holds the elements of a `memref.global`."""
    return global_symbol(f".global.{symbol}")


def lower_global(module: ModuleText, op: memref.GlobalOp) -> None:
    """Define the LLVM global that holds the elements of a global buffer."""
    type_ = f"[{math.prod(op.type.get_shape())} x {llvm_type(op.type.element_type)}]"
    value = "zeroinitializer"
    if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
        value = array_literal(op.initial_value)
    kind = "constant" if op.constant is not None else "global"
    name = global_name(op.sym_name.data)
    module.globals.append(f"{name} = internal {kind} {type_} {value}, align {ALIGNMENT}")


_ATOMIC_INSTRUCTIONS = {
    "addf": "fadd",
    "addi": "add",
    "assign": "xchg",
    "maxs": "max",
    "maxu": "umax",
    "mins": "min",
    "minu": "umin",
    "ori": "or",
    "andi": "and",
    "xori": "xor",
    "maximumf": "fmaximum",
    "maxnumf": "fmax",
    "minimumf": "fminimum",
    "minnumf": "fmin",
}


def _atomic(body: FunctionBody, op: AtomicRMWOp) -> None:
    check_atomic(op, op.value.type, op.operation)
    pointer = element_address(body, op, op.memref, op.indices)
    operand, instruction = body.typed(op.value), _ATOMIC_INSTRUCTIONS[op.operation]
    body.set(op.result, f"atomicrmw {instruction} ptr {pointer}, {operand} acq_rel")


def _compare_exchange(body: FunctionBody, op: RuntimeCompareExchangeOp) -> None:
    pointer = element_address(body, op, op.buffer, op.indices)
    type_, bits = llvm_type(op.found.type), _bits_of(op.found.type)
    check_atomic(op, op.found.type)
    operands = [body.name(op.expected), body.name(op.desired)]
    if type_ != f"i{bits}":
        operands = [body.value(f"bitcast {type_} {one} to i{bits}") for one in operands]
    expected, desired = operands
    pair = body.value(
        f"cmpxchg ptr {pointer}, i{bits} {expected}, i{bits} {desired} acq_rel acquire"
    )
    found = body.value(f"extractvalue {{ i{bits}, i1 }} {pair}, 0")
    if type_ != f"i{bits}":
        found = body.value(f"bitcast i{bits} {found} to {type_}")
    body.bind(op.found, found)
    body.set(op.is_done, f"extractvalue {{ i{bits}, i1 }} {pair}, 1")


def check_atomic(op: Operation, type_: Attribute, kind: str = "assign") -> None:
    """Reject an atomic operation that the processor cannot do, because of its kind or its type."""
    if kind not in _ATOMIC_INSTRUCTIONS:
        fail(op, f"'{kind}' cannot be done atomically")
    if _bits_of(type_) not in _ATOMIC_WIDTHS:
        fail(op, f"'{type_}' cannot be updated atomically")


_ATOMIC_WIDTHS = (8, 16, 32, 64)


def _bits_of(type_: Attribute) -> int:
    """Return the number of bits of a number's type, or 0 for other types."""
    if isinstance(type_, IntegerType | AnyFloat):
        return type_.bitwidth
    return 64 if isinstance(type_, IndexType) else 0


def _numbers(body: FunctionBody, static: Iterable[int], dynamic: Sequence[SSAValue]) -> list[str]:
    """Return the operands for a list such as `[1, %n, 3]`."""
    names = map(body.name, dynamic)
    return [next(names) if number == DYNAMIC_INDEX else str(number) for number in static]


def _times(body: FunctionBody, left: str, right: str) -> str:
    if "1" in (left, right):
        return right if left == "1" else left
    return "0" if "0" in (left, right) else body.value(f"mul i64 {left}, {right}")


def _plus(body: FunctionBody, left: str, right: str) -> str:
    if "0" in (left, right):
        return right if left == "0" else left
    return body.value(f"add i64 {left}, {right}")


def _subview(body: FunctionBody, op: memref.SubviewOp) -> None:
    source, target = layout_of(body, op.source, op), buffer_type(op.result, op)
    offsets = _numbers(body, op.static_offsets.get_values(), op.offsets)
    sizes = _numbers(body, op.static_sizes.get_values(), op.sizes)
    steps = _numbers(body, op.static_strides.get_values(), op.strides)
    offset = source.offset
    for start, stride in zip(offsets, source.strides, strict=True):
        offset = _plus(body, offset, _times(body, start, stride))
    strides = [_times(body, a, b) for a, b in zip(steps, source.strides, strict=True)]
    kept = kept_dimensions(op.static_sizes.get_values(), target.get_shape())
    if kept is None:
        fail(op, "the sizes differ from those of the result")
    layout = Layout(
        source.allocated,
        source.aligned,
        offset,
        [sizes[one] for one in kept],
        [strides[one] for one in kept],
    )
    body.bind(op.result, descriptor(body, layout))


def _extract_strided_metadata(body: FunctionBody, op: memref.ExtractStridedMetaDataOp) -> None:
    source = layout_of(body, op.source, op)
    handle = source.allocated
    for size in source.sizes:
        if not size.isdigit() or size == "0":  # a base buffer has one element
            is_empty = body.value(f"icmp eq i64 {size}, 0")
            handle = body.value(f"select i1 {is_empty}, ptr {dead_handle(body)}, ptr {handle}")
    body.bind(op.base_buffer, descriptor(body, Layout(handle, source.aligned, "0", [], [])))
    body.bind(op.offset, source.offset)
    for results, numbers in ((op.sizes, source.sizes), (op.strides, source.strides)):
        for result, number in zip(results, numbers, strict=True):
            body.bind(result, number)


def _cast(body: FunctionBody, op: memref.CastOp) -> None:
    source, target = op.source.type, op.dest.type
    if isinstance(target, UnrankedMemRefType):
        body.bind(op.dest, widened(body, op.source, op))
    elif isinstance(source, UnrankedMemRefType):
        body.bind(op.dest, descriptor(body, narrowed(body, op.source, len(target.get_shape()))))
    else:
        same(body, op)


LOWERINGS: dict[str, Lowering] = {
    memref.AssumeAlignmentOp.name: same,
    memref.CastOp.name: _cast,
    memref.ExtractAlignedPointerAsIndexOp.name: lambda body, op: body.set(
        op.results[0], f"ptrtoint ptr {layout_of(body, op.operands[0], op).aligned} to i64"
    ),
    memref.ExtractStridedMetaDataOp.name: _extract_strided_metadata,
    memref.MemorySpaceCastOp.name: same,
    memref.SubviewOp.name: _subview,
    memref.AllocOp.name: _allocate,
    memref.AllocaOp.name: _allocate,
    memref.DeallocOp.name: _dealloc,
    RuntimeFreeBufferOp.name: lambda body, op: body.bind(op.result, _free(body, op.buffer)),
    RuntimeIsLiveOp.name: _is_live,
    RuntimeIsWritableOp.name: _is_writable,
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    AtomicRMWOp.name: _atomic,
    RuntimeCompareExchangeOp.name: _compare_exchange,
    memref.DimOp.name: _dim,
    memref.RankOp.name: _rank,
    memref.CopyOp.name: _copy,
    memref.GetGlobalOp.name: _get_global,
}
