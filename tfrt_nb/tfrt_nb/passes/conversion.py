"""Values of one type that become values of another, while operations of both kinds use them.

As in MLIR's dialect conversion: a new operation gets the new values, an operation that stays keeps the
old ones, and where the types differ a `builtin.unrealized_conversion_cast` stands between the two.  Each
value is cast to a type once, right behind its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tfrt_nb.passes.control_flow import Emitter


@dataclass
class Conversion:
    """What has been converted so far.  The old operations and arguments are there until `finish`."""

    _new: dict[SSAValue, SSAValue] = field(default_factory=dict)
    _casts: dict[tuple[SSAValue, Attribute], UnrealizedConversionCastOp] = field(
        default_factory=dict
    )
    _replaced: list[Operation] = field(default_factory=list)
    _arguments: list[BlockArgument] = field(default_factory=list)

    def retype(self, block: Block, convert: Callable[[Attribute], Attribute]) -> None:
        """Give the arguments of a block their new types."""
        for old in block.args:
            type_ = convert(old.type)
            if type_ != old.type:
                self._new[old] = block.insert_arg(type_, old.index, old.location)
                self._arguments.append(old)

    def value(self, old: SSAValue, type_: Attribute) -> SSAValue:
        """What stands for a value where one of the type is wanted: the last that has it, or a cast."""
        found = old if old.type == type_ else None
        while old in self._new:
            old = self._new[old]
            found = old if old.type == type_ else found
        if found is not None:
            return found
        if (old, type_) not in self._casts:
            self._casts[old, type_] = UnrealizedConversionCastOp.get([old], [type_])
        return self._casts[old, type_].outputs[0]

    def replace(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Let values that are known in front of `op` stand for its results."""
        self._new.update(zip(op.results, values, strict=True))
        self._replaced.append(op)

    def finish(self) -> None:
        """Erase what was replaced, and put the casts in place."""
        for op in self._replaced:
            op.operands = ()
        casts = [cast for cast in self._casts.values() if self._is_needed(cast)]
        # The last first: what stands for a result may have been replaced itself.
        for op in reversed(self._replaced):
            self._cast_results_back(op)
        self._cast_arguments_back()
        for cast in casts:
            _behind_definition(cast)
        for op in self._replaced:
            assert op.parent is not None
            op.parent.erase_op(op)
        for argument in self._arguments:
            argument.block.erase_arg(argument)

    def _is_needed(self, cast: UnrealizedConversionCastOp) -> bool:
        """Whether a cast changes a type.  Where a use comes before the definition in the text, that was
        not converted when the cast was made: its source is now what it was converted to."""
        source = cast.inputs[0]
        while source in self._new:
            source = self._new[source]
        if source.type != cast.outputs[0].type:
            cast.operands[0] = source
            return True
        cast.outputs[0].replace_all_uses_with(source)
        cast.operands = ()
        return False

    def _cast_arguments_back(self) -> None:
        for argument in self._arguments:
            if argument.uses:
                cast = UnrealizedConversionCastOp.get([self._new[argument]], [argument.type])
                _behind_definition(cast)
                argument.replace_all_uses_with(cast.outputs[0])

    def _cast_results_back(self, op: Operation) -> None:
        """MLIR casts back from the last value that stands for a result, if any type of the results has
        changed: that may be a cast itself."""
        changed = any(self._new[result].type != result.type for result in op.results)
        for result in op.results:
            if not result.uses:
                continue
            new = self._new[result]
            if changed:
                casts = [cast for (source, _), cast in self._casts.items() if source is new]
                new = casts[-1].outputs[0] if casts else new
            if new.type != result.type:
                cast = Emitter.in_front_of(op)(UnrealizedConversionCastOp.get([new], [result.type]))
                new = cast.outputs[0]
            result.replace_all_uses_with(new)


def _behind_definition(cast: UnrealizedConversionCastOp) -> None:
    """Put a cast right behind what defines its operand, in front of casts that are there."""
    owner = cast.inputs[0].owner
    if isinstance(owner, Block):
        parent = owner.parent_op()
        assert parent is not None
        Emitter.at_start(owner, parent.location)(cast)
    else:
        Emitter.behind(owner)(cast)
