"""The table of native kernels that are not scalar operations.

Each row generates a kernel's registry entry, its operation's syntax, and its documentation.  To add
a kernel, write its function in `native.kernels` and add a row here.  Kernels for control flow are
in `kernels.basic.scalars`, because they start functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

NUMBERS = frozenset({"i1", "i8", "i16", "i32", "i64", "ui32", "ui64", "f16", "bf16", "f32", "f64"})


@dataclass(frozen=True, slots=True)
class NativeRow:
    """A native kernel, or several kernels: one for each of the `variants`.

    Each variant replaces `{}` in the row's strings.  `types` contains the types of operands and
    results, such as `"i32 chain -> chain"`.  In it, `i32*` means any number of i32 operands, and a
    final chain may be omitted.  `function` is `module.name` in `native.kernels`.
    """

    name: str
    types: str
    function: str
    text: str
    form: str = "GENERIC"
    """The operation's syntax: the name of a `Form`."""
    flags: tuple[str, ...] = ()
    """Words that describe how the kernel runs.

    `heavy`: worth waking a worker.  `blocking`: runs in the blocking pool.  `raw`: takes
    unavailable values.
    """
    functions: tuple[str, ...] = ()
    """Native functions whose addresses are the first words of the kernel's data."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The types of the attributes, as words, by the attributes' names."""
    sync: bool = False
    """Whether the kernel runs only in sync functions."""
    is_loose: bool = False
    """Whether programs may use types that differ from the row's.

    They may if the kernel does not read its operands as numbers.
    """
    for_each: bool = False
    """Whether the kernel takes any number of arguments and has one result for each argument."""
    variants: str = ""
    example: str = ""
    """An example program, if no program can be generated from the types."""

    @property
    def operands(self) -> tuple[str, ...]:
        """The types of the operands as words.  The last word may end in a star."""
        return tuple(self.types.partition("->")[0].split())

    @property
    def results(self) -> tuple[str, ...]:
        """The types of the results as words."""
        return tuple(self.types.partition("->")[2].split())

    def filled(self) -> Iterator[NativeRow]:
        """Yield the row of each variant."""
        for word in self.variants.split() or ("",):
            yield replace(
                self,
                name=self.name.replace("{}", word),
                types=self.types.replace("{}", word),
                function=self.function.replace("{}", word),
                attributes={key: one.replace("{}", word) for key, one in self.attributes.items()},
                variants="",
            )


_COPY, _ERROR = ("async_kernels.copy_task",), ("async_kernels.error_task",)
_ADD = ("async_kernels.add_task_i32",)

_ATOMIC_EXAMPLE = """\
func.func @main() -> (i32, !tfrt.chain) {
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %ch = tfrt.new.chain
  %added = "tfrt_test.atomic.inc.i32"(%counter, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %x, %done = "tfrt_test.atomic.get.i32"(%counter, %added) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %done : i32, !tfrt.chain
}
"""
_MAKE_INDIRECT_EXAMPLE = """\
func.func @main() -> (i32, f32) {
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.f32 2.5
  %x, %y = "NAME"(%a, %b) : (i32, f32) -> (i32, f32)
  tfrt.return %x, %y : i32, f32
}
"""

ROWS = tuple(
    row
    for one in (
        NativeRow(
            "tfrt.new.chain",
            "-> chain",
            "scalar_kernels.new_chain",
            "A chain: a value without content that only orders effects.",
            form="OPERANDS",
        ),
        NativeRow(
            "tfrt.new_s.chain",
            "-> chain",
            "scalar_kernels.new_chain",
            "A chain: a value without content that only orders effects, for sync functions.",
            form="OPERANDS",
            sync=True,
        ),
        NativeRow(
            "tfrt.merge.chains",
            "any* -> chain",
            "scalar_kernels.new_chain",
            "A chain that becomes available when all operands are available.",
            form="TYPED",
            example="""\
// 1 and 2 may be printed in either order, 3 comes last.
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %a = tfrt.print.i32 %one, %ch
  %b = tfrt.print.i32 %two, %ch
  %both = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  %done = tfrt.print.i32 %three, %both
  tfrt.return %done : !tfrt.chain
}
""",
        ),
        NativeRow(
            "tfrt.alias.value",
            "chain any -> any",
            "scalar_kernels.alias_value",
            "The value, once the chain is available.",
            example="""\
// The sum is there at once; %x is not available before the line is printed.
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %ch = tfrt.new.chain
  %printed = tfrt.print.i32 %a, %ch
  %x = "tfrt.alias.value"(%printed, %a) : (!tfrt.chain, i32) -> i32
  tfrt.return %x : i32
}
""",
        ),
        NativeRow(
            "tfrt.copy_s",
            "any -> any",
            "async_kernels.share_arguments",
            "The value itself.",
            sync=True,
            for_each=True,
            example="""\
func.func @main() -> i32 attributes {tfrt.sync} {
  %a = tfrt.constant_s.i32 13
  %x = "tfrt.copy_s"(%a) : (i32) -> i32
  tfrt.return %x : i32
}
""",
        ),
        NativeRow(
            "tfrt_test.as_chain",
            "any* -> chain",
            "scalar_kernels.new_chain",
            "A chain that becomes available when all operands are available.",
            example="""\
func.func @main() -> !tfrt.chain {
  %a = tfrt.constant.i32 13
  %sum = "tfrt_test.async_add.i32"(%a, %a) : (i32, i32) -> i32
  %both = "tfrt_test.as_chain"(%a, %sum) : (i32, i32) -> !tfrt.chain
  %done = tfrt.print.i32 %a, %both
  tfrt.return %done : !tfrt.chain
}
""",
        ),
        NativeRow(
            "tfrt_test.async_add.i32",
            "i32 i32 -> i32",
            "async_kernels.async_add_i32",
            "The sum, computed by another task.",
            functions=_ADD,
        ),
        NativeRow(
            "tfrt_test.async_constant.{}",
            "-> {}",
            "async_kernels.async_constant_{}",
            "A constant that another task provides.",
            functions=_COPY,
            attributes={"value": "{}"},
            variants="i1 i32",
        ),
        *(
            NativeRow(
                f"tfrt_test.{name}.i32",
                "i32 -> i32",
                "async_kernels.async_copy_i32",
                "The value, returned by another task.",
                functions=_COPY,
            )
            for name in ("async_copy", "async_copy_2")
        ),
        NativeRow(
            "tfrt_test.async_copy.with_delay.{}",
            "{} -> {}",
            "async_kernels.copy_with_delay_{}",
            "The value, returned a moment later by a thread of the blocking pool.",
            flags=("blocking",),
            variants="i32 i64",
        ),
        NativeRow(
            "tfrt_test.copy.with_delay.{}",
            "{} -> {}",
            "async_kernels.copy_with_delay_{}",
            "The value, after a short delay, during which the worker sleeps.",
            flags=("heavy",),
            variants="i32 i64",
        ),
        NativeRow(
            "tfrt_test.usleep",
            "i32 ->",
            "async_kernels.usleep",
            "Sleep for a number of microseconds, on a thread of the blocking pool.",
            flags=("blocking",),
            example="""\
func.func @main() {
  %microseconds = tfrt.constant.i32 1000
  "tfrt_test.usleep"(%microseconds) : (i32) -> ()
  tfrt.return
}
""",
        ),
        NativeRow(
            "tfrt_test.blocking.usleep",
            "i32 -> chain",
            "async_kernels.blocking_usleep",
            "A chain, after a number of microseconds on a thread of the blocking pool.",
            flags=("blocking",),
            example="""\
func.func @main() -> !tfrt.chain {
  %microseconds = tfrt.constant.i32 1000
  %done = "tfrt_test.blocking.usleep"(%microseconds) : (i32) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}
""",
        ),
        NativeRow(
            "tfrt_test.atomic.create.i32",
            "-> atomic.i32",
            "async_kernels.atomic_create_i32",
            "A counter that starts at zero.",
            example=_ATOMIC_EXAMPLE,
        ),
        NativeRow(
            "tfrt_test.atomic.inc.i32",
            "atomic.i32 chain -> chain",
            "async_kernels.atomic_increment_i32",
            "Add one to a counter.",
            is_loose=True,
            example=_ATOMIC_EXAMPLE,
        ),
        NativeRow(
            "tfrt_test.atomic.add.i32",
            "atomic.i32 i32 chain -> chain",
            "async_kernels.atomic_add_i32",
            "Add a number to a counter.",
            is_loose=True,
            example="""\
func.func @main() -> (i32, !tfrt.chain) {
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %a = tfrt.constant.i32 13
  %ch = tfrt.new.chain
  %added = "tfrt_test.atomic.add.i32"(%counter, %a, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  %x, %done = "tfrt_test.atomic.get.i32"(%counter, %added) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %done : i32, !tfrt.chain
}
""",
        ),
        NativeRow(
            "tfrt_test.atomic.get.i32",
            "atomic.i32 chain -> i32 chain",
            "async_kernels.atomic_get_i32",
            "The value of a counter.",
            is_loose=True,
            example=_ATOMIC_EXAMPLE,
        ),
        NativeRow(
            "tfrt_test.count3.{}",
            "{} -> {} {} {}",
            "scalar_kernels.count3_{}",
            "The three numbers that follow the operand.",
            form="OPERANDS",
            variants="i32 i64",
        ),
        NativeRow(
            "tfrt_test.sum",
            "i32* -> i32",
            "scalar_kernels.sum_i32",
            "The sum of all operands.",
        ),
        *(
            NativeRow(
                f"tfrt_test.{name}",
                "i32* -> i32",
                "scalar_kernels.sum_i32",
                "The sum of all operands.",
                sync=True,
            )
            for name in ("sync_sum", "sync_sum2")
        ),
        NativeRow(
            "tfrt_test.sync_sum_attributes",
            "-> i32",
            "scalar_kernels.sum_attributes_i32",
            "The sum of all attributes.",
            attributes={"": "*i32"},
            sync=True,
            is_loose=True,
            example="""\
func.func @main() -> i32 attributes {tfrt.sync} {
  %x = "tfrt_test.sync_sum_attributes"() {a = 13 : i32, b = 6 : i32} : () -> i32
  tfrt.return %x : i32
}
""",
        ),
        NativeRow(
            "tfrt_test.fail",
            "-> i32",
            "async_kernels.fail_now",
            "Always fails: its result is an error.",
            is_loose=True,
        ),
        *(
            NativeRow(
                f"tfrt_test.{name}",
                "-> i32",
                # A sync function returns the kernel's error without reporting it.
                "async_kernels.fail_quietly",
                text,
                sync=True,
                is_loose=True,
            )
            for name, text in (
                ("fail_s", "Always fails: its result is an error.  In sync functions."),
                ("error_s", "Always fails: its result is an error."),
            )
        ),
        NativeRow(
            "tfrt_test.partial_fail",
            "-> i32 i32",
            "async_kernels.partial_fail",
            "Two results: a number, and an error.",
            is_loose=True,
        ),
        NativeRow(
            "tfrt_test.report_error_async",
            "-> i32",
            "async_kernels.report_error_async",
            "An error that another task reports.",
            functions=_ERROR,
            is_loose=True,
        ),
        NativeRow(
            "tfrt_test.report_error_concrete_async",
            "i32 -> i32",
            "async_kernels.report_error_when_async",
            "An error that another task sets as the result.",
            functions=_ERROR,
            is_loose=True,
        ),
        NativeRow(
            "tfrt_test.report_error_indirect_async",
            "i32 -> i32",
            "async_kernels.report_error_when_async",
            "An error to which another task forwards the result.",
            functions=_ERROR,
            is_loose=True,
        ),
        NativeRow(
            "tfrt_test.error_chain",
            "chain -> chain",
            "async_kernels.error_chain",
            "A chain that is an error.",
            is_loose=True,
        ),
        NativeRow(
            "tfrt_test.cancel",
            "chain -> i32 chain",
            "async_kernels.cancel",
            "Cancels the run: operations that have not started are skipped.",
            is_loose=True,
            example="""\
// What has not begun is skipped: the print never happens.
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %zero, %cancelled = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %done = tfrt.print.i32 %zero, %cancelled
  tfrt.return %done : !tfrt.chain
}
""",
        ),
        NativeRow(
            "tfrt_test.multi_arg_result",
            "any* ->",
            "async_kernels.share_arguments",
            "The operands.",
            for_each=True,
            example=_MAKE_INDIRECT_EXAMPLE,
        ),
        NativeRow(
            "tfrt_test.identity",
            "chain any* ->",
            "async_kernels.identity",
            "The operands, once the chain is available.",
            for_each=True,
            example="""\
func.func @main() -> (i32, f32) {
  %ch = tfrt.new.chain
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.f32 2.5
  %x, %y = "tfrt_test.identity"(%ch, %a, %b) : (!tfrt.chain, i32, f32) -> (i32, f32)
  tfrt.return %x, %y : i32, f32
}
""",
        ),
        NativeRow(
            "tfrt_test.make_indirect",
            "any* ->",
            "async_kernels.make_indirect",
            "The operands, each through a value that is forwarded to it.",
            for_each=True,
            example=_MAKE_INDIRECT_EXAMPLE,
        ),
        NativeRow(
            "tfrt_test.get_uniqueness",
            "any* ->",
            "async_kernels.get_uniqueness",
            "For each operand, whether nothing else refers to it.",
            flags=("raw",),
            for_each=True,
            example="""\
// An operation that needs no other value sees the only reference; %b is an operand twice.
func.func @main() -> (i1, i1, i1) {
  %one = tfrt.constant.i32 1
  %a = tfrt.add.i32 %one, %one
  %b = tfrt.add.i32 %one, %one
  %x = "tfrt_test.get_uniqueness"(%a) : (i32) -> i1
  %y, %z = "tfrt_test.get_uniqueness"(%b, %b) : (i32, i32) -> (i1, i1)
  tfrt.return %x, %y, %z : i1, i1, i1
}
""",
        ),
    )
    for row in one.filled()
)
"""All rows; each one describes one kernel."""
