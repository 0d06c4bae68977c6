"""Read the bodies of functions from bytes; `records` describes their layout.

The reader checks everything, so an executor may follow every number in the result without further
checks:

- Kernels use only registers that are defined earlier, so a run terminates.
- The users of a value are exactly the kernels that have the value as an operand, so a kernel runs
  once, when its operands are available.
- A register has exactly as many uses as its use count says, so a value lives as long as it is
  needed.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress
from operator import lt, ne
from typing import Any, NamedTuple

from tfrt_runtime.bef.records import (
    KERNEL_ALIGNMENT,
    KERNEL_HEADER_WORDS,
    PSEUDO_KERNEL_CODE,
    PSEUDO_KERNEL_LOCATION,
    BefFunction,
    BefKernel,
    FunctionKind,
    Numbers,
    kernel_of,
)
from tfrt_runtime.bef.wire import Cursor, MalformedBef
from tfrt_runtime.diagnostics import counted

_PROBLEM = "invalid Functions section in BEF file"
_WORD = 4


class Signature(NamedTuple):
    """An entry of the function index.

    `offset` is the position of the function's body in the functions section.
    """

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Tables:
    """The limits of kernels' references.

    Kernels refer to names by index, to functions by index, and to attributes by offset.
    """

    kernel_names: tuple[str, ...]
    function_count: int
    attributes_size: int


class BodyReader:
    """Reads bodies one after another, in the file's order.

    `data` is the whole file.  The functions section extends from `start`, a multiple of 4, to
    `end`.
    """

    def __init__(self, data: memoryview, start: int, end: int, tables: Tables) -> None:
        self._data = data
        self._start = start
        self._end = end
        self._tables = tables
        self._next_word = 0

    @cached_property
    def _words(self) -> Numbers:
        """The functions section as 32-bit words."""
        return struct.unpack_from(
            f"<{(self._end - self._start) // _WORD}I", self._data, self._start
        )

    def read(self, signature: Signature, nonstrict: Collection[int]) -> BefFunction:
        """Read the function with the given signature.

        `nonstrict` contains the numbers of the function's non-strict kernels.
        """
        # If bodies could overlap, a small file would be expensive to read.
        if signature.offset % _WORD or signature.offset < self._next_word * _WORD:
            raise self._fail(
                f"a body at {signature.offset}, inside the previous one", self._next_word
            )
        cursor = Cursor(self._data, _PROBLEM, self._start + signature.offset, self._end)
        location = cursor.varint()
        register_count = cursor.count("registers")
        use_counts = cursor.varints(register_count)
        kernel_count = cursor.count("kernels")
        table = cursor.varints(3 * kernel_count)
        result_registers = cursor.varints(len(signature.result_types))
        cursor.align(KERNEL_ALIGNMENT)

        self._next_word = (cursor.offset - self._start) // _WORD
        argument_count = len(signature.argument_types)
        entry_users, *argument_users = self._read_pseudo_kernel(
            table, register_count, argument_count
        )
        kernels = self._read_kernels(table, argument_count, frozenset(nonstrict))
        function = BefFunction(
            *signature[:4],
            location,
            register_count,
            use_counts,
            kernels,
            entry_users,
            tuple(argument_users),
            table[2::3],
            result_registers,
        )
        if problem := _find_wrong_use(function):
            raise cursor.fail(problem)
        return function

    def _read_pseudo_kernel(
        self, table: tuple[int, ...], register_count: int, argument_count: int
    ) -> tuple[tuple[int, ...], ...]:
        """Return the users of the trigger, followed by the users of each argument."""
        if not table:
            raise self._fail("no pseudo kernel", self._next_word)
        lists = self._split(self._next_word)
        if not _is_pseudo_kernel(table[0], lists, register_count, argument_count):
            raise self._fail("no pseudo kernel for the function's arguments", self._next_word)
        used_by: tuple[Numbers, ...] = lists[6]
        return used_by

    def _read_kernels(
        self, table: tuple[int, ...], argument_count: int, nonstrict: frozenset[int]
    ) -> tuple[BefKernel, ...]:
        """Read the kernels after the pseudo kernel.

        `table` has three numbers for each kernel, including the pseudo kernel.
        """
        first = self._next_word
        at = self._split(first)[-1]
        kernels: list[BefKernel] = []
        positions: list[int] = []
        operands: Numbers = ()
        users: tuple[Numbers, ...] = ()
        names = self._tables.kernel_names
        known_names = len(names)
        rows = zip(table[3::3], table[4::3], strict=True)
        for number, (offset, operand_count) in enumerate(rows, 1):
            try:
                lists = self._split(at)
                code, location, arguments, attributes, functions, results, used_by, end = lists
                if offset != _WORD * (at - first) or operand_count != len(arguments):
                    raise self._fail("a kernel that does not fit its entry in the table", at)
                if code >= known_names:
                    raise self._fail(f"kernel code {code}, there are {known_names}", at)
            except MalformedBef:
                # Errors in earlier kernels must be reported first.
                self._check_references(kernels, positions, argument_count)
                raise
            # Neighboring kernels often have the same operands or users; keep equal lists only once.
            operands = operands if operands == arguments else arguments
            users = users if users == used_by else used_by
            is_nonstrict = number in nonstrict
            waits = min(operand_count, 1) if is_nonstrict else operand_count
            kernels.append(
                kernel_of(
                    (
                        names[code],
                        location,
                        operands,
                        attributes,
                        functions,
                        results,
                        users,
                        waits,
                        is_nonstrict,
                    )
                )
            )
            positions.append(at)
            at = end
        self._check_references(kernels, positions, argument_count)
        self._next_word = at
        return tuple(kernels)

    def _check_references(
        self, kernels: Sequence[BefKernel], positions: Sequence[int], argument_count: int
    ) -> None:
        """Check the references of kernels; `positions` are the positions of the kernels in words.

        Raises:
            MalformedBef: at the first kernel that refers to a missing register or function.
        """
        if not kernels or self._are_references_right(kernels, argument_count):
            return
        # At least one reference is wrong: check the kernels one by one to report the first error.
        defined = argument_count
        for kernel, position in zip(kernels, positions, strict=True):
            if problem := self._find_wrong_reference(kernel, defined):
                raise self._fail(problem, position)
            defined += len(kernel.results)

    def _are_references_right(self, kernels: Sequence[BefKernel], argument_count: int) -> bool:
        """Return whether the references of all kernels are right.

        Checking all kernels together is faster than `_find_wrong_reference` for each of them.
        """
        _, _, arguments, attributes, functions, results, *_ = zip(*kernels, strict=True)
        starts = list(accumulate(map(len, results), initial=argument_count))
        last_used = map(max, filter(None, arguments))
        tables = self._tables
        return (
            list(chain.from_iterable(results)) == list(range(argument_count, starts[-1]))
            and all(map(lt, last_used, compress(starts, arguments)))
            and max(chain.from_iterable(attributes), default=-1) < tables.attributes_size
            and max(chain.from_iterable(functions), default=-1) < tables.function_count
        )

    def _split(self, at: int) -> tuple[Any, ...]:
        """Return the parts of the kernel at word `at`, as `_split_words` does."""
        words = self._words
        if at + KERNEL_HEADER_WORDS > len(words) or (lists := _split_words(words, at))[-1] > len(
            words
        ):
            raise self._fail("a kernel past the end of the section", at)
        return lists

    def _find_wrong_reference(self, kernel: BefKernel, defined: int) -> str | None:
        """Return an error in the references of `kernel`, or None.

        The registers below `defined` are defined.
        """
        _, _, arguments, attributes, functions, results, *_ = kernel
        tables = self._tables
        if arguments and max(arguments) >= defined:
            return f"Using undefined registers: {max(arguments)}, {defined} are defined"
        if results != tuple(range(defined, defined + len(results))):
            return f"results in registers {list(results)}, expected {defined} and on"
        if attributes and max(attributes) >= tables.attributes_size:
            return f"attribute at {max(attributes)} of {tables.attributes_size} bytes"
        if functions and max(functions) >= tables.function_count:
            return f"Unknown callee: {max(functions)}, there are {tables.function_count}"
        return None

    def _fail(self, found: str, at: int) -> MalformedBef:
        return MalformedBef(_PROBLEM, self._start + _WORD * at, found)


def _split_words(
    words: Numbers, at: int
) -> tuple[int, int, Numbers, Numbers, Numbers, Numbers, tuple[Numbers, ...], int]:
    """Split the kernel whose header is at `at` in the words of a body into its parts.

    Return its code, location, arguments, attributes, functions, results, the users of each result,
    and the position after the kernel.  If `words` ends too early, the last position is past the end
    of `words`, and the lists are incomplete.  The result is a plain tuple because this code is in
    the innermost loop.
    """
    start = at + KERNEL_HEADER_WORDS
    code, location, argument_count, attribute_count, function_count, result_count = words[at:start]
    arguments = start + result_count
    attributes = arguments + argument_count
    functions = attributes + attribute_count
    results = functions + function_count
    end_of_results = end = results + result_count
    # If the header is past the end, there are no counts, and `end` is past the end, too.
    if result_count == 1 and arguments <= len(words):
        end += words[start]
        used_by: tuple[Numbers, ...] = (words[end_of_results:end],)
    else:
        listed = []
        for count in words[start:arguments]:
            listed.append(words[end : end + count])
            end += count
        used_by = tuple(listed)
    return (
        code,
        location,
        words[arguments:attributes],
        words[attributes:functions] if attribute_count else (),
        words[functions:results] if function_count else (),
        words[results:end_of_results],
        used_by,
        end,
    )


def _is_pseudo_kernel(
    offset: int, lists: tuple[Any, ...], register_count: int, argument_count: int
) -> bool:
    """Return whether a kernel at `offset`, split by `_split_words`, is the pseudo kernel."""
    code, location, _, _, _, results, _, _ = lists
    found = (offset, code, location, results)
    trigger_and_arguments = (register_count, *range(argument_count))
    return found == (0, PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, trigger_and_arguments)


def _find_wrong_use(function: BefFunction) -> str | None:
    """Compare the operands, the lists of users, and the use counts of `function`.

    Return a description of a contradiction between them, or None.
    """
    kernels = function.kernels
    defined = len(function.argument_types) + sum(len(kernel.results) for kernel in kernels)
    if function.register_count != defined:
        return f"{counted(function.register_count, 'register')}, but {defined} {'is' if defined == 1 else 'are'} defined"  # noqa: E501
    if any(register >= defined for register in function.result_registers):
        return "Using an undefined register in return op"
    entry_users, users = _users(function)
    if entry_users != list(function.entry_users):
        return "the kernels without operands are not those listed"
    listed = [*function.argument_users, *chain.from_iterable(k.used_by for k in kernels)]
    if any(map(ne, users, map(sorted, listed))):
        return "the users of a register are not those listed"
    use_counts = list(map(len, users))
    for register in function.result_registers:
        use_counts[register] += 1
    if use_counts != list(function.use_counts):
        return "the use count of a register is wrong"
    return None


def _users(function: BefFunction) -> tuple[list[int], list[list[int]]]:
    """Return the kernels without operands and, for each register, the kernels that use it."""
    without_operands: list[int] = []
    users: list[list[int]] = [[] for _ in range(function.register_count)]
    for number, kernel in enumerate(function.kernels, 1):
        if not kernel.arguments:
            without_operands.append(number)
        for register in kernel.arguments:
            users[register].append(number)
    return without_operands, users
