"""Turn a file's kernels into records, and reject calls that a kernel cannot run.

Attributes are read as the types that their kernel declares, either with type words
(`kernels.registry`) or with a function's annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from tfrt_runtime.bef.attributes import Dense
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind, Kernels
from tfrt_runtime.diagnostics import AnyLocation, TfrtError, counted, error
from tfrt_runtime.executor.loading.decode import Call, Constant
from tfrt_runtime.executor.loading.type_check import (
    KINDS_OF,
    Symbols,
    WrongKind,
    kind_text,
    read_as_stored,
    read_word,
    signatures,
)
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.kernels.registry import (
    REQUIRED,
    CompiledKernel,
    ConstantKernel,
    ControlKernel,
    Kernel,
    KernelError,
    Keyword,
    NativeKernel,
    PythonKernel,
)
from tfrt_runtime.kernels.users.annotations import mismatch, with_arrays
from tfrt_runtime.native import layouts as at

Read = TypeVar("Read")


@dataclass(frozen=True)
class PythonCall:
    """The data that Python needs to run one call of a Python kernel."""

    file: BefFile
    kernel: PythonKernel
    record: BefKernel
    attributes: tuple[object, ...]
    result_types: tuple[str, ...]
    order: tuple[int, ...] = ()
    """The kernel parameter of each operand of the record.

    The tuple is empty if every operand is awaited.
    """
    is_read_here: bool = True
    """Whether any kernel that is not remote uses one of the results."""

    # Reading a location takes as long as a small kernel, so it is read on first use.

    @cached_property
    def location(self) -> AnyLocation:
        """The place in the source from which the call comes, for error messages."""
        return self.file.location(self.record.location)

    @cached_property
    def debug_info(self) -> str | None:
        """The name of the call's location, if it has one."""
        return self.file.debug_info(self.record.location)


class Resolver:
    """Resolves the kernels of one file."""

    def __init__(
        self,
        file: BefFile,
        functions: Sequence[BefFunction],
        symbols: Symbols,
        python_kernel: int,
    ) -> None:
        """Resolve kernels of `functions`, whose kinds the loader has determined."""
        self._file = file
        self._functions = functions
        self._signatures = signatures(functions)
        self._symbols = symbols
        self._python_kernel = python_kernel
        self._controls: dict[tuple[object, ...], Call] = {}
        """Calls of control kernels without attributes, which differ only in the functions."""

    def constant(self, kernel: ConstantKernel, record: BefKernel) -> Constant:
        """Return the constant that a call of `kernel` delivers, read from its attributes."""
        words = self._attributes(kernel.name, record, kernel.attributes, read_word)
        self._expect(record, kernel.name, 0, 1)
        # Attributes are in alphabetical order, so the imaginary part comes first.
        return Constant(SCALAR_TYPES[kernel.type], words[-1], words[0] if len(words) > 1 else 0)

    def fresh_constant(self, constant: Constant) -> Call:
        """Return a call that makes a new value of the constant each time."""
        data = (constant.payload_type, constant.first, constant.second)
        return Call(self._symbols("scalar_kernels.constant"), data=data)

    def call(self, kernel: Kernel, record: BefKernel, in_sync: bool = False) -> Call:
        """Return the call of a native, compiled, or control kernel.

        Args:
            in_sync: whether the call is in a sync function.

        Raises:
            TfrtError: if the kernel cannot take this call; located at the kernel.
        """
        if in_sync and record.is_nonstrict:
            raise self._refuse(record, f"'{kernel.name}' cannot run non-strictly")
        if isinstance(kernel, NativeKernel):
            return self._native(kernel, record)
        if isinstance(kernel, ControlKernel):
            signatures = tuple([self._signatures[index] for index in record.functions])
            counts = len(record.arguments), len(record.results)
            # Compare kernels by identity, because hashing takes longer. Kernels outlive the
            # resolver.
            shape = id(kernel), counts, signatures, in_sync, record.is_nonstrict
            call = None if kernel.attributes else self._controls.get(shape)
            if call is None:
                call = self._controls[shape] = self._control(kernel, record, in_sync)
            return Call(
                call.address, call.flags, call.strict_arguments, call.data, record.functions
            )
        assert isinstance(kernel, CompiledKernel)
        return self._compiled(kernel, record)

    def _native(self, kernel: NativeKernel, record: BefKernel) -> Call:
        results = kernel.results
        if results is None:
            results = max(0, len(record.arguments) - kernel.arguments)
        self._expect(record, kernel.name, kernel.arguments, results)
        # The printing callback relies on the fact that only control kernels have functions.
        self._refuse_functions(kernel.name, record)
        words = self._attribute_words(kernel, record)
        data = tuple(self._symbols(symbol) for symbol in kernel.data)
        flags = kernel.flags | (at.KERNEL_NONSTRICT if record.is_nonstrict else 0)
        if record.is_nonstrict and not flags & at.KERNEL_RAW:
            raise self._refuse(record, f"'{kernel.name}' cannot run non-strictly")
        return Call(self._symbols(kernel.symbol), flags, data=data + words)

    def _refuse_functions(self, name: str, record: BefKernel) -> None:
        if record.functions:
            count = len(record.functions)
            raise self._refuse(record, f"'{name}' takes no functions, found {count}")

    def _attribute_words(self, kernel: NativeKernel, record: BefKernel) -> tuple[int, ...]:
        expected = kernel.attributes
        if expected and expected[0].startswith("*"):
            expected = (expected[0].removeprefix("*"),) * len(record.attributes)
        words = self._attributes(kernel.name, record, expected, read_word)
        return words if expected == kernel.attributes else (len(words), *words)

    def _compiled(self, kernel: CompiledKernel, record: BefKernel) -> Call:
        self._expect(record, kernel.name, len(kernel.arguments), len(kernel.results))
        if len(record.arguments) > len(kernel.arguments):
            taken, found = counted(len(kernel.arguments), "argument"), len(record.arguments)
            raise self._refuse(record, f"'{kernel.name}' takes {taken}, found {found}")
        self._expect_attributes(kernel.name, record, 0)
        arguments = [kernel.arguments[i] for i in kernel.order]
        data = (
            kernel.adapter,
            self._symbols("compiled_kernels.argument_arrived"),
            self._symbols("compiled_kernels.result_arrived"),
            self._symbols("compiled_kernels.buffer_arrived"),
            self._symbols("compiled_kernels.tensor_arrived"),
            *(
                (at.TYPE_CHAIN if word == "chain" else SCALAR_TYPES.get(word, at.TYPE_OBJECT))
                for word in (*kernel.results, *arguments)
            ),
        )
        # If no argument is strict, pass -1, because 0 lets any one argument start the kernel
        # (`Call`).
        strict = len(kernel.arguments) - len(kernel.awaited)
        flags = at.KERNEL_HEAVY if kernel.heavy else 0
        flags |= at.KERNEL_LASTING if kernel.lasting else 0
        flags |= at.KERNEL_NONSTRICT if kernel.awaited else 0
        return Call(self._symbols("compiled_kernels.run_compiled"), flags, strict or -1, data)

    def python(
        self,
        kernel: PythonKernel,
        record: BefKernel,
        types: tuple[tuple[str, ...], tuple[str, ...]],
        attribute_names: tuple[str, ...] | None,
    ) -> tuple[Call, PythonCall]:
        """Return the call of a Python kernel, and the data that Python needs to run it.

        `types` are the types of the arguments and the types of the results.  `attribute_names` is
        None if the file has no names.  Arguments that the kernel does not await come last
        (`lazy_last`).

        Raises:
            TfrtError: if the kernel cannot take this call; located at the kernel.
        """
        results = None if kernel.results is None else len(kernel.results)
        if len(record.arguments) < kernel.needs:
            found = len(record.arguments)
            raise self._refuse(record, f"'{kernel.name}' takes {kernel.taken}, found {found}")
        self._expect(record, kernel.name, 0, results)
        if record.is_nonstrict and not kernel.raw:
            raise self._refuse(record, f"'{kernel.name}' cannot run non-strictly")
        result_types = types[1]
        order = lazy_order(kernel, len(record.arguments))
        if (text := mismatch(kernel, *types, order)) is not None:
            raise self._refuse(record, text)
        for word, type_text in zip(kernel.results or (), result_types, strict=False):
            if word != type_text and word in SCALAR_TYPES and type_text in SCALAR_TYPES:
                raise self._refuse(record, f"'{kernel.name}' has a result {word}, not {type_text}")
        if not kernel.frame:
            self._refuse_functions(kernel.name, record)
        if kernel.keywords is None:
            words, read = kernel.attributes, read_as_stored
            attributes: tuple[object, ...] = self._attributes(kernel.name, record, words, read)
        else:
            attributes = self._attributes_by_name(kernel, record, attribute_names)
        kernel = with_arrays(kernel, types[0], order)
        call = PythonCall(self._file, kernel, record, attributes, result_types, order)
        if kernel.prepare is not None:
            self._of_kernel(record, kernel.prepare, *attributes)
        shortcut = kernel.shortcut
        data = self._of_kernel(record, shortcut.words, attributes) if shortcut else None
        if shortcut is not None and data is not None:
            functions = tuple(self._symbols(symbol) for symbol in shortcut.functions)
            flags = at.KERNEL_HEAVY if kernel.heavy else 0
            flags |= at.KERNEL_MEASURED if kernel.heavy and shortcut.measures else 0
            return Call(self._symbols(shortcut.symbol), flags, data=functions + data), call
        flags = at.KERNEL_HEAVY
        flags |= at.KERNEL_UNKNOWN if kernel.watched is not None else 0
        flags |= at.KERNEL_BLOCKING if kernel.blocking else 0
        flags |= at.KERNEL_RAW if kernel.raw else 0
        flags |= at.KERNEL_NONSTRICT if record.is_nonstrict or order else 0
        # As in `_compiled`, -1 means that the kernel awaits no arguments.
        strict = (sum(not kernel.is_lazy(place) for place in order) or -1) if order else 0
        return Call(self._python_kernel, flags, strict, functions=record.functions), call

    def _of_kernel(self, record: BefKernel, ask: Callable[..., Read], *given: object) -> Read:
        """Call `ask`, one of the kernel's own functions, which may reject the kernel's call."""
        try:
            return ask(*given)
        except KernelError as wrong:
            raise self._refuse(record, wrong.message) from None

    def _attributes(
        self,
        name: str,
        record: BefKernel,
        words: Sequence[str],
        read: Callable[[BefFile, int, str], Read],
    ) -> tuple[Read, ...]:
        """Return the attributes in the record's order, each read as its type word."""
        self._expect_attributes(name, record, len(words))
        try:
            return tuple(
                read(self._file, offset, word)
                for offset, word in zip(record.attributes, words, strict=False)
            )
        except WrongKind as wrong:
            raise self._refuse(record, f"'{name}': {wrong}") from None

    def _attributes_by_name(
        self, kernel: PythonKernel, record: BefKernel, names: tuple[str, ...] | None
    ) -> tuple[object, ...]:
        """Return the attributes in the order of the kernel's keywords.

        A missing attribute has its default value.
        """
        keywords = kernel.keywords or ()
        if names is None:
            names = self._guessed_names(kernel, record)
        offsets = dict(zip(names, record.attributes, strict=True))
        if len(offsets) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise self._refuse(record, f"'{kernel.name}' has two attributes '{twice}'")
        if unknown := sorted(offsets.keys() - {keyword.name for keyword in keywords}):
            known = ", ".join(f"'{keyword.name}'" for keyword in keywords) or "none"
            text = f"'{kernel.name}' has no attribute '{unknown[0]}'; its attributes are: {known}"
            raise self._refuse(record, text)
        for keyword in keywords:
            if keyword.default is REQUIRED and keyword.name not in offsets:
                raise self._refuse(record, f"'{kernel.name}' needs an attribute '{keyword.name}'")
        return tuple(
            self._keyword(kernel, record, keyword, offsets[keyword.name])
            if keyword.name in offsets
            else keyword.default
            for keyword in keywords
        )

    def _guessed_names(self, kernel: PythonKernel, record: BefKernel) -> tuple[str, ...]:
        """Guess the names of attributes if the file has none.

        The guess is right if all attributes of the kernel are given.
        """
        # MLIR stores attributes in alphabetical order.
        names = sorted(keyword.name for keyword in kernel.keywords or ())
        if record.attributes and len(record.attributes) != len(names):
            raise self._refuse(
                record,
                f"the file has no names of attributes, so '{kernel.name}' takes all of its"
                f" {len(names)} in alphabetical order, found {len(record.attributes)}",
            )
        return tuple(names) if record.attributes else ()

    def _keyword(
        self, kernel: PythonKernel, record: BefKernel, keyword: Keyword, offset: int
    ) -> object:
        """Return the value of an attribute, checked against its annotation."""
        name = f"attribute '{keyword.name}' of '{kernel.name}'"
        stored = (self._file.attribute_types or {}).get(offset)
        if stored is None:
            raise self._refuse(
                record,
                f"the file does not give the type of {name}: compile it without"
                " --disable-optional-sections",
            )
        kind = keyword.kind
        if isinstance(kind, str):
            if kind_text(stored) != kind:
                raise self._refuse(
                    record, f"{name} is {kind_text(stored)}, and the kernel takes {kind}"
                )
        elif kind is not None and stored not in KINDS_OF[kind]:
            kinds = f"{kind_text(stored)}, and the kernel takes {kind.__name__}"
            raise self._refuse(record, f"{name} is {kinds}")
        value = read_as_stored(self._file, offset, "any")
        if not isinstance(value, Dense):
            return value
        # Imported here, because importing numpy takes longer than running a small program.
        from tfrt_runtime.host.tensor.shapes import array_of_elements

        try:
            return array_of_elements(value.dtype, value.sizes, value.data)
        except ValueError as wrong:
            raise self._refuse(record, f"{name}: {wrong}") from None

    def _control(self, kernel: ControlKernel, record: BefKernel, in_sync: bool) -> Call:
        own, extra = kernel.own, kernel.extra
        self._expect(record, kernel.name, own, kernel.fixed_results)
        count = len(record.functions)
        if count != kernel.functions and (kernel.functions is not None or count == 0):
            least = "at least 1 function" if kernel.functions is None else ""
            taken = least or counted(kernel.functions or 0, "function")
            raise self._refuse(record, f"'{kernel.name}' takes {taken}, found {count}")
        passed = len(record.arguments) - own + kernel.added
        for index in record.functions:
            callee = self._functions[index]
            self._expect_kind(kernel, record, callee, in_sync)
            self._expect_callee(kernel, record, callee, passed, extra)
        loops = kernel.extra or kernel.name.startswith("tfrt.repeat")
        if loops and len(record.results) != len(record.arguments) - own:
            raise self._refuse(
                record, f"'{kernel.name}' has results that differ from its loop values"
            )
        words = {"#functions": count}
        data = tuple(
            words[symbol] if symbol in words else self._symbols(symbol) for symbol in kernel.data
        )
        data += self._attributes(kernel.name, record, kernel.attributes, _control_word)
        flags = at.KERNEL_CONTROL | (at.KERNEL_NONSTRICT if record.is_nonstrict else 0)
        if record.is_nonstrict and kernel.fixed_results is not None:
            raise self._refuse(record, f"'{kernel.name}' cannot run non-strictly")
        return Call(self._symbols(kernel.symbol), flags, own, data, record.functions)

    def _expect_kind(
        self, kernel: ControlKernel, record: BefKernel, callee: BefFunction, in_sync: bool
    ) -> None:
        """Check the kind of a called function.

        A sync function may only call sync functions and native functions.
        """
        if kernel.sync and callee.kind is not FunctionKind.SYNC:
            text = f"'{kernel.name}' cannot call asynchronous function '{callee.name}'"
            raise self._refuse(record, text)
        if in_sync and callee.kind is FunctionKind.ASYNC:
            text = f"a sync function cannot call asynchronous function '{callee.name}'"
            raise self._refuse(record, text)

    def _expect_callee(
        self,
        kernel: ControlKernel,
        record: BefKernel,
        callee: BefFunction,
        arguments: int,
        extra: int,
    ) -> None:
        if len(callee.argument_types) != arguments:
            raise self._refuse(
                record,
                f"'{kernel.name}' passes {counted(arguments, 'argument')} to '{callee.name}',"
                f" which takes {len(callee.argument_types)}",
            )
        results = len(callee.result_types)
        if kernel.fixed_results is None and results != len(record.results) + extra:
            raise self._refuse(
                record,
                f"'{kernel.name}' expects {counted(len(record.results) + extra, 'result')} from"
                f" '{callee.name}', which has {results}",
            )
        most, least = (1, 0) if kernel.body_results is None else (kernel.body_results,) * 2
        if kernel.fixed_results is not None and not least <= results <= most:
            taken = counted(most, "result") if least == most else "at most 1 result"
            raise self._refuse(
                record, f"the body of '{kernel.name}' must have {taken}, found {results}"
            )

    def _expect(self, record: BefKernel, name: str, arguments: int, results: int | None) -> None:
        if len(record.arguments) < arguments:
            taken, found = counted(arguments, "argument"), len(record.arguments)
            raise self._refuse(record, f"'{name}' takes {taken}, found {found}")
        if results is not None and len(record.results) != results:
            raise self._refuse(
                record,
                f"'{name}' has {counted(results, 'result')}, found {len(record.results)}",
            )

    def _expect_attributes(self, name: str, record: BefKernel, count: int) -> None:
        # Attributes have no names here, so a surplus attribute would be mistaken for another.  If
        # the kernel takes no attributes, the operation may have some that are for passes.
        if count and len(record.attributes) != count:
            raise self._refuse(
                record,
                f"'{name}' takes {counted(count, 'attribute')}, found {len(record.attributes)}",
            )

    def _refuse(self, record: BefKernel, message: str) -> TfrtError:
        return TfrtError(error(message, self._file.location(record.location)))


def _control_word(file: BefFile, offset: int, word: str) -> int:
    if word == "string":
        read_as_stored(file, offset, word)  # printing it must not fail
        return 0
    return read_word(file, offset, word)


def lazy_order(kernel: PythonKernel, count: int) -> tuple[int, ...]:
    """Return an order of `count` arguments, with the arguments that the kernel does not await last.

    Return () if the kernel awaits all arguments.
    """
    if not kernel.has_lazy or kernel.raw:
        return ()
    # Sorting is stable, so both groups keep their order.
    return tuple(sorted(range(count), key=kernel.is_lazy))


def lazy_last(function: BefFunction, used: Mapping[str, Kernel]) -> BefFunction:
    """Return `function` with each kernel's unawaited arguments after its other arguments.

    `used` contains the function's kernels.
    """
    lazy = {
        name: one for name, one in used.items() if isinstance(one, PythonKernel) and one.has_lazy
    }
    if not lazy:
        return function
    records = list(function.kernels)
    for position, record in enumerate(records):
        kernel = lazy.get(record.name)
        if kernel is not None and (order := lazy_order(kernel, len(record.arguments))):
            moved = tuple(record.arguments[place] for place in order)
            records[position] = record._replace(arguments=moved)
    return replace(function, kernels=Kernels.of(records, function.kernels.first))
