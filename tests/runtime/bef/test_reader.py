"""Test what the reader finds in a file, and what it rejects."""

from __future__ import annotations

import gc
import random
import time
from array import array
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tfrt_runtime.bef.body_reader import BodyReader, Signature, Tables
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, FunctionKind, SectionId
from tfrt_runtime.bef.wire import ByteBuilder, MalformedBef
from tfrt_runtime.bef.writer import FileBuilder, write_bef, write_body
from tfrt_runtime.diagnostics import Location

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
BASE = (GOLDEN / "malformed_base.bef").read_bytes()


def two_constants(*, nonstrict: bool = False) -> BefModule:
    """`%0 = one; %1 = one; %2 = add %0, %1; return %2`."""
    one = BefKernel("one", 0, (), (0,), (), (0,), ((3,),), 0)
    other = one._replace(results=(1,))
    waits = 1 if nonstrict else 2
    add = BefKernel("add", 4, (0, 1), (), (), (2,), ((),), waits, nonstrict)
    function = BefFunction(
        FunctionKind.ASYNC,
        "main",
        (),
        ("i32",),
        register_count=3,
        use_counts=array("I", (1, 1, 1)),
        kernels=(one, other, add),
        entry_users=(1, 2),
        streams=array("I", (0, 0, 1, 0)),
        result_registers=(2,),
    )
    return BefModule((function,), ("one", "add"), ("i32",), b"\x01\x00\x00\x00", 4)


def test_a_program_is_read_into_records() -> None:
    file = BefFile.load(BASE, "base.bef")
    add_two, start = file.functions

    assert file.kernel_names == (
        "tfrt.constant.i32",
        "tfrt.add.i32",
        "tfrt.call",
        "tfrt.new.chain",
        "tfrt.print.i32",
    )
    assert file.type_names == ("i32", "!tfrt.chain")
    assert add_two == BefFunction(
        FunctionKind.ASYNC,
        "add_two",
        ("i32",),
        ("i32",),
        location=0,
        register_count=3,
        use_counts=array("I", (1, 1, 1)),
        kernels=(
            BefKernel("tfrt.constant.i32", 4, (), (0,), (), (1,), ((2,),), 0),
            BefKernel("tfrt.add.i32", 8, (0, 1), (), (), (2,), ((),), 2),
        ),
        entry_users=(1,),
        argument_users=((2,),),
        streams=array("I", (0, 1, 0)),
        result_registers=(2,),
        register_types=("i32", "i32", "i32"),
        attribute_names=(("value",), ()),
    )
    call = start.kernels[1]
    assert (call.name, call.functions, call.used_by) == ("tfrt.call", (0,), ((4,),))
    assert file.location(call.location) == Location("malformed_base.mlir", 10, 8)
    assert file.attribute_types == {0: 8, 4: 8}


def test_a_file_without_optional_sections_has_no_types_and_names() -> None:
    file = BefFile.open(GOLDEN / "malformed_base.bef_min")
    found = [(function.register_types, function.attribute_names) for function in file.functions]

    assert file.attribute_types is None
    assert found == [(None, None), (None, None)]


def test_nonstrict_kernels_come_back_and_stay_strict_for_other_readers() -> None:
    module = two_constants(nonstrict=True)
    data = write_bef(module)
    _, _, add = BefFile.load(data).functions[0].kernels

    assert add == module.functions[0].kernels[2]
    section = bytes((SectionId.NONSTRICT_KERNELS, 8, 1, 0, 1, 3))
    assert data == write_bef(two_constants()) + section


# --- refused ---


def test_a_malformed_file_is_refused_with_the_reason_and_the_byte() -> None:
    path = GOLDEN / "malformed_kernel_code_out_of_range.bef"

    with pytest.raises(MalformedBef) as refusal:
        BefFile.open(path)
    assert str(refusal.value) == (
        f'"{path}": error: invalid Functions section in BEF file'
        f" (at byte {refusal.value.offset}: kernel code 77, there are 5)"
    )


WRONG_USES = {
    "the kernels without operands are not those listed": {"entry_users": (2, 1)},
    "the use count of a register is wrong": {"use_counts": (1, 2, 1)},
    "4 registers, but 3 are defined": {"register_count": 4, "use_counts": (1, 1, 1, 0)},
    "the users of a register are not those listed": {
        "kernels": tuple(
            kernel._replace(used_by=((3, 3),) if kernel.results == (0,) else kernel.used_by)
            for kernel in two_constants().functions[0].kernels
        ),
    },
}


@pytest.mark.parametrize(("message", "change"), WRONG_USES.items())
def test_a_function_that_contradicts_itself_is_refused(
    message: str, change: dict[str, Any]
) -> None:
    module = two_constants()
    (function,) = module.functions
    changed = replace(module, functions=(replace(function, **change),))

    with pytest.raises(MalformedBef, match=message):
        BefFile.load(write_bef(changed))


def test_bodies_that_overlap_are_refused() -> None:
    (function,) = two_constants().functions
    section = ByteBuilder()
    write_body(section, function, {"one": 0, "add": 1})
    bodies = BodyReader(memoryview(section.data), 0, len(section), Tables(("one", "add"), 1, 4))
    signature = Signature(FunctionKind.ASYNC, "main", (), ("i32",), 0)

    assert bodies.read(signature, ()) == function
    with pytest.raises(MalformedBef, match="a body at 0, inside the previous one"):
        bodies.read(signature, ())


@pytest.mark.parametrize(
    "section_id", [SectionId.KERNELS, SectionId.TYPES, SectionId.FUNCTION_INDEX]
)
def test_a_hostile_count_is_refused_at_once(section_id: SectionId) -> None:
    file, section = FileBuilder(), ByteBuilder()
    for earlier in range(SectionId.KERNELS, section_id):
        empty = ByteBuilder()
        empty.byte(0)
        file.add(SectionId(earlier), empty)
    section.varint(2**60)
    file.add(section_id, section)

    with pytest.raises(MalformedBef, match=f"{2**60} .* in 0 bytes"):
        BefFile.load(bytes(file.data))


def read_everything(data: bytes) -> None:
    with suppress(MalformedBef):
        file = BefFile.load(data)
        for function in file.functions:
            for kernel in function.kernels:
                file.location(kernel.location)
                file.debug_info(kernel.location)
        for offset, kind in (file.attribute_types or {}).items():
            file.attribute_reader.read(offset, kind)


SMALL = [
    path.read_bytes()
    for path in sorted(GOLDEN.glob("*.bef"))
    if not path.name.startswith("malformed_") and path.stat().st_size < 3000
]


def test_a_file_cut_anywhere_reads_or_is_refused() -> None:
    for data in SMALL:
        for end in range(len(data)):
            read_everything(data[:end])


@pytest.mark.parametrize("seed", range(4))
def test_a_file_with_wrong_bytes_reads_or_is_refused(seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(2500):
        data = bytearray(generator.choice(SMALL))
        for _ in range(generator.randint(1, 4)):
            value = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
            data[generator.randrange(len(data))] = value
        read_everything(bytes(data))


def _long_program(count: int) -> BefModule:
    """Return a function of `count` kernels, each of which uses the one before it twice."""
    kernels = [BefKernel("one", 0, (), (0,), (), (0,), ((2, 2),), 0)]
    for number in range(2, count + 1):
        users = (number + 1, number + 1) if number < count else ()
        arguments = (number - 2, number - 2)
        kernels.append(BefKernel("add", 0, arguments, (), (), (number - 1,), (users,), 2))
    function = BefFunction(
        FunctionKind.ASYNC,
        "main",
        (),
        ("i32",),
        register_count=count,
        use_counts=array("I", (2,) * (count - 1) + (1,)),
        kernels=tuple(kernels),
        entry_users=(1,),
        result_registers=(count - 1,),
    )
    return BefModule((function,), ("one", "add"), ("i32",), b"\x01\x00\x00\x00", 4)


def _seconds_to_load(data: bytes) -> float:
    seconds = []
    for _ in range(3):
        start = time.process_time()
        BefFile.load(data)
        seconds.append(time.process_time() - start)
    return min(seconds)


def test_the_time_to_load_a_program_grows_with_its_kernels() -> None:
    count = 20_000
    module = _long_program(count)
    long, short = write_bef(module), write_bef(_long_program(count // 10))

    # Quadratic time would take a hundred times as long.
    assert _seconds_to_load(long) < 40 * _seconds_to_load(short)
    assert BefFile.load(long).functions == (
        replace(module.functions[0], streams=array("I", bytes(4 * (count + 1)))),
    )
    assert gc.isenabled()


def test_a_section_that_comes_again_is_refused() -> None:
    again = bytes([SectionId.STRINGS, 0])

    with pytest.raises(MalformedBef, match=f"at byte {len(BASE)}: section 0 appears a second time"):
        BefFile.load(BASE + again * 1_000_000)
