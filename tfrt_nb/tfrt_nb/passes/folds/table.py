"""All folders by the names of operations."""

from __future__ import annotations

from tfrt_nb.passes.folds import buffers, casts, floats, functions, indices, integers, structures
from tfrt_nb.passes.folds.integers import binary, extremum, left_if_right_is, simplified
from tfrt_nb.passes.greedy.driver import Folder

_ARITH: dict[str, Folder] = {
    "arith.addi": binary("add", simplified(left_if_right_is(0), integers.sum_less_one_part)),
    "arith.subi": binary(
        "sub",
        simplified(integers.zero_if_equal, left_if_right_is(0), integers.difference_of_sum),
    ),
    "arith.muli": binary(
        "mul", simplified(integers.right_if_right_is(0), integers.left_if_right_is_one)
    ),
    "arith.andi": binary(
        "and",
        simplified(
            integers.right_if_right_is(0),
            left_if_right_is(-1),
            integers.and_of_complement,
            integers.and_of_and,
        ),
    ),
    "arith.ori": binary(
        "or",
        simplified(
            left_if_right_is(0),
            integers.ones_if_right_is,
            integers.or_of_complement,
        ),
    ),
    "arith.xori": binary(
        "xor", simplified(left_if_right_is(0), integers.zero_if_equal, integers.xor_of_xor)
    ),
    "arith.maxsi": extremum("maxs"),
    "arith.maxui": extremum("maxu"),
    "arith.minsi": extremum("mins"),
    "arith.minui": extremum("minu"),
    **{
        f"arith.{name}i": binary(name, integers.left_if_right_is_one)
        for name in ("divs", "divu", "ceildivs", "ceildivu", "floordivs")
    },
    "arith.remsi": binary("rems", integers.zero_if_right_is_one),
    "arith.remui": binary("remu", integers.zero_if_right_is_one),
    "arith.shli": binary("shl", left_if_right_is(0)),
    "arith.shrsi": binary("shrs", left_if_right_is(0)),
    "arith.shrui": binary("shru", left_if_right_is(0)),
    "arith.addui_extended": integers.add_extended,
    "arith.mulsi_extended": integers.multiply_extended(is_signed=True),
    "arith.mului_extended": integers.multiply_extended(is_signed=False),
    "arith.cmpi": integers.cmpi,
    "arith.select": integers.select,
    "arith.extui": casts.extui,
    "arith.extsi": casts.extsi,
    "arith.trunci": casts.trunci,
    "arith.index_cast": casts.index_cast,
    "arith.index_castui": casts.index_castui,
    "arith.extf": casts.extf,
    "arith.truncf": casts.truncf,
    "arith.sitofp": casts.sitofp,
    "arith.uitofp": casts.uitofp,
    "arith.fptosi": casts.fptosi,
    "arith.fptoui": casts.fptoui,
    "arith.bitcast": casts.bitcast,
}

FOLDERS: dict[str, Folder] = {
    **_ARITH,
    **buffers.FOLDERS,
    **floats.FOLDERS,
    **functions.FOLDERS,
    **indices.FOLDERS,
    **structures.FOLDERS,
}
