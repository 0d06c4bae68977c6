"""Collect the contents of a module, which is the first step of writing a file.

One walk over the operations, innermost first, finds the functions, kernels, types, and attributes
in file order. It also finds everything that a file cannot contain.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.convert.attributes import encode, place_of
from tfrt_nb.convert.carried import CompiledModules
from tfrt_nb.dialects.catalog import (
    UPSTREAM_DIALECTS,
    UnknownOp,
    in_host_programs,
    is_kernel,
)
from tfrt_nb.dialects.control_flow import NATIVE, NONSTRICT, SYNC
from tfrt_nb.nesting import MAX_NESTING, TOO_DEEP
from tfrt_nb.passes.streams import COST_ATTRIBUTE
from tfrt_nb.source.spans import location_of, span_of
from tfrt_nb.source.verification import kind_problem
from tfrt_runtime.bef import attributes as bef
from tfrt_runtime.bef.attributes import write_attribute
from tfrt_runtime.bef.locations import PlaceWriter, to_location
from tfrt_runtime.bef.records import MAX_AGGREGATES, BefFunction, BefModule, FunctionKind
from tfrt_runtime.bef.wire import ByteBuilder
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, TfrtError, error, meant, note

RETURN = "tfrt.return"
MOST_MISPLACED = 3
"""The maximum number of misplaced operations in a host program that are reported."""

_NO_RETURN = "all functions need to have a tfrt.return"
_MULTI_BLOCK = "multi-block regions cannot be emitted to BEF files"
_KINDS: dict[str, type[Attribute]] = {COST_ATTRIBUTE: IntegerAttr, NONSTRICT: UnitAttr}
"""The classes of attributes that any kernel may have."""


class ConversionError(TfrtError):
    """The error for a module that no file can contain, or a file that is not a program.

    `diagnostics` lists every reason.
    """


@dataclass(slots=True)
class Call:
    """An operation that becomes a kernel.

    `functions` contains the names of the functions to which its attributes refer. `regions`
    contains the indexes of its regions among the functions.
    """

    op: Operation
    attributes: tuple[int, ...] = ()
    attribute_names: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    regions: tuple[int, ...] = ()
    is_nonstrict: bool = False


@dataclass(slots=True)
class Function:
    """A function, or a region of `op`, which has no name. A native function has no block."""

    op: Operation
    kind: FunctionKind
    name: str
    argument_types: Sequence[str]
    result_types: Sequence[str]
    block: Block | None = None
    calls: Sequence[Call] = ()


def upstream_advice(op: Operation) -> str:
    """Return what to write in a host program instead of an MLIR operation, or ""."""
    if isinstance(op, UnknownOp) or op.name.partition(".")[0] not in UPSTREAM_DIALECTS:
        return ""
    types = [value.type for value in (*op.operands, *op.results)]
    kernel = in_host_programs(op.name, str(types[0]) if types else "")
    instead = f"write '{kernel}', or " if kernel else ""
    return (
        "this function is a host program because it has kernels or a 'tfrt.return': "
        f"{instead}remove the kernels and end the function with 'return'"
    )


class Collector:
    """The contents of a file that is being created. No file is created unless `errors` is empty."""

    def __init__(self, module: ModuleOp | None, *, optional_sections: bool) -> None:
        """Collect the contents of `module`.

        If `module` is None, start without contents, for `collect_call`.
        """
        self.has_optional_sections = optional_sections
        self.functions: list[Function] = []
        self.kernel_names: dict[str, None] = {}
        self.types = TypeTable()
        self.attributes = AttributeTable()
        self.names_of_function_lists: set[str] = set()
        self.errors: list[Diagnostic] = []
        self._nesting = 0
        """The number of regions around the current operation."""
        self._misplaced = 0
        """How many of the current function's operations can only be used in compiled functions."""
        self._ops: Iterable[Operation] = () if module is None else module.ops
        if module is not None:
            self._collect_module(module)

    @cached_property
    def _compiled(self) -> CompiledModules:
        return CompiledModules(self._ops)

    def fail(
        self, op: Operation, message: str, advice: str = "", at: Operation | None = None
    ) -> None:
        """Record that no file can be written because of `op`.

        `advice`, located at `at`, says what to write instead.
        """
        notes = [note(advice, _place(at or op))] if advice else []
        self.errors.append(error(message, _place(op), notes))

    def check(self) -> None:
        """Check that a file can be written.

        Raises:
            ConversionError: if `fail` was called. The error lists everything that was recorded.
        """
        if self.errors:
            raise ConversionError(*self.errors)

    def module(self, functions: tuple[BefFunction, ...], places: PlaceWriter) -> BefModule:
        """Return the contents of the file: the functions, and everything to which they refer."""
        attributes, is_whole = self.attributes, self.has_optional_sections
        return BefModule(
            functions,
            tuple(self.kernel_names),
            tuple(self.types.names),
            bytes(attributes.section.data),
            attributes.section.alignment,
            bytes(places.strings.data),
            bytes(places.records.data),
            attributes.kinds if is_whole else None,
            tuple(self.names_of_function_lists) if is_whole else (),
        )

    def _collect_module(self, module: ModuleOp) -> None:
        for op in module.ops:
            if isinstance(op, FuncOp):
                self._collect_function(op)
            elif not isinstance(op, ModuleOp):
                outside = f"'{op.name}' is outside of a function"
                self.fail(op, f"{outside}: write 'func.func @main() {{' above it, and '}}' below")
                break
            elif op not in self._compiled:
                self._collect_module(op)

    def _check_name(self, op: Operation, name: str) -> None:
        """Reject a name that contains NUL, which terminates a name in a file."""
        if "\0" in name:
            self.fail(op, f"a name in a BEF file cannot contain NUL: {name!r}")

    # Functions and regions

    def _collect_function(self, op: FuncOp) -> None:
        if not op.body.blocks:
            if NATIVE not in op.attributes:
                self.fail(op, "external functions are not allowed")
            self._add_function(op, FunctionKind.NATIVE)
            return
        is_sync = SYNC in op.attributes
        block = op.body.blocks[0]
        self._misplaced = 0
        calls = self._collect_block(op, block)
        if self._misplaced > MOST_MISPLACED:
            self.fail(
                op, f"this host program has {self._misplaced} operations of compiled functions"
            )
        if len(op.body.blocks) > 1 and return_of(block) is not None:
            self.fail(op, _MULTI_BLOCK)
        if is_sync:
            self._check_sync_return(block)
        self._add_function(op, FunctionKind.SYNC if is_sync else FunctionKind.ASYNC, block, calls)

    def _add_function(
        self,
        op: FuncOp,
        kind: FunctionKind,
        block: Block | None = None,
        calls: Sequence[Call] = (),
    ) -> None:
        arguments = self.types.spellings(op.function_type.inputs)
        results = self.types.spellings(op.function_type.outputs)
        name = op.sym_name.data
        self._check_name(op, name)
        self.functions.append(Function(op, kind, name, arguments, results, block, calls))

    def _collect_region(self, op: Operation, region: Region) -> tuple[Block, list[Call]] | None:
        if len(region.blocks) != 1:
            self.fail(op, _MULTI_BLOCK)
            return None
        block = region.blocks[0]
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            # Raise the error immediately, because a deeper walk might exhaust the stack.
            raise ConversionError(error(TOO_DEEP, span_of(op)))
        calls = self._collect_block(op, block)
        self._nesting -= 1
        return block, calls

    def _add_region(self, op: Operation, block: Block, calls: Sequence[Call]) -> int:
        """Add the region to the functions, and return its index."""
        end = return_of(block)
        arguments = self.types.spellings(argument.type for argument in block.args)
        results = self.types.spellings(value.type for value in end.operands) if end else []
        region = Function(op, FunctionKind.ASYNC, "", arguments, results, block, calls)
        self.functions.append(region)
        return len(self.functions) - 1

    def _check_sync_return(self, block: Block) -> None:
        """Check that each result of a sync function has its own register.

        This is required because the interpreter moves results out of their registers.
        """
        end = return_of(block)
        if end is None:
            return
        for index, value in enumerate(end.operands):
            if value in block.args:
                self.fail(end, f"return value {index} is an argument in a sync function")
                return
            if value in end.operands[:index]:
                self.fail(end, f"return value {index} is duplicated in a sync function")
                return

    # Kernels

    def _collect_block(self, op: Operation, block: Block) -> list[Call]:
        """Return the kernels in the block, without its return. `op` contains the block."""
        if return_of(block) is None:
            last = block.last_op
            is_return = last is not None and last.name == "func.return"
            kernel = next(filter(is_kernel, op.walk()), None) if is_return else None
            self.fail(last or op, _NO_RETURN, *_advice_on_return(kernel) if is_return else ())
        calls = []
        for inner in block.ops:
            if inner.name != RETURN:
                calls.append(self.collect_call(inner))
            elif inner is not block.last_op:
                self.fail(inner, "return op must be at the end of its block")
        return calls

    def collect_call(self, op: Operation) -> Call:
        """Return the kernel that `op` becomes, and add everything that it needs to the tables."""
        call = Call(op)
        if op.name != "func.return" and (advice := upstream_advice(op)):
            self._misplaced += 1
            if self._misplaced <= MOST_MISPLACED:
                self.fail(op, f"'{op.name}' is an operation of compiled functions", advice)
            return call
        # In a file, the kernels in a region come before the kernel that has the region. The
        # functions of nested regions come before the region's own function.
        regions = [self._collect_region(op, region) for region in op.regions] if op.regions else ()
        if op.name not in self.kernel_names:
            self._check_name(op, op.name)
            self.kernel_names[op.name] = None
        if op.results:
            self.types.include(op.results)
        if op.attributes or op.properties:
            self._collect_attributes(call)
        if regions:
            call.regions = tuple(self._add_region(op, *region) for region in regions if region)
        return call

    def _collect_attributes(self, call: Call) -> None:
        op = call.op
        offsets: list[int] = []
        names: list[str] = []
        functions: list[str] = []
        attributes = op.attributes | op.properties if op.properties else op.attributes
        for name, attribute in sorted(attributes.items()):
            kind = _KINDS.get(name)
            problem = None if kind is None else kind_problem(op, name, attribute, kind)
            if problem is not None:
                self.fail(op, *problem)
                continue
            # Costs determine the streams, but a file does not contain the costs.
            if name == COST_ATTRIBUTE:
                continue
            # The section contains only values, so a known attribute is neither NONSTRICT nor a list
            # of callees.
            if (known := self.attributes.find(attribute)) is not None:
                offsets.append(known)
                names.append(name)
            elif name == NONSTRICT:
                call.is_nonstrict = True
            elif (callees := self._callees(name, attribute)) is not None:
                functions += callees
            elif _nests_deeper(attribute, MAX_AGGREGATES):
                self.fail(op, f"attribute '{name}' nests more than {MAX_AGGREGATES} deep")
            elif (offset := self._add_attribute(attribute)) is not None:
                offsets.append(offset)
                names.append(name)
            else:
                advice = meant(name, (NONSTRICT,), form="'{}'")
                self.fail(op, f"BEF files cannot encode the '{name}' attribute", advice)
            if "\0" in name:
                self._check_name(op, name)
        call.attributes = tuple(offsets)
        call.attribute_names = tuple(names)
        call.functions = tuple(functions)

    def _callees(self, name: str, attribute: Attribute) -> list[str] | None:
        """Return the functions to which `attribute` refers, or None if the attribute is a value."""
        if isinstance(attribute, SymbolRefAttr) and not self._compiled.has(attribute):
            return [_name(attribute)]
        if not isinstance(attribute, ArrayAttr) or not attribute.data:
            return None
        symbols = [item for item in attribute.data if isinstance(item, SymbolRefAttr)]
        if len(symbols) != len(attribute.data):
            return None
        self.names_of_function_lists.add(name)
        return [_name(symbol) for symbol in symbols]

    def _add_attribute(self, attribute: Attribute) -> int | None:
        """Add a new attribute, and return its offset, or None if a file cannot contain it."""
        if isinstance(attribute, SymbolRefAttr):
            return self.attributes.add(attribute, self._compiled.symbol(attribute))
        value = encode(attribute)
        if value is None:
            return None
        if self.has_optional_sections:
            self.types.spellings(_number_types(attribute))
        return self.attributes.add(attribute, value)


def _place(op: Operation) -> AnyLocation:
    return span_of(op) or to_location(place_of(location_of(op)))


def _advice_on_return(kernel: Operation | None) -> tuple[str, Operation | None]:
    """Return the advice for a 'return' that ends a host program, and the place of the advice.

    `kernel` is the first kernel of the host program.
    """
    advice = "'return' ends compiled functions: write 'tfrt.return'"
    if kernel is None:
        return advice, None
    return f"'{kernel.name}' is a kernel, which makes the function a host program; {advice}", kernel


def _nests_deeper(attribute: Attribute, levels: int) -> bool:
    """Return whether arrays in `attribute` are nested more than `levels` deep.

    Readers of BEF files reject such arrays.
    """
    if not isinstance(attribute, ArrayAttr):
        return False
    return levels == 0 or any(_nests_deeper(element, levels - 1) for element in attribute.data)


def _number_types(attribute: Attribute) -> Iterator[Attribute]:
    """Yield the types of the numbers in `attribute`.

    A file lists these types even though no part of it refers to them.
    """
    if isinstance(attribute, IntegerAttr | FloatAttr):
        yield attribute.type
    elif isinstance(attribute, ArrayAttr):
        for element in attribute.data:
            yield from _number_types(element)


def _name(symbol: SymbolRefAttr) -> str:
    return "::@".join(
        [symbol.root_reference.data, *(part.data for part in symbol.nested_references)]
    )


def return_of(block: Block) -> Operation | None:
    """Return the terminator of `block` if it is a return, and None otherwise."""
    last = block.last_op
    return last if last is not None and last.name == RETURN else None


class TypeTable:
    """Types by spelling, in the order of first use. The caller must keep the types alive."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        # The key is the type's id, because hashing an IR type costs a call, and almost all types
        # are the same few objects.
        self._spellings: dict[int, str] = {}

    def spellings(self, types: Iterable[Attribute]) -> list[str]:
        """Return the spellings of `types`, and add the types to the table."""
        known = self._spellings
        return [known.get(id(value_type)) or self._add(value_type) for value_type in types]

    def include(self, values: Iterable[SSAValue]) -> None:
        """Add the types of `values` to the table."""
        for value in values:
            if id(value._type) not in self._spellings:
                self._add(value._type)

    def _add(self, value_type: Attribute) -> str:
        spelling = self._spellings[id(value_type)] = _spelling(value_type)
        self.names[spelling] = None
        return spelling


@lru_cache(1024)
def _spelling(value_type: Attribute) -> str:
    """Return the spelling of a type.

    Spellings are cached, because printing one takes as long as all other work on an operation.
    """
    return str(value_type)


class AttributeTable:
    """The attributes section of a file: each attribute once, in the order of first use.

    The caller must keep the attributes alive.
    """

    def __init__(self) -> None:
        self.section = ByteBuilder()
        self.kinds: dict[int, int] = {}
        self._offsets: dict[Hashable, int] = {}
        self._types: dict[Attribute, int] = {}
        # The key is the attribute's id, as in `TypeTable`.
        self._known_offsets: dict[int, int] = {}
        self._known_types: dict[int, int] = {}

    def find(self, attribute: Attribute) -> int | None:
        """Return the offset of `attribute`, or None if it is not in the section."""
        offset = self._known_offsets.get(id(attribute))
        if offset is None:
            offset = self._offsets.get(self._key(attribute))
            if offset is not None:
                self._known_offsets[id(attribute)] = offset
        return offset

    def _key(self, attribute: Attribute) -> Hashable:
        """Return a key that is equal for equal attributes.

        The key of an integer is cheaper to hash than the attribute.
        """
        if type(attribute) is not IntegerAttr:
            return attribute
        number = self._known_types.get(id(attribute.type))
        if number is None:
            number = self._types.setdefault(attribute.type, len(self._types))
            self._known_types[id(attribute.type)] = number
        return number, attribute.value.data

    def add(self, attribute: Attribute, value: bef.Attribute) -> int:
        """Add `attribute`, which a file stores as `value`, and return its offset."""
        offset = write_attribute(self.section, value)
        self._offsets[self._key(attribute)] = self._known_offsets[id(attribute)] = offset
        self.kinds[offset] = bef.kind_of(value)
        return offset
