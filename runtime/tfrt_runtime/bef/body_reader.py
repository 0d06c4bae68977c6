"""Read the bodies of functions from bytes; `records` describes their layout.

The reader checks everything, so an executor may use every number in the result without further
checks:

- Kernels use only registers that are defined earlier, so a run terminates.
- A value's users are exactly the kernels that have the value as an operand, so each kernel runs
  once, when its operands are available.
- A register has exactly as many uses as its use count says, so a value lives as long as it is
  needed.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice, repeat
from operator import attrgetter, eq, ne
from typing import NamedTuple

from tfrt_runtime.bef.records import (
    KERNEL_ALIGNMENT,
    KERNEL_HEADER_WORDS,
    PSEUDO_KERNEL_CODE,
    PSEUDO_KERNEL_LOCATION,
    BefFunction,
    FunctionKind,
    Kernels,
    KernelShape,
    Numbers,
)
from tfrt_runtime.bef.wire import Cursor, MalformedBef
from tfrt_runtime.diagnostics import counted

_PROBLEM = "invalid Functions section in BEF file"
_WORD = 4


class Signature(NamedTuple):
    """A function's kind, name, and types, as the file's function index lists them.

    `offset` is the position of the function's body in the functions section.
    """

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Tables:
    """The data for checking that a kernel refers only to names and functions that exist.

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
        self._shapes: list[KernelShape] = []
        self._known: dict[tuple[object, ...], int] = {}
        """The number of each shape.  Shapes with the same words have the same number."""

    @cached_property
    def _words(self) -> array[int]:
        """The functions section as 32-bit words."""
        size = (self._end - self._start) // _WORD * _WORD
        words = array("I")
        words.frombytes(self._data[self._start : self._start + size])
        if sys.byteorder == "big":
            words.byteswap()
        return words

    def read(self, signature: Signature, nonstrict: Collection[int]) -> BefFunction:
        """Read the function with the given signature.

        `nonstrict` contains the numbers of its non-strict kernels.
        """
        # If bodies could overlap, a small file could be expensive to read.
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
        result_registers = tuple(cursor.varints(len(signature.result_types)))
        cursor.align(KERNEL_ALIGNMENT)

        self._next_word = (cursor.offset - self._start) // _WORD
        argument_count = len(signature.argument_types)
        entry_users, *argument_users = self._read_pseudo_kernel(
            table, register_count, argument_count
        )
        kernels, *listed = self._read_kernels(table, argument_count, frozenset(nonstrict))
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
        if problem := _find_wrong_use(function, *listed):
            raise cursor.fail(problem)
        return function

    def _read_pseudo_kernel(
        self, table: array[int], register_count: int, argument_count: int
    ) -> list[Numbers]:
        """Return the users of the trigger, followed by the users of each argument."""
        at = self._next_word
        if not table:
            raise self._fail("no pseudo kernel", at)
        code, location, _, result_count, operands, results, end = self._split(at)
        lists = results + result_count
        found = table[0], code, location, tuple(self._words[results:lists])
        trigger_and_arguments = (register_count, *range(argument_count))
        if found != (0, PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, trigger_and_arguments):
            raise self._fail("no pseudo kernel for the function's arguments", at)
        return _lists(self._words[lists:end], self._words[operands - result_count : operands])

    def _read_kernels(
        self, table: array[int], argument_count: int, nonstrict: frozenset[int]
    ) -> tuple[Kernels, array[int], array[int]]:
        """Read the real kernels; return them, their results' users, and each result's user count.

        `table` contains three numbers for each kernel, including the pseudo kernel.
        """
        first = self._next_word
        at = self._split(first)[-1]
        words, names, known = self._words, len(self._tables.kernel_names), self._known
        numbers, operands, locations, users, counts = [array("I") for _ in range(5)]
        defined = argument_count
        rows = zip(table[3::3], table[4::3], strict=True)
        for number, (offset, operand_count) in enumerate(rows, 1):
            code, location, count, made, start, results, end = self._split(at)
            if offset != _WORD * (at - first) or operand_count != count:
                raise self._fail("a kernel that does not fit its entry in the table", at)
            if code >= names:
                raise self._fail(f"kernel code {code}, there are {names}", at)
            arguments, lists = words[start : start + count], results + made
            if count and max(arguments) >= defined:
                found = f"{max(arguments)}, {defined} are defined"
                raise self._fail(f"Using undefined registers: {found}", at)
            if made != 1 or words[results] != defined:
                self._check_results(words[results:lists], defined, at)
            rest = words[start + count : results].tobytes() if start + count < results else b""
            key = code, count, made, words[at + 3], rest, number in nonstrict
            shape = known.get(key)
            if shape is None:
                shape = known[key] = len(self._shapes)
                self._shapes.append(self._shape(at, number in nonstrict))
            numbers.append(shape)
            operands += arguments
            locations.append(location)
            counts += words[start - made : start]
            users += words[lists:end]
            defined += made
            at = end
        self._next_word = at
        kernels = Kernels(self._shapes, numbers, operands, locations, argument_count)
        return kernels, users, counts

    def _split(self, at: int) -> tuple[int, int, int, int, int, int, int]:
        """Return the fields of the kernel at word `at`.

        They are its code, its location, its argument and result counts, and the positions at which
        its arguments, its results, and the next kernel start.
        """
        words = self._words
        start = at + KERNEL_HEADER_WORDS
        size = end = len(words)
        if start <= size:
            code, location, arguments, attributes, functions, made = words[at:start]
            start += made
            results = start + arguments + attributes + functions
            end = results + made
            if end <= size:
                # Most kernels have one result. Its user count is the last word of the header.
                end += words[start - 1] if made == 1 else sum(words[start - made : start])
                if end <= size:
                    return code, location, arguments, made, start, results, end
        raise self._fail("a kernel past the end of the section", at)

    def _check_results(self, results: Sequence[int], defined: int, at: int) -> None:
        if list(results) != list(range(defined, defined + len(results))):
            raise self._fail(f"results in registers {list(results)}, expected {defined} and on", at)

    def _shape(self, at: int, is_nonstrict: bool) -> KernelShape:
        """Return the shape of the kernel at word `at`, whose references are checked."""
        tables = self._tables
        code, _, arguments, made, start, results, _ = self._split(at)
        first = start + arguments
        middle = first + self._words[at + 3]
        attributes, functions = tuple(self._words[first:middle]), tuple(self._words[middle:results])
        if attributes and max(attributes) >= tables.attributes_size:
            found = f"attribute at {max(attributes)} of {tables.attributes_size} bytes"
            raise self._fail(found, at)
        if functions and max(functions) >= tables.function_count:
            found = f"Unknown callee: {max(functions)}, there are {tables.function_count}"
            raise self._fail(found, at)
        name = tables.kernel_names[code]
        return KernelShape(name, attributes, functions, arguments, made, is_nonstrict)

    def _fail(self, found: str, at: int) -> MalformedBef:
        return MalformedBef(_PROBLEM, self._start + _WORD * at, found)


def _lists(numbers: array[int], counts: Sequence[int]) -> list[Numbers]:
    """Split numbers into lists of the given lengths."""
    rest = iter(numbers)
    return [tuple(islice(rest, count)) for count in counts]


def _find_wrong_use(function: BefFunction, listed: array[int], counts: array[int]) -> str | None:
    """Find a contradiction between the operands, user lists, and use counts of `function`.

    `listed` contains the users of the kernels' results, and `counts` contains the user count of
    each result.
    """
    kernels = function.kernels
    listed = array("I", chain.from_iterable(function.argument_users)) + listed
    counts = array("I", map(len, function.argument_users)) + counts
    if function.register_count != (defined := len(counts)):
        return f"{counted(function.register_count, 'register')}, but {defined} {'is' if defined == 1 else 'are'} defined"  # noqa: E501
    if any(register >= defined for register in function.result_registers):
        return "Using an undefined register in return op"
    if kernels.entry_users != list(function.entry_users):
        return "the kernels without operands are not those listed"
    if not _is_usual(kernels, listed, counts):
        lists = _lists(listed, counts)
        if any(map(ne, map(sorted, kernels.users), map(sorted, lists))):
            return "the users of a register are not those listed"
        kernels.users = lists
    for register in function.result_registers:
        counts[register] += 1
    if any(map(ne, counts, function.use_counts)):
        return "the use count of a register is wrong"
    return None


def _is_usual(kernels: Kernels, listed: array[int], counts: array[int]) -> bool:
    """Return whether each register's users are listed in the order of `Kernels.users`.

    The function does not build the lists of users, which would take much memory.
    """
    places = array("Q", accumulate(counts, initial=0))
    taken = [*kernels.each(attrgetter("argument_count"))]
    users = chain.from_iterable(map(repeat, range(len(taken), 0, -1), reversed(taken)))
    for register, number in zip(reversed(kernels.arguments), users, strict=True):
        place = places[register]
        if place >= len(listed) or listed[place] != number:
            return False
        places[register] = place + 1
    return all(map(eq, places, accumulate(counts)))
