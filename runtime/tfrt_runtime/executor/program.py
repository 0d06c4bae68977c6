"""A loaded BEF file, checked against a kernel registry and laid out for the executor."""

from __future__ import annotations

import functools
import weakref
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from tfrt_runtime.bef.attributes import String
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, DType, FunctionKind, collector_paused
from tfrt_runtime.diagnostics import (
    AnyLocation,
    Diagnostic,
    TfrtError,
    error,
    known_names,
    meant,
    note,
    place_of_caller,
)
from tfrt_runtime.executor.calls import (
    Entry,
    Registry,
    is_remote,
    registers_read_here,
    writer_of_argument,
)
from tfrt_runtime.executor.loading.decode import Arena, Call, Constant, FunctionWriter, Piece
from tfrt_runtime.executor.loading.native_functions import (
    PREFIX,
    runs_in_sync,
    with_bodies,
    with_sync_regions,
)
from tfrt_runtime.executor.loading.python_kernels import (
    Finish,
    plain_call,
    present_request,
    report,
    run_python_kernel,
)
from tfrt_runtime.executor.loading.resolve import PythonCall, Resolver, lazy_last
from tfrt_runtime.executor.loading.type_check import TypeCheck, types_of
from tfrt_runtime.executor.machine import LoadedFunction, MachineFunctions
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.process import KERNEL_BITS, native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.kernels.basic.benchmark_report import (
    BENCHMARK_NAME,
    benchmark_report,
    benchmark_samples,
)
from tfrt_runtime.kernels.frame import Function
from tfrt_runtime.kernels.registry import (
    CompiledKernel,
    ConstantKernel,
    ControlKernel,
    Kernel,
    NativeKernel,
    PythonKernel,
)
from tfrt_runtime.native.layouts import FUNCTION_HANDLE, FUNCTION_WORDS, KERNEL_RAW

if TYPE_CHECKING:
    from tfrt_runtime.host.tracing.events import Watch


MAX_ALIKE = 64
"""The maximum number of kernels in a function for which the loader searches for an equal one."""


class _Laid(NamedTuple):
    """A function whose words are already in the arena.

    For another function of the same shape, the loader copies these words.
    """

    source: LoadedFunction
    piece: Piece


class Executable:
    """A loaded file.  `functions` are its functions, in the file's order.

    The object lives at least as long as its runs do.  Destroying the object unloads the program.
    """

    def __init__(
        self,
        file: BefFile,
        registry: Registry,
    ) -> None:
        """Load a file.

        Raises:
            TfrtError: if the file uses kernels or native functions that do not exist, or uses them
                incorrectly.
        """
        self.file = file
        self.name_of: Callable[[int, int], str] = lambda function, register: ""
        """A function that returns the name of a function's register in the program's source, or "".
        """
        self.origin: Callable[[], object] = lambda: None
        """A function that returns the `Program` that was loaded, if it still exists."""
        self.captured: Sequence[object] = ()
        """The Python objects of `tfrt.captured` operations, by slot."""
        kinds = {function.kind for function in file.functions}
        has_sync, has_native = FunctionKind.SYNC in kinds, FunctionKind.NATIVE in kinds
        self._declared = with_sync_regions(file.functions) if has_sync else file.functions
        self.functions = with_bodies(self._declared, registry) if has_native else self._declared
        self._registry = registry
        self._compiled: dict[str, CompiledKernel] = {}
        self.prepares: dict[Callable[[Request], bool], None] = {}
        """Functions that must be called for a run.

        Each function returns whether it must be called again for the next run on the same host.
        """
        self.prepared_for: object = None
        """The `HostContext.identity` of the host on which runs need no calls of `prepares`."""
        self._process = native_process()
        self._python: dict[int, PythonCall] = {}
        self._carries = False
        """Whether a run may call Python, to run a kernel or to print."""
        self._entries: dict[str | int, Entry] = {}
        self.constants: list[Mapping[int, Constant]] = []
        """The constants of each function, by register.

        No kernel sets these registers at run time.
        """
        self._firsts = _first_kernels(file.functions, self.functions)
        self._finishers: list[Finish] = []
        """Objects that must be kept, because native code has their addresses."""
        self._base = -1
        self._base = self._process.add_owner(self)
        with collector_paused():
            self._load()

    def __del__(self) -> None:
        if getattr(self, "_base", -1) >= 0:
            self._process.remove_owner(self._base)

    def _load(self) -> None:
        arena = Arena()
        resolver = Resolver(
            self.file, self._declared, self._symbol, self._process.words.python_kernel
        )
        type_check = TypeCheck(self.file, self.functions)
        offsets = [arena.reserve(FUNCTION_WORDS) for _ in self.functions]
        self.machine = MachineFunctions(arena, self._symbol, self._base)
        shapes = [_shape(function) for function in self.functions]
        counts = Counter(shapes)
        known: dict[object, _Laid] = {}
        for index, (function, shape) in enumerate(zip(self.functions, shapes, strict=True)):
            first = self._firsts[index]
            handle = self._base + first
            if (like := known.get(shape)) is not None:
                source = replace(like.source, function=function, first_handle=handle, handle=index)
                moved = arena.repeat(like.piece, offsets[index], handle - like.source.first_handle)
                self.machine.repeat(like.source.handle, index, source, moved)
            else:
                mark = arena.mark
                used: dict[str, Kernel] = {}  # each name is looked up once
                for number, position in function.kernels.firsts.items():
                    if (name := function.kernels.shapes[number].name) not in used:
                        used[name] = self._find(function, function.kernels[position])
                function = lazy_last(function, used)
                kernels = [*map(used.__getitem__, function.kernels.each(attrgetter("name")))]
                calls, constants = self._resolve(resolver, function, used, first)
                unsure = {
                    number: self._checked(kernels[number], calls[number], function, number)
                    for number in type_check.check(function, kernels)
                }
                if unsure:
                    calls = [unsure.get(number, call) for number, call in enumerate(calls)]
                source = LoadedFunction(function, kernels, calls, constants, handle, index)
                self.machine.add(index, source, offsets[index])
                writer = FunctionWriter(
                    arena, function, constants, calls, handle, self._process.quick.decode
                )
                writer.write(offsets[index], offsets)
                is_repeated = shape is not None and counts[shape] > 1
                if is_repeated and not any(
                    isinstance(one, PythonKernel | CompiledKernel) for one in used.values()
                ):
                    piece = arena.piece(mark, offsets[index], FUNCTION_WORDS, writer.handles)
                    known[shape] = _Laid(source, piece)
            self.constants.append(source.constants)
        for index, offset in enumerate(offsets):
            arena.put(offset + FUNCTION_HANDLE, self._base + index)
        self._memory, base = arena.seal()
        self.machine.base = base
        self.addresses = [base + offset for offset in offsets]

    def _checked(
        self, kernel: Kernel, call: Call | None, function: BefFunction, number: int
    ) -> Call | None:
        """Return the call of a native kernel, with a check of its argument types if possible."""
        if call is None or call.data or call.flags:
            return call
        assert isinstance(kernel, NativeKernel)
        count = len(function.kernels[number].arguments)
        words = [SCALAR_TYPES[kernel.types[min(i, len(kernel.types) - 1)]] for i in range(count)]
        if not kernel.more:
            words[kernel.arguments :] = [0] * (count - kernel.arguments)
        data = (call.address, *words)
        return replace(call, address=self._symbol("scalar_kernels.run_checked"), data=data)

    def _symbol(self, name: str) -> int:
        return self._process.library[name]

    def _resolve(
        self,
        resolver: Resolver,
        function: BefFunction,
        used: Mapping[str, Kernel],
        number: int,
    ) -> tuple[Sequence[Call | None], dict[int, Constant]]:
        """Return the calls of a function's kernels and the function's constants, by register.

        A constant's call is None.
        """
        # A raw kernel gets AsyncValues, and a value may forward to a constant.
        are_observed = any(
            getattr(kernel, "flags", 0) & KERNEL_RAW or getattr(kernel, "raw", False)
            for kernel in used.values()
        )
        in_sync = function.kind is FunctionKind.SYNC
        read_here = registers_read_here(function, used)
        kernels = function.kernels
        # Kernels of the same shape have the same call, unless they are written in Python.
        shared: dict[int, Call | None] = {}
        fixed: dict[int, Constant] = {}
        calls: list[Call | None] = []
        for position, shape in enumerate(kernels.numbers):
            if shape in shared:
                calls.append(shared[shape])
                continue
            record = kernels[position]
            kernel = used[record.name]
            if isinstance(kernel, PythonKernel):
                types = (
                    types_of(function, record.arguments),
                    types_of(function, record.results),
                )
                all_names = function.attribute_names
                names = all_names[position] if all_names else None
                call, python_call = resolver.python(kernel, record, types, names)
                if kernel.remote and read_here.isdisjoint(record.results):
                    python_call = replace(python_call, is_read_here=False)
                self._python[number + position] = python_call
                if (plain := plain_call(python_call, types[0])) is not None:
                    words, finish = plain
                    address = self._symbol("python_functions.run")
                    call = replace(call, address=address, data=words)
                    self._finishers.append(finish)
                calls.append(call)
                continue
            if isinstance(kernel, ConstantKernel):
                constant = resolver.constant(kernel, record)
                shared[shape] = resolver.fresh_constant(constant) if are_observed else None
                if not are_observed:
                    fixed[shape] = constant
            else:
                shared[shape] = resolver.call(kernel, record, in_sync)
            calls.append(shared[shape])
            if isinstance(kernel, CompiledKernel):
                self._compiled[kernel.name] = kernel
                self.prepares[kernel.prepare] = None
        places = enumerate(kernels.numbers if fixed else ())
        results = kernels.starts[1]
        return calls, {results[place]: fixed[shape] for place, shape in places if shape in fixed}

    def _find(self, function: BefFunction, record: BefKernel) -> Kernel:
        kernel = self._registry.get(record.name)
        if kernel is None:
            raise self._unknown(function, record)
        self._carries |= isinstance(kernel, PythonKernel | CompiledKernel)
        in_sync = function.kind is FunctionKind.SYNC
        is_sync = kernel.sync and not isinstance(kernel, ControlKernel)
        if in_sync and not runs_in_sync(kernel) or is_sync and not in_sync:
            kinds = ("sync", "asynchronous") if is_sync else ("asynchronous", "sync")
            message = f"{kinds[0]} kernel '{record.name}' in {kinds[1]} function '{function.name}'"
            notes = self._twin(record, in_sync)
            raise TfrtError(error(message, self.file.location(record.location), notes))
        return kernel

    def _twin(self, record: BefKernel, in_sync: bool) -> list[Diagnostic]:
        """Return a note on the equivalent kernel for the other kind of function, or None.

        The two kinds are sync functions and all others.
        """
        first, dot, last = record.name.rpartition(".")
        twin = f"{first}_s{dot}{last}" if in_sync else f"{first.removesuffix('_s')}{dot}{last}"
        if twin == record.name or twin not in self._registry:
            return []
        place = self.file.location(record.location)
        kind = "a sync function" if in_sync else "a function without 'tfrt.sync'"
        return [note(f"in {kind} it is called '{twin}'", place)]

    def _unknown(self, function: BefFunction, record: BefKernel) -> TfrtError:
        if record.name.startswith(PREFIX):
            return TfrtError(
                error(
                    "invalid FunctionIndex section in BEF file: unable to find native function in"
                    f" global registry: {function.name}"
                )
            )
        place = self.file.location(record.location)
        advice = meant(record.name, self._registry, form="'{}'", cutoff=0.75)
        notes = [note(advice, place)] if advice else []
        return TfrtError(error(f"unknown kernel name '{record.name}'", place, notes))

    def entry(self, function: str | int) -> Entry:
        """Return a function in the form that Python can call, given the function's name or number.

        Equal arguments return the same object.

        Raises:
            TfrtError: if no function has that name.  The message lists the existing names.
        """
        found = self._entries.get(function)
        if found is None:
            index = self.function_index(function) if isinstance(function, str) else function
            called = self.functions[index]
            found = self._entries[function] = Entry(
                index,
                called.name,
                (called.argument_types, called.result_types),
                self.addresses[index],
                functools.partial(self.file.location, called.location),
                # The program holds its entries, so a strong reference would be a cycle.
                functools.partial(_described, weakref.ref(self)),
                functools.partial(writer_of_argument, self.functions, self._registry, index),
                functools.partial(is_remote, self.functions[index], self._registry),
                carries=self._carries,
            )
        return found

    def function_index(self, name: str) -> int:
        """Return the number of the function with the given name.

        Raises:
            TfrtError: if no function has that name.  The message lists the existing names.
        """
        for index, function in enumerate(self.functions):
            if function.name == name:
                return index
        known = known_names([f"@{function.name}" for function in self.functions if function.name])
        text = f"there is no function @{name}; {known}"
        raise TfrtError(error(text, place_of_caller()))

    def prepare(self, request: Request) -> None:
        """Prepare a run.  Compiled functions need a runtime on the run's host."""
        needs = [prepare(request) for prepare in self.prepares]
        self.prepared_for = None if any(needs) else request.host.identity

    def watch(self, request: Request, watch: Watch) -> None:
        """Let `watch` log the events of a run of this program."""
        registers = [max(one.register_count, 1) for one in self.functions]
        request.watch(watch, self._base >> KERNEL_BITS, registers)

    def location_of(self, number: int) -> AnyLocation:
        """Return the location of kernel `number`."""
        function, index = self._find_kernel(number)
        return self.file.location(function.kernels[index].location)

    def kernel_name(self, number: int) -> str:
        """Return the name of kernel `number`."""
        return self._kernel(number).name

    def function_name(self, handle: int) -> str:
        """Return the name of the function with the given handle, or "" for a kernel's region."""
        return self.functions[handle - self._base].name

    def watched_function(self, number: int) -> Callable[..., object] | None:
        """Return the user's function that kernel `number` calls on a worker, or None."""
        call = self._python.get(number)
        return None if call is None else call.kernel.watched

    def is_compiled(self, number: int) -> bool:
        """Return whether kernel `number` runs compiled code."""
        return self.kernel_name(number) in self._compiled

    def _kernel(self, number: int) -> BefKernel:
        function, index = self._find_kernel(number)
        return function.kernels[index]

    @functools.cached_property
    def _by_number(self) -> list[tuple[int, int, int]]:
        """The first kernel's number, the kernel count, and the index of each function, sorted."""
        indexed = enumerate(zip(self._firsts, self.functions, strict=True))
        return sorted((first, len(one.kernels), index) for index, (first, one) in indexed)

    def _find_kernel(self, number: int) -> tuple[BefFunction, int]:
        """Return the function of kernel `number`, and the kernel's index in that function."""
        # A tuple with one number sorts before all rows that start with that number, so the row
        # before it is the last one whose first kernel is `number` or an earlier kernel.
        place = bisect_left(self._by_number, (number + 1,)) - 1
        first, count, index = self._by_number[max(place, 0)]
        if not 0 <= number - first < count:
            raise IndexError(number)
        return self.functions[index], number - first

    def compile_hot(self, function: int) -> None:
        """Compile a hot function to machine code."""
        self.machine.compile(function)

    def bound(self, index: int, request: Request) -> Function:
        """Return function `index` in the form that kernels of a run can call."""
        own, address = self.functions[index], self.addresses[index]
        return Function(request, address, own.name, own.argument_types, own.result_types)

    def run_kernel(self, context: int, record: int, number: int) -> None:
        """Run a Python kernel."""
        run_python_kernel(context, self.bound, self._python[number])

    def report(self, context: int, record: int, number: int, message: int) -> int:
        """Return the error value for message number `message` of a native kernel."""
        return report(context, record, message, self.location_of(number))

    def print_value(self, context: int, number: int, value: int) -> None:
        """Print the report of kernel `number`.

        For a benchmark, `value` is the address of its state.  For a kernel that sleeps, `value` is
        the number of microseconds.
        """
        record = self._kernel(number)
        # Check the kernel, not its functions: a file may pass functions to a kernel that ignores
        # them.
        if isinstance(self._registry[record.name], ControlKernel):
            text = benchmark_report(self._benchmark_name(record), *benchmark_samples(value))
        else:
            text = f"Slept for {value} microseconds\n"
        present_request(context).output(text)

    def _benchmark_name(self, record: BefKernel) -> str:
        if len(record.attributes) <= BENCHMARK_NAME + 1:  # a sync benchmark has no name
            return self.functions[record.functions[0]].name
        name = self.file.attribute_reader.read(record.attributes[BENCHMARK_NAME], DType.STRING)
        assert isinstance(name, String)
        return name.text


def _first_kernels(declared: Sequence[BefFunction], functions: Sequence[BefFunction]) -> list[int]:
    """Return the number of each function's first kernel.

    The file's own kernels come first, then the bodies of native functions.
    """
    numbers = [0] * len(functions)
    count = 0
    for are_native in (False, True):
        for index, function in enumerate(functions):
            if (declared[index].kind is FunctionKind.NATIVE) is are_native:
                numbers[index] = count
                count += len(function.kernels)
    return numbers


def _shape(function: BefFunction) -> object:
    """Return a key that is equal for functions that differ only in names and locations.

    Return None for a function that must be laid out by itself.
    """
    if function.kind is not FunctionKind.ASYNC or len(function.kernels) > MAX_ALIKE:
        return None
    kernels = function.kernels
    return (
        function.argument_types,
        function.result_types,
        function.result_registers,
        id(kernels.shapes),
        kernels.numbers.tobytes(),
        kernels.arguments.tobytes(),
    )


def _described(reference: weakref.ref[Executable], function: int, argument: int) -> str:
    """Return the phrase that names an argument of a function in messages."""
    program = reference()
    name, of = "", ""
    if program is not None:
        name, of = program.name_of(function, argument), f" of @{program.functions[function].name}"
    return f"argument {argument + 1}{f' ({name})' if name else ''}{of}"
