"""Native memory that is laid out as a list of words and then fixed in place."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Mark(NamedTuple):
    """A position in an arena: its numbers of words and relocations."""

    words: int
    relocations: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A reserved head and the words appended for it, to be repeated for other heads.

    `addresses` are the positions of words that become addresses; `inner` are those of words that
    become addresses in the piece itself; `numbers` are those of words that count up from piece to
    piece.  The head comes first.
    """

    words: array[int]
    head_words: int
    offset: int
    addresses: tuple[int, ...]
    inner: tuple[int, ...]
    numbers: tuple[int, ...]


class Arena:
    """Words that know which of them are addresses within the arena.

    Offsets count in bytes from the start.  `seal` turns them into addresses.
    """

    def __init__(self) -> None:
        self.words = array("q")
        self._relocations = array("q")

    @property
    def offset(self) -> int:
        """The offset of the next word."""
        return 8 * len(self.words)

    def add(self, *words: int) -> int:
        """Append plain words; returns the offset of the first."""
        return self.add_array(array("q", words))

    def add_array(self, words: array[int]) -> int:
        """Append plain words, or an even number of halves; returns the offset of the first."""
        offset = self.offset
        self.words.frombytes(words.tobytes())
        return offset

    def add_addresses(self, *offsets: int) -> int:
        """Append words that become addresses of offsets in the arena."""
        first = len(self.words)
        self.words.extend(offsets)
        self._relocations.extend(range(first, first + len(offsets)))
        return 8 * first

    def reserve(self, count: int) -> int:
        """Append `count` zero words, to fill later; returns the offset of the first."""
        offset = 8 * len(self.words)
        self.words.frombytes(bytes(8 * count))
        return offset

    def put(self, offset: int, word: int) -> None:
        """Fill a reserved word."""
        self.words[offset // 8] = word

    def put_halves(self, offset: int, halves: array[int]) -> None:
        """Fill reserved words by their halves."""
        memoryview(self.words).cast("B")[offset : offset + 4 * len(halves)] = halves.tobytes()

    def put_address(self, offset: int, target: int) -> None:
        """Fill a reserved word with an offset that becomes an address."""
        self.words[offset // 8] = target
        self._relocations.append(offset // 8)

    @property
    def mark(self) -> Mark:
        """The start of a piece (`piece`)."""
        return Mark(len(self.words), len(self._relocations))

    def piece(self, mark: Mark, head: int, head_words: int, numbers: Iterable[int]) -> Piece:
        """Return the words appended since `mark`, with their head at the offset `head`.

        `numbers` are offsets in these words.
        """
        first, relocations = mark
        place = head // 8
        moved = head_words - first
        positions = [
            position + moved if position >= first else position - place
            for position in self._relocations[relocations:]
        ]
        words = self.words[place : place + head_words] + self.words[first:]
        return Piece(
            words,
            head_words,
            8 * first,
            tuple(positions),
            tuple([position for position in positions if words[position] >= 8 * first]),
            tuple([number // 8 + moved for number in numbers]),
        )

    def repeat(self, piece: Piece, head: int, step: int) -> int:
        """Fill another head and append a copy of `piece`, with its numbers increased by `step`.

        Returns the distance from the original in bytes.
        """
        first, place, head_words = len(self.words), head // 8, piece.head_words
        moved = 8 * first - piece.offset
        words = piece.words[:]
        for position in piece.inner:
            words[position] += moved
        for position in piece.numbers:
            words[position] += step
        self.words[place : place + head_words] = words[:head_words]
        self.words += words[head_words:]
        behind = first - head_words
        self._relocations.extend(
            [
                position + (behind if position >= head_words else place)
                for position in piece.addresses
            ]
        )
        return moved

    def seal(self) -> tuple[array[int], int]:
        """Fix the memory, and return it with its address; empty the arena.

        The memory lives as long as the returned array, which must not grow.
        """
        memory, self.words = self.words, array("q")
        base, _ = memory.buffer_info()
        for position in self._relocations:
            memory[position] += base
        return memory, base
