"""Python access to the native core's memory: structs, tables of words, and payloads.

    context = Context.at(address)
    context.run                     # the word at address + layouts.CONTEXT_RUN
    context.run = number            # writes it
    WORDS[address >> 3]             # any word

Each struct has a class with an attribute for each field that `native.layouts` declares under the
same name.  All words, and halves of words, are signed.  A view of an address keeps nothing alive.
Creating a view takes as long as reading a word.  A wrong address crashes the process, so addresses
must come from the native core.
"""

from __future__ import annotations

import ctypes
import sys
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tfrt_runtime.native import layouts
from tfrt_runtime.native.layouts.declared import FIELDS

# Ctypes allows no larger arrays.
_WORDS, _HALVES = sys.maxsize // 8, sys.maxsize // 4
WORDS = (ctypes.c_int64 * _WORDS).from_address(0)
HALVES = (ctypes.c_int32 * _HALVES).from_address(0)
FLOATS = (ctypes.c_float * _HALVES).from_address(0)
DOUBLES = (ctypes.c_double * _WORDS).from_address(0)
"""Arrays that start at address 0 and cover all memory."""


def words_at(address: int, count: int) -> list[int]:
    """Return `count` words, starting at `address`."""
    first = address >> 3
    return WORDS[first : first + count]


def new_words(size: int) -> ctypes.Array[ctypes.c_int64]:
    """Return `size` zeroed bytes, aligned to a cache line, which live as long as the array."""
    raw = (ctypes.c_int64 * (size // 8 + 8))()
    return (ctypes.c_int64 * (size // 8)).from_buffer(raw, -ctypes.addressof(raw) % 64)


def signed(word: int) -> int:
    """Return the low 64 bits of `word` in two's complement, as `WORDS` requires."""
    return (word + 2**63) % 2**64 - 2**63


Made = TypeVar("Made", bound="type[Struct]")


class Struct(ctypes.Structure):
    """A view of a struct in native memory."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def at(cls, address: int) -> Self:
            """Return a view of the struct at `address`."""

        def __getattr__(self, field: str) -> int:
            """Read the field `field`."""

        def __setattr__(self, field: str, word: int) -> None:
            """Write the field `field`."""

    @classmethod
    def new(cls, size: int) -> Self:
        """Make a zeroed struct of `size` bytes, which lives as long as the view."""
        return cls.from_buffer(new_words(size))

    @property
    def address(self) -> int:
        """The struct's address."""
        return ctypes.addressof(self)


def _view(cls: Made) -> Made:
    """Give a class an attribute for each field that the layouts declare for its struct.

    Fields at the same offset share one descriptor.
    """
    words: dict[int, list[str]] = {}
    for field, offset in FIELDS[cls.__name__.upper()].items():
        name = field.lower()
        words.setdefault(offset, []).append(f"{name}_" if iskeyword(name) else name)
    fields: list[tuple[str, Any]] = []
    end = 0
    for offset, (name, *_) in sorted(words.items()):
        if offset != end:
            fields.append((f"_before_{name}", ctypes.c_int64 * ((offset - end) // 8)))
        # The other half of a word is also a field.
        kind = ctypes.c_int32 if offset % 8 or offset + 4 in words else ctypes.c_int64
        fields.append((name, kind))
        end = offset + ctypes.sizeof(kind)
    # A new class with slots, as `dataclass` makes it: views without a dictionary are created
    # faster.
    space = {
        name: one for name, one in vars(cls).items() if name not in ("__dict__", "__weakref__")
    }
    space |= {"__slots__": (), "_fields_": fields}
    cls = type(cls)(cls.__name__, cls.__bases__, space)  # type: ignore[misc]
    for name, *others in words.values():
        for other in others:
            setattr(cls, other, getattr(cls, name))
    cls.at = cls.from_address  # type: ignore[assignment,method-assign] # faster than a method
    return cls


@_view
class Value(Struct):
    """An AsyncValue."""

    @property
    def payload_type(self) -> int:
        """A `TYPE_*` constant."""
        return self.kind >> 8

    @property
    def is_error(self) -> bool:
        """Whether a resolved value is an error."""
        return self.state & layouts.STATE_BITS == layouts.ERROR

    @property
    def is_indirect(self) -> bool:
        """Whether the value is a placeholder that forwards to its target."""
        return self.kind & layouts.KIND_BITS == layouts.KIND_INDIRECT


@_view
class Activation(Struct):
    """One call of a function."""


@_view
class Async(Struct):
    """The state that compiled programs on one queue share."""


@_view
class Benchmark(Struct):
    """The state of `tfrt_test.benchmark` between two runs."""


@_view
class Context(Struct):
    """The native core's data about one thread that runs native code."""


@_view
class Deque(Struct):
    """One worker's queue of tasks, from which other workers can steal."""


@_view
class Function(Struct):
    """A BEF function in the form that the executor runs."""


@_view
class Group(Struct):
    """An `!async.group`, which collects tokens and values so that code can await all of them."""


@_view
class Interrupts(Struct):
    """The state that the SIGINT handler and native code share."""


@_view
class Log(Struct):
    """The buffer to which one thread writes its events."""


@_view
class Machine(Struct):
    """The machine code of a function, and the countdown until the function is compiled."""


@_view
class Pool(Struct):
    """The pool of threads for blocking kernels."""


@_view
class Process(Struct):
    """The native core's data that all threads of the process share."""


@_view
class Queue(Struct):
    """A work queue."""


@_view
class Record(Struct):
    """One kernel call in a decoded function (see `Function`)."""


@_view
class Request(Struct):
    """One run of a program."""


@_view
class Store(Struct):
    """A memory allocator for tensors, which keeps freed blocks for later tensors."""


@_view
class Task(Struct):
    """A function call in a work queue."""


@_view
class Tensor(Struct):
    """Dense elements, or a shape."""


@_view
class Waiter(Struct):
    """An action that runs when a value is resolved."""


@_view
class Watch(Struct):
    """The event log's data about a run whose events it keeps."""
