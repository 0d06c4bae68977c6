"""Convert a BEF file to an IR module.

A file without its optional sections does not record some types and attributes; these are guessed
from the signatures of known operations. The names of attributes that hold functions are always
guessed, because no file has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    LocationAttr,
    ModuleOp,
    NoneType,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.convert.attributes import UNKNOWN_VALUE, decode, dtype_of, location_of_place
from tfrt_nb.convert.carried import read_compiled, read_compiled_modules
from tfrt_nb.convert.collect import ConversionError
from tfrt_nb.dialects.catalog import host_operation, new_context, unknown_operation
from tfrt_nb.dialects.control_flow import NATIVE, NONSTRICT, SYNC, CaseOp, ReturnOp
from tfrt_nb.dialects.control_flow.calls import CallingOp, ControlFlowOp
from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.dialects.types import CHAIN, WORDS
from tfrt_nb.nesting import MAX_NESTING, TOO_DEEP, deep_stack
from tfrt_nb.source.attributes import AttributeParser
from tfrt_nb.source.spans import SourceText
from tfrt_runtime.bef.attributes import Symbol
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import (
    ARRAY_FLAG,
    AttributeKind,
    BefFunction,
    BefKernel,
    DType,
    FunctionKind,
    collector_paused,
)
from tfrt_runtime.diagnostics import OpaqueLocation, error


def bef_to_mlir(file: BefFile) -> ModuleOp:
    """Return the module from which `file` was created, to the extent that the file describes it.

    An attribute that refers to functions gets the name in the operation's definition, or `callee`.
    If the file lacks the optional sections, known operations get the attributes and types of their
    signatures, and other attributes and types become `none`.

    Raises:
        TfrtError: if the file can be read, but cannot have been created from any module.
    """
    builder = _Builder(file)
    compiled = read_compiled_modules(builder.symbols(), file.name)
    with collector_paused(), deep_stack():
        built = map(builder.build, range(len(file.functions)))
        functions = [function for function in built if function is not None]
    code = read_compiled(file.compiled, file.name) if file.compiled else ModuleOp([])
    defined = {name for op in code.ops if (name := op.get_attr_or_prop("sym_name"))}
    # The compiled functions replace their native declarations.
    host = [op for op in functions if op.sym_name not in defined or NATIVE not in op.attributes]
    return ModuleOp([*compiled, *host, *[code.body.block.detach_op(op) for op in list(code.ops)]])


class _Builder:
    """Builds functions in file order, in which a region comes before the function that uses it."""

    def __init__(self, file: BefFile) -> None:
        self._file = file
        self._types = _TypeReader(file.name)
        self._regions: dict[int, Region] = {}
        self._depths: dict[int, int] = {}
        """The nesting depth of regions, by function."""
        self._attributes: dict[tuple[int, int], Attribute] = {}

    def symbols(self) -> Iterator[Symbol]:
        """Yield all references to functions of compiled modules."""
        for offset, kind in (self._file.attribute_types or {}).items():
            if kind == AttributeKind.SYMBOL_REF:
                symbol = self._file.attribute_reader.read(offset, kind)
                assert isinstance(symbol, Symbol)
                yield symbol

    def build(self, index: int) -> FuncOp | None:
        """Build a function, or return None for a region, which its operation will use."""
        function = self._file.functions[index]
        arguments = self._read_types(function.argument_types)
        results = self._read_types(function.result_types)
        if function.kind == FunctionKind.NATIVE:
            op = FuncOp(function.name, (arguments, results), Region(), "private")
            op.attributes[NATIVE] = UnitAttr()
            return op
        inner = [self._depths.get(i, 0) for kernel in function.kernels for i in kernel.functions]
        self._depths[index] = 1 + max(inner, default=0) if not function.name else 0
        if self._depths[index] >= MAX_NESTING:
            raise self._error(TOO_DEEP)
        region = Region(self._build_block(function, arguments))
        if not function.name:
            self._regions[index] = region
            return None
        op = FuncOp(function.name, (arguments, results), region)
        if function.kind == FunctionKind.SYNC:
            op.attributes[SYNC] = UnitAttr()
        op.location = location_of_place(self._file.place(function.location))
        return op

    def _build_block(self, function: BefFunction, arguments: Sequence[Attribute]) -> Block:
        types, all_names = self._register_types(function), function.attribute_names
        block = Block(arg_types=arguments)
        values: list[SSAValue] = list(block.args)
        operations: list[Operation] = []
        for position, kernel in enumerate(function.kernels):
            names = None if all_names is None else all_names[position]
            operation = self._build_operation(kernel, names, values, types)
            operations.append(operation)
            values += operation.results
        returned = [values[register] for register in function.result_registers]
        block.add_ops([*operations, ReturnOp.create(operands=returned)])
        return block

    def _build_operation(
        self,
        kernel: BefKernel,
        names: tuple[str, ...] | None,
        values: Sequence[SSAValue],
        types: Sequence[Attribute],
    ) -> Operation:
        if not kernel.name:
            raise self._error("a kernel without a name")
        functions = self._file.functions
        attributes = self._read_attributes(kernel, names) if kernel.attributes else {}
        callees = [functions[index].name for index in kernel.functions if functions[index].name]
        if callees:
            attributes |= _function_attributes(kernel.name, callees)
        if kernel.is_nonstrict:
            attributes[NONSTRICT] = UnitAttr()
        return _operation(
            kernel.name,
            [values[register] for register in kernel.arguments],
            [types[register] for register in kernel.results],
            attributes,
            [self._take_region(index) for index in kernel.functions if not functions[index].name],
            location_of_place(self._file.place(kernel.location)),
        )

    def _take_region(self, index: int) -> Region:
        region = self._regions.pop(index, None)
        if region is None:
            raise self._error(f"region {index} does not belong to exactly one kernel after it")
        return region

    def _error(self, message: str) -> ConversionError:
        return ConversionError(error(message, OpaqueLocation(self._file.name)))

    def _read_attributes(
        self, kernel: BefKernel, names: tuple[str, ...] | None
    ) -> dict[str, Attribute]:
        types = self._file.attribute_types
        guessed = _guessed_attributes(kernel) if not names or types is None else {}
        kinds = guessed.values() if types is None else map(types.get, kernel.attributes)
        return {
            name: UNKNOWN_VALUE if kind is None else self._read_attribute(offset, kind)
            for name, offset, kind in zip(names or guessed, kernel.attributes, kinds, strict=True)
        }

    def _read_attribute(self, offset: int, kind: int) -> Attribute:
        attribute = self._attributes.get((offset, kind))
        if attribute is None:
            attribute = decode(self._file.attribute_reader.read(offset, kind))
            self._attributes[offset, kind] = attribute
        return attribute

    def _read_types(self, spellings: Sequence[str]) -> list[Attribute]:
        return [self._types.read(spelling) for spelling in spellings]

    def _register_types(self, function: BefFunction) -> list[Attribute]:
        if function.register_types is not None:
            return self._read_types(function.register_types)
        types: list[Attribute] = [NoneType()] * function.register_count
        types[: len(function.argument_types)] = self._read_types(function.argument_types)
        for kernel in function.kernels:
            arguments = [types[register] for register in kernel.arguments]
            callees = [self._file.functions[at] for at in kernel.functions[:1]]
            returned = [type_ for one in callees for type_ in self._read_types(one.result_types)]
            found = _guessed_results(kernel, arguments, returned)
            if found:
                types[kernel.results[0] : kernel.results[-1] + 1] = found
        results = self._read_types(function.result_types)
        for register, value_type in zip(function.result_registers, results, strict=True):
            types[register] = value_type
        return types


def _operation(
    name: str,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    attributes: dict[str, Attribute],
    regions: list[Region],
    location: LocationAttr,
) -> Operation:
    """Create the operation called `name`.

    If the result is not valid for the operation's class, it becomes an unknown operation.
    """
    operation_type = host_operation(name)
    if operation_type is not None:
        operation = operation_type.create(
            operands=operands,
            result_types=types,
            attributes=attributes,
            regions=regions,
            location=location,
        )
        if _fits(operation):
            return operation
        regions = [operation.detach_region(region) for region in regions]
        operation.erase()
    return unknown_operation(name).create(
        operands=operands,
        result_types=types,
        attributes=attributes,
        regions=regions,
        location=location,
    )


def _fits(operation: Operation) -> bool:
    # If these attributes are missing, a control flow operation has no short form.
    if not _CONTROL_FLOW.get(operation.name, {}).keys() <= operation.attributes.keys():
        return False
    try:
        operation.verify_()
    except VerifyException:
        return False
    return True


class _TypeReader:
    """Parses the type spellings of a file, each only once."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._types = {str(value_type): value_type for value_type in WORDS.values()}

    def read(self, spelling: str) -> Attribute:
        """Return the type with this spelling.

        Raises:
            ConversionError: if no type has this spelling.
        """
        value_type = self._types.get(spelling)
        if value_type is None:
            value_type = self._types[spelling] = self._parse(spelling)
        return value_type

    def _parse(self, spelling: str) -> Attribute:
        try:
            parser = AttributeParser(SourceText(spelling, self._file_name), new_context())
            value_type = parser.parse_type()
            if str(value_type) != spelling:
                raise ValueError(f"reads as {value_type}")
        except Exception as reason:  # xDSL's parsers raise all kinds of errors
            message = f"{spelling!r} is not a type"
            raise ConversionError(error(message, OpaqueLocation(self._file_name))) from reason
        return value_type


# --- guesses ---


def _function_attributes(kernel_name: str, functions: Sequence[str]) -> dict[str, Attribute]:
    """Return the attributes with which an operation refers to `functions`."""
    symbols: list[Attribute] = [SymbolRefAttr(name) for name in functions]
    operation = host_operation(kernel_name)
    if operation is not None and issubclass(operation, CaseOp):
        (name,) = operation.callees
        return {name: ArrayAttr(symbols)}
    if operation is not None and issubclass(operation, CallingOp):
        names: Sequence[str] = operation.callees
        if len(names) == len(symbols):
            return dict(zip(names, symbols, strict=True))
    if len(symbols) == 1:
        return {"callee": symbols[0]}
    # Kernels get their functions in the alphabetical order of these names.
    width = len(str(len(symbols) - 1))
    return {f"callee_{index:0{width}}": symbol for index, symbol in enumerate(symbols)}


_SETTINGS = {
    "duration_secs": "i32",
    "max_count": "i32",
    "name": "string",
    "num_warmup_runs": "i32",
}

# The type words of the attributes of control flow operations, which have no signatures.
_CONTROL_FLOW = {
    "tfrt.while": {"parallel_iterations": "i64"},
    "tfrt_test.benchmark": _SETTINGS,
    "tfrt_test.sync_benchmark": {n: word for n, word in _SETTINGS.items() if n != "name"},
}
_GIVES_CHAIN = frozenset(
    {
        "tfrt.parallel_for.i32",
        "tfrt.parallel_call.i32",
        "tfrt_test.benchmark",
        "tfrt_test.sync_benchmark",
    }
)


_KINDS: dict[str, int] = {
    "string": DType.STRING,
    "type": AttributeKind.TYPE,
    "shape": AttributeKind.SHAPE,
    "dense": AttributeKind.DENSE,
    "aggregate": AttributeKind.AGGREGATE,
}


def _kind(word: str) -> int | None:
    if word in _KINDS:
        return _KINDS[word]
    element = word.removeprefix("array.")
    dtype = dtype_of(WORDS[element]) if element in WORDS else None
    return dtype if dtype is None or element == word else ARRAY_FLAG | dtype


def _guessed_attributes(kernel: BefKernel) -> dict[str, int | None]:
    """Return the names and kinds of the kernel's attributes in file order.

    An unknown kind is None.
    """
    signature = SIGNATURES.get(kernel.name)
    known = _CONTROL_FLOW.get(kernel.name, {}) if signature is None else signature.attributes
    # Words of optional attributes end in a question mark.
    kinds = {name: _kind(word) for name, word in sorted(known.items()) if word[-1] != "?"}
    if len(kinds) == len(kernel.attributes):
        return kinds
    width = len(str(len(kernel.attributes) - 1))
    return {f"attr{index:0{width}}": None for index in range(len(kernel.attributes))}


def _guessed_results(
    kernel: BefKernel, arguments: Sequence[Attribute], callee_results: Sequence[Attribute]
) -> Sequence[Attribute] | None:
    """Return the types of the kernel's results, or None if its operation does not determine them.

    `arguments` contains the types of its arguments. `callee_results` contains the result types of
    the first function to which the kernel refers.
    """
    if kernel.name in _GIVES_CHAIN:
        types: Sequence[Attribute] = [CHAIN]
    elif (operation := host_operation(kernel.name)) is None:
        return None
    elif issubclass(operation, ControlFlowOp):
        # The body of a loop has one more result, the condition.
        types = callee_results[: len(kernel.results)]
    else:
        signature = SIGNATURES[kernel.name]
        is_of_chains = bool(arguments) and all(type_ == CHAIN for type_ in arguments)
        words = (is_of_chains and signature.other_results) or signature.results
        types = [] if "any" in words else [WORDS[word] for word in words]
    return types if len(types) == len(kernel.results) else None
