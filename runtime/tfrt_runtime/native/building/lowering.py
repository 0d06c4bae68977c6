"""Generate LLVM IR for the core with Numba.  Importing this module imports Numba.

`install` tells Numba which LLVM IR to emit for each function of `memory`, and lets functions marked
`native` call each other.  `collect` adds one function's IR to `COLLECTED`, exactly as Numba
generated it.  `TENSOR_OPERATIONS` has the LLVM IR of each function of `tensor_loops`: loops over
vectors, and calls to BLAS.  BLAS's C interface is described at https://www.netlib.org/blas/

By itself, Numba would link each function with all its callees, optimize the result, and generate
machine code.  `build` does all of this again for the whole core, so doing it per function would
more than double the build time.  `Pipeline` therefore runs only the Numba passes that the core
needs.

This module depends on Numba's internals (a library class, a calling convention, and
`get_executable`), so Numba is pinned to a minor version.  `install` changes Numba for the whole
process, so the process must not use Numba for anything else.

The core is compiled without the processor's widest registers and without automatic vectorization of
loops.  The vectorized loops are therefore written explicitly here.  LLVM splits each vector of 16
elements across as many registers as it needs.
"""

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numba
from llvmlite import ir
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import callconv, cgutils, codegen, cpu, typed_passes, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import register_jitable

from tfrt_runtime.native import memory

NUMBA_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "boundscheck": False,
    # Python's error model would check each division for 0, in order to raise an exception.
    "error_model": "numpy",
    # The rewrites only affect arrays, which the core does not use.
    "no_rewrites": True,
    # `build` generates the wrappers through which Python calls the entries.
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""The Numba passes that integer code without closures, arrays, or exceptions needs.

Numba has 20 passes in total.
"""

I64, I32, F64, F32, VOID = (
    ir.IntType(64),
    ir.IntType(32),
    ir.DoubleType(),
    ir.FloatType(),
    ir.VoidType(),
)
Emit = Callable[..., ir.Value | None]

# Linux's operations 0 and 1 with FUTEX_PRIVATE_FLAG: no other process uses the words.
FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE = 128, 129
CLOCK_MONOTONIC, CLOCK_PROCESS_CPU = 1, 2


class Pipeline(CompilerBase):
    """A Numba compiler that runs `PASSES`."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("native")  # type: ignore[no-untyped-call]
        for one in PASSES:
            passes.add_pass(one, one.__name__)  # type: ignore[no-untyped-call]
        passes.finalize()  # type: ignore[no-untyped-call]
        return [passes]


def pointer(builder: ir.IRBuilder, address: ir.Value, to: ir.Type = I64) -> ir.Value:
    """Return the address as a typed pointer."""
    return builder.inttoptr(address, to.as_pointer())


def external(builder: ir.IRBuilder, name: str, kind: ir.FunctionType) -> ir.Function:
    """Return the declaration of a function that `machines` or `threads` defines in LLVM IR."""
    known = builder.module.globals.get(name)
    return known if known is not None else ir.Function(builder.module, kind, name)


def compare_and_swap(
    builder: ir.IRBuilder, address: ir.Value, old: ir.Value, new: ir.Value
) -> ir.Value:
    # A swap that fails writes nothing, so acquire suffices for it.
    pair = builder.cmpxchg(pointer(builder, address), old, new, "acq_rel", "acquire")
    return builder.zext(builder.extract_value(pair, 1), I64)


def machine_call(name: str, returns: ir.Type = VOID) -> Emit:
    """Return an emitter of calls to `name`, a function that takes words (see `machines`)."""

    def emit(builder: ir.IRBuilder, *words: ir.Value) -> ir.Value:
        kind = ir.FunctionType(returns, [I64] * len(words))
        return builder.call(external(builder, name, kind), words)

    return emit


allocate_aligned = machine_call("tfrt_allocate", I64)


def allocate(builder: ir.IRBuilder, size: ir.Value) -> ir.Value | None:
    # Each cell starts on its own cache line, so the low bits of its address are free.
    return allocate_aligned(builder, ir.Constant(I64, 64), size)


def call_through(builder: ir.IRBuilder, function: ir.Value, *arguments: ir.Value) -> ir.Value:
    kind = ir.FunctionType(I64, [argument.type for argument in arguments])
    return builder.call(builder.inttoptr(function, kind.as_pointer()), list(arguments))


def call_for_f64(builder: ir.IRBuilder, function: ir.Value, first: ir.Value) -> ir.Value:
    kind = ir.FunctionType(F64, [I64])
    return builder.call(builder.inttoptr(function, kind.as_pointer()), [first])


def clock(builder: ir.IRBuilder, number: int) -> ir.Value:
    """Emit code that reads a clock; return the time in nanoseconds."""
    # Elsewhere, an `alloca` in a loop would use more of the stack in each iteration.
    with builder.goto_entry_block():
        time = builder.alloca(I64, 2)
    kind = ir.FunctionType(I32, [I32, I64.as_pointer()])
    builder.call(external(builder, "tfrt_read_clock", kind), [ir.Constant(I32, number), time])
    seconds = builder.load(time)
    nanoseconds = builder.load(builder.gep(time, [ir.Constant(I64, 1)]))
    return builder.add(builder.mul(seconds, ir.Constant(I64, 10**9)), nanoseconds)


def processor(builder: ir.IRBuilder) -> ir.Value:
    function = external(builder, "tfrt_processor", ir.FunctionType(I32, []))
    return builder.sext(builder.call(function, []), I64)


def futex(
    builder: ir.IRBuilder, address: ir.Value, operation: int, value: ir.Value, time: ir.Value
) -> None:
    kind = ir.FunctionType(I64, [I64] * 4)
    arguments = [address, ir.Constant(I64, operation), value, time]
    builder.call(external(builder, "tfrt_futex", kind), arguments)


def futex_wait(
    builder: ir.IRBuilder, address: ir.Value, expected: ir.Value, timeout: ir.Value
) -> ir.Value:
    with builder.goto_entry_block():
        time = builder.alloca(I64, 2)
    billion = ir.Constant(I64, 10**9)
    builder.store(builder.sdiv(timeout, billion), time)
    builder.store(builder.srem(timeout, billion), builder.gep(time, [ir.Constant(I64, 1)]))
    forever = builder.icmp_signed("<", timeout, ir.Constant(I64, 0))
    # Linux waits without a limit if the pointer to the time is null.
    limit = builder.select(forever, ir.Constant(I64, 0), builder.ptrtoint(time, I64))
    futex(builder, address, FUTEX_WAIT_PRIVATE, expected, limit)
    return ir.Constant(I64, 0)


def futex_wake(builder: ir.IRBuilder, address: ir.Value, count: ir.Value) -> ir.Value:
    futex(builder, address, FUTEX_WAKE_PRIVATE, count, ir.Constant(I64, 0))
    return ir.Constant(I64, 0)


def stack_room(builder: ir.IRBuilder) -> ir.Value:
    pointer_type = ir.FunctionType(ir.PointerType(), [])
    frame = builder.call(external(builder, "tfrt_frame", pointer_type), [])
    limit = builder.call(external(builder, "tfrtAsyncStackLimit", ir.FunctionType(I64, [])), [])
    return builder.sub(builder.ptrtoint(frame, I64), limit)


# Each row has the parameters, the result, and the code. The letter `i` means a word, and `f` a
# double.
OPERATIONS: dict[str, tuple[str, str, Emit]] = {
    "load": ("i", "i", lambda b, a: b.load(pointer(b, a))),
    "store": ("ii", "", lambda b, a, v: b.store(v, pointer(b, a))),
    "load_acquire": ("i", "i", lambda b, a: b.load_atomic(pointer(b, a), "acquire", 8)),
    "store_release": ("ii", "", lambda b, a, v: b.store_atomic(v, pointer(b, a), "release", 8)),
    "fetch_add": ("ii", "i", lambda b, a, v: b.atomic_rmw("add", pointer(b, a), v, "acq_rel")),
    "exchange": ("ii", "i", lambda b, a, v: b.atomic_rmw("xchg", pointer(b, a), v, "acq_rel")),
    "compare_and_swap": ("iii", "i", compare_and_swap),
    "fence": ("", "", lambda b: b.fence("seq_cst")),
    "load_i32": ("i", "i", lambda b, a: b.sext(b.load(pointer(b, a, I32)), I64)),
    "store_i32": ("ii", "", lambda b, a, v: b.store(b.trunc(v, I32), pointer(b, a, I32))),
    "load_f32": ("i", "f", lambda b, a: b.fpext(b.load(pointer(b, a, F32)), F64)),
    "store_f32": ("if", "", lambda b, a, v: b.store(b.fptrunc(v, F32), pointer(b, a, F32))),
    "load_f64": ("i", "f", lambda b, a: b.load(pointer(b, a, F64))),
    "store_f64": ("if", "", lambda b, a, v: b.store(v, pointer(b, a, F64))),
    "allocate": ("i", "i", allocate),
    "allocate_aligned": ("ii", "i", allocate_aligned),
    "release": ("i", "", machine_call("tfrt_release")),
    "discard": ("ii", "", machine_call("tfrt_discard")),
    "copy": ("iii", "", machine_call("tfrt_copy")),
    "clear": ("ii", "", machine_call("tfrt_clear")),
    "call1": ("ii", "i", call_through),
    "call2": ("iii", "i", call_through),
    "call3": ("iiii", "i", call_through),
    "call4": ("iiiii", "i", call_through),
    "call7": ("iiiiiiii", "i", call_through),
    "call_f64": ("if", "i", call_through),
    "call_for_f64": ("ii", "f", call_for_f64),
    "pause": ("", "", machine_call("tfrt_pause")),
    "now": ("", "i", lambda b: clock(b, CLOCK_MONOTONIC)),
    "ticks": ("", "i", machine_call("tfrt_ticks", I64)),
    "cpu_time": ("", "i", lambda b: clock(b, CLOCK_PROCESS_CPU)),
    "processor": ("", "i", processor),
    "futex_wait": ("iii", "i", futex_wait),
    "futex_wake": ("ii", "i", futex_wake),
    "thread_context": ("", "i", machine_call("tfrt_thread_context", I64)),
    "set_thread_context": ("i", "i", machine_call("tfrt_set_thread_context", I64)),
    "stack_room": ("", "i", stack_room),
    "bound_words": ("i", "i", machine_call("tfrt_bound_words", I64)),
    "wrapping_add": ("ii", "i", lambda b, x, y: b.add(x, y)),
}

NUMBA_TYPES = {"i": types.int64, "f": types.float64, "": types.void}


def install_operation(
    function: Callable[..., object], inputs: str, output: str, emit: Emit
) -> None:
    """Make Numba emit the IR of `emit` for each call of `function`.

    `inputs` and `output` have one letter per value, as in `NUMBA_TYPES`.  A Numba overload would
    instead compile to a separate function, with a call and checks at each use.
    """
    parameters = [NUMBA_TYPES[kind] for kind in inputs]

    class Template(ConcreteTemplate):
        key = function
        cases = (NUMBA_TYPES[output](*parameters),)

    def codegen(context: Any, builder: ir.IRBuilder, _: object, values: Sequence[ir.Value]) -> Any:
        value = emit(builder, *values)
        return context.get_dummy_value() if output == "" else value

    infer_global(function)(Template)  # type: ignore[no-untyped-call]
    lower_builtin(function, *parameters)(codegen)  # type: ignore[no-untyped-call]


def install() -> None:
    """Prepare this process's Numba to collect the IR of all functions marked `native` so far."""
    # Garbage collection would reduce the memory in use from 480 MB to 250 MB, but would take an
    # eighth of the build time.
    gc.disable()
    codegen.JITCPUCodegen._library_class = CollectingLibrary
    cpu.CPUContext.get_executable = executable  # type: ignore[method-assign]
    cpu.CPUContext.call_conv = property(DirectCalls)  # type: ignore[method-assign, assignment]
    for name, (inputs, output, emit) in OPERATIONS.items():
        install_operation(getattr(memory, name), inputs, output, emit)
    for function in memory.NATIVE.values():
        register_jitable(pipeline_class=Pipeline, **NUMBA_OPTIONS)(function)


COLLECTED: list[str] = []
"""The LLVM IR of the collected functions: one module per function."""


class CollectingLibrary(codegen.JITCodeLibrary):
    """The IR of one function, without its callees."""

    def add_ir_module(self, ir_module: ir.Module) -> None:
        COLLECTED.append(cgutils.normalize_ir_text(str(ir_module)))  # type: ignore[no-untyped-call]

    def add_linking_library(self, library: codegen.CodeLibrary) -> None:
        """Ignore callees, because each of them has its own library."""

    def finalize(self) -> None:
        self._finalized = True


class DirectCalls(callconv.MinimalCallConv):
    """The core's calling convention: a function returns its result.

    In Numba's own convention, a function returns a status and writes its result to the caller's
    memory.  That costs several instructions per call, keeps LLVM from making a function's last call
    a jump, and is of no use here, because no function of the core raises.
    """

    def get_function_type(self, restype: types.Type, argtypes: Sequence[types.Type]) -> Any:
        words = self.context.get_arg_packer(argtypes).argument_types
        kind = self.context.data_model_manager[restype].get_return_type()
        return ir.FunctionType(kind, list(words))

    def decorate_function(self, *_: object, **__: object) -> None:
        """Leave the parameters without names and attributes."""

    raise_error = decorate_function

    def get_arguments(self, func: ir.Function) -> Any:
        return func.args

    def return_value(self, builder: ir.IRBuilder, retval: ir.Value) -> None:
        builder.ret(retval)

    def return_status_propagate(self, builder: ir.IRBuilder, *_: object) -> None:
        builder.unreachable()

    return_user_exc = return_status_propagate

    def call_function(
        self,
        builder: ir.IRBuilder,
        callee: ir.Function,
        resty: types.Type,
        argtys: Sequence[types.Type],
        args: Sequence[ir.Value],
        **_: object,
    ) -> Any:
        words = self.context.get_arg_packer(argtys).as_arguments(builder, args)
        value = builder.call(callee, list(words))
        # Numba's callers check the status. This one is constant, so LLVM removes the check.
        status = self._get_return_status(  # type: ignore[no-untyped-call]
            builder, callconv.RETCODE_OK
        )
        return status, self.context.get_returned_value(builder, resty, value)


def executable(context: cpu.CPUContext, library: codegen.CodeLibrary, made: Any, env: Any) -> Any:
    """Return the Python function that represents a compiled function to Numba.

    The function is never called.  Numba uses it as a key, so each compiled function needs its own.
    """
    name = made.qualname.rpartition(".")[2]
    return _dynfunc.make_function(made.lookup_module(), name, "", 1, env, (library,))


def collect(function: Callable[..., object], words: int) -> tuple[str, str]:
    """Add to `COLLECTED` the IR of a function that takes `words` words and of all its callees.

    Return the function's name in the IR and the type of its result.
    """
    signature = (types.int64,) * words
    compiled = numba.njit(pipeline_class=Pipeline, **NUMBA_OPTIONS)(function)
    compiled.compile(signature)
    made = compiled.overloads[signature]
    result = made.target_context.data_model_manager[made.fndesc.restype].get_return_type()
    return made.fndesc.llvm_func_name, str(result)


LANES = 16

# CblasRowMajor, CblasNoTrans, and CblasTrans.
ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112


def wide(kind: ir.Type, lanes: int) -> ir.Type:
    """Return the type of a vector of `lanes` elements, or the element type itself for one lane."""
    return ir.VectorType(kind, lanes) if lanes > 1 else kind


def place(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, kind: ir.Type) -> ir.Value:
    """Return a pointer to element `index` of an array whose elements have 4 bytes."""
    offset = builder.shl(index, ir.Constant(I64, 2))
    return pointer(builder, builder.add(base, offset), kind)


def each(builder: ir.IRBuilder, count: ir.Value, body: Callable[[ir.Value, int], None]) -> None:
    """Emit a loop over `count` elements.

    The loop runs `body(index, 16)` for whole vectors, and `body(index, 1)` for the remaining
    elements.
    """
    zero, one, lanes = (ir.Constant(I64, number) for number in (0, 1, LANES))
    whole = builder.and_(count, ir.Constant(I64, -LANES))
    with cgutils.for_range_slice(builder, zero, whole, lanes, I64) as (index, _):
        body(index, LANES)
    with cgutils.for_range_slice(builder, whole, count, one, I64) as (index, _):
        body(index, 1)


def relu_f32s(builder: ir.IRBuilder, array: ir.Value, count: ir.Value) -> None:
    def body(index: ir.Value, lanes: int) -> None:
        kind = wide(F32, lanes)
        at = place(builder, array, index, kind)
        # Without `align`, LLVM would assume the alignment of a vector.
        number, zero = builder.load(at, align=4), ir.Constant(kind, None)
        # Ordered: a comparison with NaN is false, so NaN stays.
        is_below = builder.fcmp_ordered("<", number, zero)
        builder.store(builder.select(is_below, zero, number), at, align=4)

    each(builder, count, body)


def copy_words32(
    builder: ir.IRBuilder, target: ir.Value, source: ir.Value, count: ir.Value
) -> None:
    function = external(builder, "tfrt_copy", ir.FunctionType(ir.VoidType(), [I64, I64, I64]))
    builder.call(function, [target, source, builder.shl(count, ir.Constant(I64, 2))])


def exponential(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.call(external(builder, "exp", ir.FunctionType(F64, [F64])), [number])


def nearest_f32(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.fpext(builder.fptrunc(number, F32), F64)


def multiply_matrices(
    builder: ir.IRBuilder,
    function: ir.Value,
    rows: ir.Value,
    columns: ir.Value,
    inner: ir.Value,
    alpha: ir.Value,
    left: ir.Value,
    right: ir.Value,
    beta: ir.Value,
    target: ir.Value,
    right_step: ir.Value,
    target_step: ir.Value,
) -> None:
    words = [I32] * 3 + [I64] * 3 + [F32, I64, I64, I64, I64, F32, I64, I64]
    order = [ir.Constant(I32, number) for number in (ROW_MAJOR, AS_IT_IS, AS_IT_IS)]
    scale, keep = builder.fptrunc(alpha, F32), builder.fptrunc(beta, F32)
    operands = [scale, left, inner, right, right_step, keep, target, target_step]
    call(builder, function, words, [*order, rows, columns, inner, *operands])


def multiply_row(
    builder: ir.IRBuilder,
    function: ir.Value,
    columns: ir.Value,
    inner: ir.Value,
    alpha: ir.Value,
    left: ir.Value,
    right: ir.Value,
    beta: ir.Value,
    target: ir.Value,
) -> None:
    words = [I32] * 2 + [I64] * 2 + [F32, I64, I64, I64, I64, F32, I64, I64]
    # For one row, left @ right is right.T @ left.
    order = [ir.Constant(I32, number) for number in (ROW_MAJOR, TRANSPOSED)]
    scale, keep = builder.fptrunc(alpha, F32), builder.fptrunc(beta, F32)
    one = ir.Constant(I64, 1)
    operands = [scale, right, columns, left, one, keep, target, one]
    call(builder, function, words, [*order, inner, columns, *operands])


def call(
    builder: ir.IRBuilder, function: ir.Value, words: list[ir.Type], arguments: list[ir.Value]
) -> None:
    """Emit a call to the C function at address `function`, which returns nothing."""
    kind = ir.FunctionType(ir.VoidType(), words)
    builder.call(builder.inttoptr(function, kind.as_pointer()), arguments)


TENSOR_OPERATIONS: dict[str, tuple[str, str, Emit]] = {
    "relu_f32s": ("ii", "", relu_f32s),
    "copy_words32": ("iii", "", copy_words32),
    "exponential": ("f", "f", exponential),
    "nearest_f32": ("f", "f", nearest_f32),
    "multiply_matrices": ("iiiifiifiii", "", multiply_matrices),
    "multiply_row": ("iiifiifi", "", multiply_row),
}
