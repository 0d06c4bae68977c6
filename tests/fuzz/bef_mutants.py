"""Mutants of BEF files, at three levels: the records, the sections, the bytes.

Changes of records make the most valuable mutants: after most of them, the counts that the format
stores twice (uses, users, entry kernels) are corrected, so that the file loads and has a different
error. A mutant is the name of a file and its steps; each step has its own seed, so that omitting
one does not change the others.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace

from tests.fuzz.bef_drafts import NUMBERS, Chance, Draft
from tests.fuzz.bef_sections import with_other_bytes, with_other_sections, with_other_tables
from tests.fuzz.text_mutants import mutate

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, FunctionKind
from tfrt_runtime.bef.writer import write_bef

RECORDS, SECTIONS, BYTES = range(3)
WHOLE_FILES = 0.1
"""The share of mutants that always are of whole files."""


@dataclass(frozen=True)
class BefMutant:
    """A file and the changes to it: pairs of a level and a seed."""

    origin: str
    steps: tuple[tuple[int, int], ...]


class BefCorpus:
    """Files by name, as records and as bytes, and each function with the functions it calls.

    Such a part takes a fraction of the time, and its mutated parts are sure to run.
    """

    def __init__(self, files: Mapping[str, bytes], kernels: Sequence[str]) -> None:
        self.kernels = kernels
        self._modules = {name: records_of(data) for name, data in files.items()}
        self._whole = list(files)
        for name, module in list(self._modules.items()):
            self._modules |= {f"{name}@{i}": part for i, part in parts_of(module).items()}
        self.files = {
            name: files[name] if name in files else write_bef(module)
            for name, module in self._modules.items()
        }
        self.names = list(self.files)

    def choose(self, chance: Chance) -> BefMutant:
        """Return a random mutant of a random file."""
        kind = chance.random()
        count = chance.choice((1, 1, 1, 2, 2, 3, 5))
        if kind < 0.7:
            levels = [RECORDS] * count
        elif kind < 0.8:
            levels = [SECTIONS] * count
        elif kind < 0.95:
            levels = [BYTES] * count
        else:
            levels = sorted(chance.choice((RECORDS, SECTIONS, BYTES)) for _ in range(count))
        steps = tuple((level, chance.getrandbits(48)) for level in levels)
        names = self._whole if chance.random() < WHOLE_FILES else self.names
        return BefMutant(chance.choice(names), steps)

    def data(self, mutant: BefMutant) -> bytes:
        """Return the bytes of a mutant, without steps whose result cannot be written."""
        module, data = self._modules[mutant.origin], self.files[mutant.origin]
        records = [random.Random(seed) for level, seed in mutant.steps if level == RECORDS]
        if records:
            with suppress(struct.error, OverflowError, ValueError, KeyError, IndexError):
                for chance in records:
                    module = self._with_other_records(module, chance)
                data = write_bef(module)
        for level, seed in mutant.steps:
            if level == SECTIONS:
                data = with_other_sections(data, random.Random(seed))
            elif level == BYTES:
                data = with_other_bytes(data, random.Random(seed))
        return data

    def _with_other_records(self, module: BefModule, chance: Chance) -> BefModule:
        if module.compiled and chance.random() < 0.4:
            return replace(module, compiled=mutate(module.compiled, (), chance))
        if chance.random() < 0.2 and len(module.attributes):
            return _with_other_attributes(module, chance)
        if chance.random() < 0.03:
            return with_other_tables(module, chance)
        index = chance.randrange(len(module.functions)) if module.functions else 0
        if not module.functions or module.functions[index].kind == FunctionKind.NATIVE:
            return module
        draft = Draft(module, module.functions[index], self.kernels, chance)
        change = chance.choice(CHANGES)
        change(draft)
        function = draft.function(repaired=chance.random() < 0.75)
        functions = (*module.functions[:index], function, *module.functions[index + 1 :])
        return _with_all_names(replace(module, functions=functions))


def records_of(data: bytes) -> BefModule:
    """Return the records of a file, which can be written again.

    Raises:
        TfrtError: if the file is invalid.
    """
    file = BefFile.load(data)
    values = {part.name: getattr(file, part.name) for part in fields(BefModule)}
    return BefModule(**(values | {"attributes": bytes(file.attributes)}))


def parts_of(module: BefModule) -> dict[int, BefModule]:
    """Return each named function, by its number, as a module with everything that it calls."""
    if module.compiled or len(module.functions) < 2:
        return {}
    parts = {}
    for root, function in enumerate(module.functions):
        if function.name == "" or function.kind is FunctionKind.NATIVE:
            continue
        kept = [root]
        for index in kept:
            called = (i for kernel in module.functions[index].kernels for i in kernel.functions)
            kept += [i for i in dict.fromkeys(called) if i not in kept]
        numbers = {old: new for new, old in enumerate(kept)}
        functions = tuple(_calling(module.functions[index], numbers) for index in kept)
        used = {a for one in functions for kernel in one.kernels for a in kernel.attributes}
        kinds = module.attribute_types
        kinds = kinds and {offset: kind for offset, kind in kinds.items() if offset in used}
        parts[root] = replace(module, functions=functions, attribute_types=kinds)
    return parts


def _calling(function: BefFunction, numbers: Mapping[int, int]) -> BefFunction:
    """Return the function with other numbers for the functions that it calls."""
    kernels = (
        kernel._replace(functions=tuple(numbers[i] for i in kernel.functions))
        for kernel in function.kernels
    )
    return replace(function, kernels=tuple(kernels))


def kernels_of(module: BefModule) -> list[tuple[int, int]]:
    """Return the positions of the kernels of a module: function and place."""
    return [(f, k) for f, one in enumerate(module.functions) for k in range(len(one.kernels))]


def with_kernels(module: BefModule, kept: Collection[tuple[int, int]]) -> bytes:
    """Return the file with only these kernels, and with its uses recounted.

    Kernels whose operands are gone are also removed.
    """
    functions = list(module.functions)
    for number, function in enumerate(functions):
        if any((number, place) not in kept for place in range(len(function.kernels))):
            places = [place for f, place in kept if f == number]
            functions[number] = _reduced(module, function, places)
    return write_bef(_with_all_names(replace(module, functions=tuple(functions))))


def _reduced(module: BefModule, function: BefFunction, places: Sequence[int]) -> BefFunction:
    """Return a function with some of its kernels, minus those whose operands are gone."""
    known = set(range(len(function.argument_types)))
    draft = Draft(module, function, (), random.Random(0))
    draft.kernels = []
    for place in places:
        kernel = function.kernels[place]
        if known.issuperset(kernel.arguments):
            known.update(kernel.results)
            draft.kernels.append(kernel)
    pairs = zip(function.result_registers, function.result_types, strict=False)
    returned = [(register, type_) for register, type_ in pairs if register in known]
    draft.results = [register for register, _ in returned]
    draft.changed["result_types"] = tuple(type_ for _, type_ in returned)
    return draft.function(repaired=True)


def _change_list(numbers: Sequence[int], fresh: Callable[[], int], chance: Chance) -> list[int]:
    """Return the numbers with one of them replaced, omitted, doubled, added, or moved."""
    changed = list(numbers)
    choice = chance.randrange(6) if changed else 5
    place = chance.randrange(len(changed)) if changed else 0
    match choice:
        case 0 | 1:
            changed[place] = fresh()
        case 2:
            del changed[place]
        case 3:
            changed.insert(place, changed[place])
        case 4:
            other = chance.randrange(len(changed))
            changed[place], changed[other] = changed[other], changed[place]
        case _:
            changed.insert(place, fresh())
    return changed


def _operands(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        kernel = draft.kernels[place]
        new = _change_list(kernel.arguments, draft.register, draft.chance)
        draft.kernels[place] = kernel._replace(arguments=tuple(new))


def _made(draft: Draft) -> None:
    """Change the number of results, or the results."""
    if (place := draft.pick()) >= 0:
        kernel = draft.kernels[place]

        def fresh() -> int:
            draft.register_count += 1
            return draft.register_count - 1

        use = fresh if draft.chance.random() < 0.7 else draft.register
        new = _change_list(kernel.results, use, draft.chance)
        used_by = (*kernel.used_by, *((),) * len(new))[: len(new)]
        draft.kernels[place] = kernel._replace(results=tuple(new), used_by=used_by)


def _attributes_of_kernel(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        kernel, size = draft.kernels[place], len(draft.module.attributes)
        known = [a for f in draft.module.functions for k in f.kernels for a in k.attributes] or [0]

        def fresh() -> int:
            if draft.chance.random() < 0.8:
                return draft.chance.choice(known)
            return draft.chance.choice((draft.chance.randrange(size + 9), 2**32 - 1))

        new = _change_list(kernel.attributes, fresh, draft.chance)
        draft.kernels[place] = kernel._replace(attributes=tuple(new))


def _callees(draft: Draft) -> None:
    with_some = [i for i, kernel in enumerate(draft.kernels) if kernel.functions]
    place = draft.chance.choice(with_some) if with_some else draft.pick()
    if place >= 0:
        kernel, count = draft.kernels[place], len(draft.module.functions)
        new = _change_list(kernel.functions, lambda: draft.chance.randrange(count), draft.chance)
        draft.kernels[place] = kernel._replace(functions=tuple(new))


def _kernel_name(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        here = draft.module.kernel_names
        names = draft.names if draft.chance.random() < 0.6 or not here else here
        draft.kernels[place] = draft.kernels[place]._replace(name=draft.chance.choice(names))


def _strictness(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        kernel = draft.kernels[place]
        draft.kernels[place] = kernel._replace(is_nonstrict=not kernel.is_nonstrict)


def _waits_and_stream(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        number = abs(draft.chance.choice(NUMBERS))
        match draft.chance.randrange(3):
            case 0:
                draft.kernels[place] = draft.kernels[place]._replace(operands_to_wait=number)
            case 1:
                draft.kernels[place] = draft.kernels[place]._replace(location=number)
            case _:
                draft.streams[1 + place] = number


def _users(draft: Draft) -> None:
    if (place := draft.pick()) >= 0 and draft.kernels[place].results:
        kernel = draft.kernels[place]
        which = draft.chance.randrange(len(kernel.results))
        used_by = [list(users) for users in kernel.used_by]
        count = len(draft.kernels) + 2
        used_by[which] = _change_list(
            used_by[which], lambda: draft.chance.randrange(count), draft.chance
        )
        draft.kernels[place] = kernel._replace(used_by=tuple(map(tuple, used_by)))


def _order(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        other = draft.pick()
        kernels = draft.kernels
        kernels[place], kernels[other] = kernels[other], kernels[place]


def _drop_kernel(draft: Draft) -> None:
    if (place := draft.pick()) >= 0:
        del draft.kernels[place]


def _double_kernel(draft: Draft) -> None:
    """Repeat a call, into new registers or into the same ones."""
    if (place := draft.pick()) >= 0:
        kernel = draft.kernels[place]
        if draft.chance.random() < 0.8:
            first = draft.register_count
            draft.register_count += len(kernel.results)
            kernel = kernel._replace(results=tuple(range(first, draft.register_count)))
        draft.kernels.insert(draft.chance.randrange(len(draft.kernels) + 1), kernel)


def _new_kernel(draft: Draft) -> None:
    """Add a call of any kernel, with any operands, attributes, functions, and results."""
    chance, module = draft.chance, draft.module
    results = tuple(range(draft.register_count, draft.register_count + chance.randrange(3)))
    draft.register_count += len(results)
    known = [a for f in module.functions for k in f.kernels for a in k.attributes] or [0]
    kernel = BefKernel(
        chance.choice(draft.names),
        0,
        tuple(draft.register() for _ in range(chance.randrange(4))),
        tuple(chance.choice(known) for _ in range(chance.choice((0, 0, 1, 1, 2)))),
        tuple(chance.randrange(len(module.functions)) for _ in range(chance.choice((0, 0, 1, 2)))),
        results,
        ((),) * len(results),
        0,
        chance.random() < 0.1,
    )
    draft.kernels.insert(chance.randrange(len(draft.kernels) + 1), kernel)


def _returned(draft: Draft) -> None:
    draft.results = _change_list(draft.results, draft.register, draft.chance)
    if draft.chance.random() < 0.7:
        types = (*draft.origin.result_types, *("i32",) * len(draft.results))
        draft.changed["result_types"] = types[: len(draft.results)]


def _signature(draft: Draft) -> None:
    """Change the types or the number of parameters or results."""
    field = draft.chance.choice(("argument_types", "result_types"))
    types = list(getattr(draft.origin, field))
    known = draft.module.type_names or ("i32",)
    places = range(len(known))
    indexes = [known.index(name) for name in types if name in known]
    new = _change_list(indexes, lambda: draft.chance.choice(places), draft.chance)
    draft.changed[field] = tuple(known[index] for index in new)


def _numbers(draft: Draft) -> None:
    """Change the counts of registers, uses, and entries that are stored besides the kernels."""
    chance, origin = draft.chance, draft.origin
    count = len(draft.kernels) + 2
    match chance.randrange(5):
        case 0:
            draft.changed["use_counts"] = tuple(
                max(0, uses + (chance.choice((-1, 1, 100)) if chance.random() < 0.2 else 0))
                for uses in origin.use_counts
            )
        case 1:
            new = _change_list(origin.entry_users, lambda: chance.randrange(count), chance)
            draft.changed["entry_users"] = tuple(new)
        case 2 if origin.argument_users:
            users = [list(one) for one in origin.argument_users]
            which = chance.randrange(len(users))
            users[which] = _change_list(users[which], lambda: chance.randrange(count), chance)
            draft.changed["argument_users"] = tuple(map(tuple, users))
        case 3:
            draft.register_count += chance.choice((-1, 1, 7))
        case _:
            draft.streams[0] = abs(chance.choice(NUMBERS))


def _kind(draft: Draft) -> None:
    draft.changed["kind"] = draft.chance.choice(list(FunctionKind))


def _visibility(draft: Draft) -> None:
    """Turn a region into a function that is run, perhaps without parameters, or vice versa."""
    draft.changed["name"] = draft.chance.choice(("", "extra", draft.origin.name))


def _type_of_register(draft: Draft) -> None:
    types = draft.origin.register_types
    if types:
        changed = list(types)
        changed[draft.chance.randrange(len(changed))] = draft.chance.choice(
            draft.module.type_names or ("i32",)
        )
        draft.changed["register_types"] = tuple(changed)


CHANGES: list[Callable[[Draft], None]] = [
    *[_operands] * 6,
    *[_kernel_name] * 5,
    *[_new_kernel] * 4,
    *[_attributes_of_kernel] * 3,
    *[_callees] * 4,
    *[_made] * 3,
    *[_double_kernel] * 3,
    *[_drop_kernel] * 2,
    *[_order] * 2,
    *[_returned] * 2,
    *[_strictness] * 2,
    _users,
    _waits_and_stream,
    _signature,
    _numbers,
    _kind,
    _visibility,
    _type_of_register,
]


def _with_all_names(module: BefModule) -> BefModule:
    """Return the module with all names of kernels and types in its tables."""
    kernels = dict.fromkeys(module.kernel_names)
    types = dict.fromkeys(module.type_names)
    for function in module.functions:
        kernels.update(dict.fromkeys(kernel.name for kernel in function.kernels))
        types.update(dict.fromkeys((*function.argument_types, *function.result_types)))
        types.update(dict.fromkeys(function.register_types or ()))
    return replace(module, kernel_names=tuple(kernels), type_names=tuple(types))


def _with_other_attributes(module: BefModule, chance: Chance) -> BefModule:
    """Return the module with other attributes: lengths, shapes, element types, or text."""
    data = bytearray(module.attributes)
    known = [a for f in module.functions for k in f.kernels for a in k.attributes]
    for _ in range(chance.choice((1, 1, 2, 4))):
        start = chance.choice(known) if known and chance.random() < 0.8 else 0
        offset = min(start + chance.choice((0, 0, 0, 1, 2, 4, 8, 12, 16, 20)), len(data) - 1)
        match chance.randrange(3):
            case 0:
                data[offset] = chance.choice((0, 1, 2, 4, 8, 127, 128, 255, chance.randrange(256)))
            case 1:
                number = chance.choice(NUMBERS) % 2**32
                data[offset : offset + 4] = struct.pack("<I", number)[: len(data) - offset]
            case _:
                number = chance.choice(NUMBERS) % 2**64
                data[offset : offset + 8] = struct.pack("<Q", number)[: len(data) - offset]
    if chance.random() < 0.1:
        del data[chance.randrange(len(data)) :]
    kinds = module.attribute_types
    if kinds and chance.random() < 0.2:
        changed = dict(kinds)
        changed[chance.choice(list(changed))] = chance.choice(list(kinds.values()))
        return replace(module, attributes=bytes(data), attribute_types=changed)
    return replace(module, attributes=bytes(data))
