"""The names of a body's registers, a million of which take no object of Python each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tfrt_nb.source.plain.rows import NotPlain

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.int32]
    Words = npt.NDArray[np.uint64]

LONGEST = 16
"""Names with more characters behind the % are entries of a dictionary."""
_FACTORS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
_ALL = (1 << 64) - 1


class RegisterNames(dict[str, int]):
    """The register of each name.

    Names that are defined one by one are entries of the dictionary, and those of runs are in a table beside it.
    """

    def __init__(self, names: dict[str, int]) -> None:
        super().__init__(names)
        self._noted = 0
        """So many entries of the dictionary are in the table, too."""

    def __missing__(self, name: str) -> int:
        register = self._find(name)
        if register < 0:
            raise KeyError(name)
        return register

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self._find(name) >= 0)

    def define(self, names: Sequence[str], first: int) -> None:
        """Give these names the registers from `first` on.

        Raises:
            NotPlain: one of them is defined twice.
        """
        self._note()
        registers = range(first, first + len(names))
        keys = _keys(names)
        if keys is not None:
            self._table.add(keys, registers)
            return
        known = len(self)
        self.update(zip(names, registers, strict=True))
        if len(self) < known + len(names):
            raise NotPlain
        self._note()

    def registers(self, names: Sequence[str]) -> Column:
        """The registers of these names.

        Raises:
            NotPlain: one of them is not defined.
        """
        import numpy as np

        keys = _keys(names)
        if keys is None:
            try:
                return np.fromiter(map(self.__getitem__, names), np.int32, len(names))
            except KeyError:
                raise NotPlain from None
        self._note()
        found = self._table.find(keys)
        if (found < 0).any():
            raise NotPlain
        return found

    def _note(self) -> None:
        """Have what was defined one by one in the table."""
        if self._noted == len(self):
            return
        new = dict(islice(reversed(self.items()), len(self) - self._noted))
        self._noted = len(self)
        # A run has no name with a #, which may be another one of a register: in the table each is there once.
        short = [name for name in new if len(name) <= 1 + LONGEST and "#" not in name]
        keys = _keys(short)
        assert keys is not None
        self._table.add(keys, [new[name] for name in short])

    @cached_property
    def _table(self) -> _Table:
        return _Table()

    def _find(self, name: str) -> int:
        """The register that the table has for a name, -1 for none."""
        if "_table" not in self.__dict__ or len(name) > 1 + LONGEST:
            return -1
        return self._table.find_one(name)


class _Keys(NamedTuple):
    """The characters of names as numbers: the first eight, the others."""

    first: Words
    second: Words

    def taken(self, which: npt.NDArray[np.int64]) -> _Keys:
        """Some of them."""
        return _Keys(self.first[which], self.second[which])


def _keys(names: Sequence[str]) -> _Keys | None:
    """The keys of names; None if one is too long."""
    import numpy as np

    counts = np.fromiter(map(len, names), np.int64, len(names))
    longest = int(counts.max(initial=1)) - 1
    if longest > LONGEST:
        return None
    characters = "".join(names).encode() + bytes(LONGEST)
    # A word from each character on.
    words = np.ndarray((len(characters) - 7,), "<u8", characters, 0, (1,))
    masks = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
    starts = np.cumsum(counts) - counts + 1
    counts -= 1
    first = words[starts] & masks[np.minimum(counts, 8)]
    if longest <= 8:
        return _Keys(first, np.zeros(len(names), np.uint64))
    return _Keys(first, words[starts + 8] & masks[np.maximum(counts - 8, 0)])


class _Table:
    """Registers by keys: each in the place that a hash of its key says, or in the next free one behind it."""

    def __init__(self) -> None:
        self._count = 0
        self._resize(1 << 13)

    def _resize(self, size: int) -> None:
        """Make the table empty, and of this size, a power of two."""
        import numpy as np

        self._size = size
        self._shift = 64 - (size.bit_length() - 1)
        self._keys = _Keys(np.zeros(size, np.uint64), np.zeros(size, np.uint64))
        self._registers = np.full(size, -1, np.int32)

    def _places(self, keys: _Keys) -> npt.NDArray[np.int64]:
        import numpy as np

        hashed = keys.first * np.uint64(_FACTORS[0])
        hashed ^= keys.second * np.uint64(_FACTORS[1])
        hashed *= np.uint64(_FACTORS[1])
        return (hashed >> np.uint64(self._shift)).astype(np.int64)

    def _differs(self, places: npt.NDArray[np.int64], keys: _Keys) -> npt.NDArray[np.bool_]:
        """Whether another key is in each place."""
        differs: npt.NDArray[np.bool_] = self._keys.first[places] != keys.first
        differs |= self._keys.second[places] != keys.second
        return differs

    def find(self, keys: _Keys) -> Column:
        """The register of each key, -1 where there is none."""
        import numpy as np

        places = self._places(keys)
        found = self._registers[places]
        left = np.flatnonzero((found >= 0) & self._differs(places, keys))
        while len(left):
            at = places[left] = (places[left] + 1) % self._size
            found[left] = self._registers[at]
            left = left[(found[left] >= 0) & self._differs(at, keys.taken(left))]
        return found

    def find_one(self, name: str) -> int:
        """The register of a name, -1 if there is none."""
        characters = name[1:].encode().ljust(LONGEST, b"\0")
        first = int.from_bytes(characters[:8], "little")
        second = int.from_bytes(characters[8:], "little")
        hashed = first * _FACTORS[0] & _ALL ^ second * _FACTORS[1] & _ALL
        place = (hashed * _FACTORS[1] & _ALL) >> self._shift
        while (register := int(self._registers[place])) >= 0:
            if (int(self._keys.first[place]), int(self._keys.second[place])) == (first, second):
                return register
            place = (place + 1) % self._size
        return -1

    def add(self, keys: _Keys, registers: Sequence[int]) -> None:
        """Give these keys their registers.

        Raises:
            NotPlain: one of them is there already, or twice among these.
        """
        import numpy as np

        self._count += len(keys.first)
        while 2 * self._count > self._size:
            there = np.flatnonzero(self._registers >= 0)
            known = self._keys.taken(there), self._registers[there]
            self._resize(4 * self._size)
            self._put(*known)
        self._put(keys, np.array(registers, np.int32))

    def _put(self, keys: _Keys, registers: Column) -> None:
        import numpy as np

        places = self._places(keys)
        left = np.arange(len(registers))
        while len(left):
            at = places[left]
            is_free = self._registers[at] < 0
            taken = left[~is_free]
            if not self._differs(places[taken], keys.taken(taken)).all():
                raise NotPlain
            places[taken] = (places[taken] + 1) % self._size
            # Where several are for one place, one stays there, and others may be equal to it.
            free = left[is_free]
            at = at[is_free]
            self._registers[at] = registers[free]
            stays = self._registers[at] == registers[free]
            at, staying = at[stays], keys.taken(free[stays])
            self._keys.first[at], self._keys.second[at] = staying
            left = np.concatenate((taken, free[~stays]))
