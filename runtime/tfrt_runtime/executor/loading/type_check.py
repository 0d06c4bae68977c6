"""Check that a function's kernels receive arguments of the types that they take.

Native kernels read the bits of their arguments without checking types, and a file may connect any
register to any kernel.  Therefore, the types are inferred from the function's arguments and the
kernels' results.  The types that the file states for its registers are not used.

The kind that a kernel requires of an attribute must match the kind that the file stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

from tfrt_runtime.bef.attributes import Array, Plain, to_plain
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import (
    ARRAY_FLAG,
    EMPTY_ARRAY,
    AttributeKind,
    BefFunction,
    BefKernel,
    DType,
    FunctionKind,
    KernelShape,
)
from tfrt_runtime.diagnostics import TfrtError, counted, error
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError, encode_scalar
from tfrt_runtime.host.values.fitting import CHAIN_TYPE
from tfrt_runtime.kernels.registry import (
    CompiledKernel,
    ConstantKernel,
    ControlKernel,
    Kernel,
    NativeKernel,
    PythonKernel,
)

KINDS: dict[str, int] = {
    "string": DType.STRING,
    "type": AttributeKind.TYPE,
    "shape": AttributeKind.SHAPE,
    "dense": AttributeKind.DENSE,
    "aggregate": AttributeKind.AGGREGATE,
    "array.type": ARRAY_FLAG | AttributeKind.TYPE,
}
EMPTY = -1
"""The kind of an empty array, which may have any element type."""
INTEGERS = {kind for kind in DType if kind.name.removeprefix("U").removeprefix("I").isdigit()}
KINDS_OF: dict[type, set[DType]] = {
    bool: {DType.I1},
    int: INTEGERS,
    float: {DType.F16, DType.BF16, DType.F32, DType.F64},
    str: {DType.STRING},
}
"""The attribute types that match an annotation of a Python kernel."""
NOTHING = Array(DType.I32, ())


@cache
def kind_of_word(word: str) -> int:
    """Return the BEF kind for a type word of `kernels.registry`."""
    if word in KINDS:
        return KINDS[word]
    if word.startswith("array."):
        return ARRAY_FLAG | kind_of_word(word.removeprefix("array."))
    return DType[word.upper()]


class WrongKind(ValueError):
    """An attribute's type is not the type that its kernel reads."""


def read_as_stored(file: BefFile, offset: int, word: str) -> Plain:
    """Return an attribute as a plain value.

    With the word "any", the attribute is read as the type that the file states.  With "typed", it
    is read in the same way, but is returned together with that type.

    Raises:
        TfrtError: if the file does not state the type.
        WrongKind: if the file states another type than `word`.
    """
    if word not in ("any", "typed"):
        kind = stored_kind(file, offset, word)
        return () if kind == EMPTY else to_plain(file.attribute_reader.read(offset, kind))
    kinds = file.attribute_types or {}
    if offset not in kinds:
        raise TfrtError(
            error(
                "the file does not give the types of the kernel's attributes: compile it without"
                " --disable-optional-sections"
            )
        )
    value = to_plain(file.attribute_reader.read(offset, kinds[offset]))
    return (kind_text(kinds[offset]), value) if word == "typed" else value


def read_word(file: BefFile, offset: int, word: str) -> int:
    """Return the bits of a scalar attribute as a word for native code.

    Raises:
        WrongKind: if the file states another type than `word`.
    """
    # A half float is stored as its bits.
    bits = "ui16" if word in ("f16", "bf16") else word
    kind = stored_kind(file, offset, word)
    if kind == kind_of_word(word):
        kind = kind_of_word(bits)
    value = to_plain(file.attribute_reader.read(offset, kind))
    try:
        return encode_scalar(bits, value)[0]
    except PayloadError as wrong:
        raise WrongKind(str(wrong)) from None


def stored_kind(file: BefFile, offset: int, word: str) -> int:
    """Return the kind for reading an attribute of type `word`, or `EMPTY` for an empty array.

    A file without the optional sections does not state the kind, so `word` determines it.  The file
    may state a different integer width from the width of `word`.

    Raises:
        WrongKind: if the file states another type.
    """
    wanted = kind_of_word(word)
    found = (file.attribute_types or {}).get(offset, wanted)
    if found == wanted:
        return wanted
    is_array = wanted & ARRAY_FLAG or wanted in (AttributeKind.AGGREGATE, AttributeKind.SHAPE)
    if found == EMPTY_ARRAY and is_array and file.attribute_reader.read(offset, found) == NOTHING:
        return EMPTY
    are_integers = {found & ~ARRAY_FLAG, wanted & ~ARRAY_FLAG} <= INTEGERS
    if are_integers and found & ARRAY_FLAG == wanted & ARRAY_FLAG:
        return found
    raise WrongKind(f"an attribute is of type {kind_text(found)}, not {kind_text(wanted)}")


def kind_text(kind: int) -> str:
    """Return the name of a kind for messages: `i32`, `array of f32`, `string`."""
    if kind & ARRAY_FLAG:
        return f"array of {kind_text(kind & ~ARRAY_FLAG)}"
    names = {**{k.value: k.name for k in AttributeKind}, **{k.value: k.name for k in DType}}
    return names.get(kind, f"kind {kind}").lower().replace("_", " ")


Symbols = Callable[[str], int]
"""Returns the address of a native function, given the function's name."""


def signatures(functions: Sequence[BefFunction]) -> list[int]:
    """Return a number for each function.

    Functions with equal numbers have equal kinds, argument types, and result types.
    """
    known: dict[object, int] = {}
    return [
        known.setdefault((one.kind, one.argument_types, one.result_types), len(known))
        for one in functions
    ]


def types_of(function: BefFunction, registers: Sequence[int]) -> tuple[str, ...]:
    """Return the MLIR types of registers.

    The types are "" if the file does not state any.
    """
    if function.register_types is None:
        return ("",) * len(registers)
    return tuple(function.register_types[register] for register in registers)


UNKNOWN = ""
_TEXTS = {"chain": CHAIN_TYPE, "complex64": "complex<f32>", "complex128": "complex<f64>"}
_NUMBERS = frozenset(_TEXTS.get(word, word) for word in SCALAR_TYPES)
_KNOWN = _NUMBERS | {CHAIN_TYPE}


class TypeCheck:
    """Checks the functions of one file."""

    def __init__(self, file: BefFile, functions: Sequence[BefFunction]) -> None:
        self._file = file
        self._functions = functions
        self._signatures = signatures(functions)
        self._right: set[object] = set()
        """The valid calls of control kernels: kernel, argument types, and functions."""

    def check(self, function: BefFunction, kernels: Sequence[Kernel]) -> list[int]:
        """Check a function, and find the kernels whose arguments must be checked at run time.

        Return the numbers of these kernels.

        Raises:
            TfrtError: if a kernel takes another type or fewer arguments; located at the kernel.
        """
        types, in_doubt = self._types(function, kernels)
        unsure = []
        # In an async function, a kernel may await an additional chain, even one whose type is
        # unknown.
        ignored = () if function.kind is FunctionKind.SYNC else (CHAIN_TYPE, UNKNOWN)
        for number in in_doubt:
            kernel, record = kernels[number], function.kernels[number]
            match kernel:
                case ConstantKernel():
                    self._check_count(record, 0, types, ignored)
                case NativeKernel():
                    if not self._check_native(kernel, record, types, ignored):
                        unsure.append(number)
                case ControlKernel():
                    self._check_control(kernel, record, types)
        found = [types[register] for register in function.result_registers]
        for number, (has, text) in enumerate(zip(found, function.result_types, strict=True)):
            if not _fits(has, text):
                wrong = f"result {number} of '{function.name}' must be {text}, found {has}"
                raise TfrtError(error(wrong, self._file.location(function.location)))
        return unsure

    def _types(
        self, function: BefFunction, kernels: Sequence[Kernel]
    ) -> tuple[list[str], list[int]]:
        """Return the type of each register, and the kernels whose argument types may be wrong."""
        columns = function.kernels
        notes = {
            number: self._note(kernels[place], columns.shapes[number])
            for number, place in columns.firsts.items()
        }
        noted = [*map(notes.__getitem__, columns.numbers)]
        types = [*function.argument_types]
        for place, (_, given) in enumerate(noted):
            if given is None:
                texts = types_of(function, columns[place].results)
                given = [t if t in _KNOWN else UNKNOWN for t in texts]
            types += given
        has = [*map(types.__getitem__, columns.arguments)]
        # Usually, all types fit, and one comparison of two lists shows it.
        is_fixed = all(wanted is not None for wanted, _ in notes.values())
        if is_fixed and has == [*chain.from_iterable([wanted or () for wanted, _ in noted])]:
            return types, []
        starts = columns.starts[0]
        return types, [
            place
            for place, (wanted, _) in enumerate(noted)
            if wanted is None or tuple(has[starts[place] : starts[place + 1]]) != wanted
        ]

    def _note(
        self, kernel: Kernel, shape: KernelShape
    ) -> tuple[tuple[str, ...] | None, Sequence[str] | None]:
        """Return the types that a kernel of this shape takes and the types that it returns.

        Each is None if it varies from call to call.
        """
        wanted: tuple[str, ...] | None = None
        given: Sequence[str] = ()
        match kernel:
            case ConstantKernel():
                wanted, given = (), (_text(kernel.type),)
            case NativeKernel():
                is_fixed = not kernel.more and kernel.results is not None
                wanted, given = kernel.types if is_fixed else None, kernel.gives or ()
            case PythonKernel() if kernel.results is None:
                return None, None
            case PythonKernel() | CompiledKernel():
                given = [_text(word) for word in kernel.results or ()]
            case ControlKernel() if kernel.fixed_results is not None:
                given = (CHAIN_TYPE,) * kernel.fixed_results
            case ControlKernel() if shape.functions:
                given = self._functions[shape.functions[0]].result_types
        if wanted is not None and len(wanted) != shape.argument_count:
            wanted = None
        missing = shape.result_count - len(given)
        return wanted, (*given[: shape.result_count], *[UNKNOWN] * missing)

    def _check_native(
        self, kernel: NativeKernel, record: BefKernel, types: Sequence[str], ignored: Sequence[str]
    ) -> bool:
        """Check the arguments of a native kernel; return whether all their types are known."""
        is_sure = True
        if not kernel.more and kernel.results is not None:
            self._check_count(record, kernel.arguments, types, ignored)
        for index, register in enumerate(record.arguments):
            has = types[register]
            if kernel.types and (index < kernel.arguments or kernel.more):
                wanted = kernel.types[min(index, len(kernel.types) - 1)]
                if not _fits(has, wanted) and not (kernel.more and has == CHAIN_TYPE):
                    raise self._wrong(record, f"takes {wanted} as argument {index}, found {has}")
                is_sure = is_sure and has != UNKNOWN
        return is_sure

    def _check_count(
        self, record: BefKernel, count: int, types: Sequence[str], ignored: Sequence[str]
    ) -> None:
        """Check the number of arguments.  Surplus arguments must have a type in `ignored`."""
        for register in record.arguments[count:]:
            if types[register] not in ignored:
                text = f"takes {counted(count, 'argument')}, found {len(record.arguments)}"
                raise self._wrong(record, text)

    def _check_control(
        self, kernel: ControlKernel, record: BefKernel, types: Sequence[str]
    ) -> None:
        """Check the types that a kernel passes to functions, and the types that these return."""
        has = tuple([types[register] for register in record.arguments])
        signatures = tuple([self._signatures[index] for index in record.functions])
        # Compare kernels by identity, because hashing takes longer.
        call = id(kernel), has, signatures, len(record.results)
        if call in self._right:
            return
        self._compare(record, kernel.types, has[: kernel.own], "takes {} as argument {}, found {}")
        first = self._functions[record.functions[0]].result_types if record.functions else ()
        for index in record.functions:
            callee = self._functions[index]
            wanted = callee.argument_types[kernel.added :]
            text = f"calls '{callee.name}', which takes {{}} as argument {{}}, with {{}}"
            self._compare(record, wanted, has[kernel.own :], text)
            text = f"calls functions whose types differ: {{}} as result {{}}, and {{}} of '{callee.name}'"  # noqa: E501
            self._compare(record, first, callee.result_types, text)
        if kernel.extra or kernel.name.startswith("tfrt.repeat"):
            text = "takes {} as loop value {}, found {}"
            self._compare(record, first[: len(record.results)], has[kernel.own :], text)
        self._right.add(call)

    def _compare(
        self, record: BefKernel, wanted: Sequence[str], has: Sequence[str], text: str
    ) -> None:
        for index, (expected, found) in enumerate(zip(wanted, has, strict=False)):
            if not _fits(found, expected):
                raise self._wrong(record, text.format(expected, index, found))

    def _wrong(self, record: BefKernel, text: str) -> TfrtError:
        return TfrtError(error(f"'{record.name}' {text}", self._file.location(record.location)))


def _fits(has: str, wanted: str) -> bool:
    """Return whether a value of type `has` may be read as type `wanted`.

    Numbers are not converted.
    """
    if has == wanted or UNKNOWN in (has, wanted):
        return True
    return has not in _NUMBERS and wanted not in _NUMBERS


def _text(word: str) -> str:
    """Return the MLIR type for a type word, as precisely as this check needs."""
    return _TEXTS.get(word, word)
