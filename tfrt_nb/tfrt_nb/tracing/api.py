"""The public names of `tfrt_nb` for writing programs in Python."""

from tfrt_nb.tracing.calls import in_order
from tfrt_nb.tracing.control import cond, parallel_for, recover, repeat, while_loop
from tfrt_nb.tracing.control import map_values as map
from tfrt_nb.tracing.functions import program
from tfrt_nb.tracing.operators import cast
from tfrt_nb.tracing.operators import largest as max
from tfrt_nb.tracing.operators import smallest as min
from tfrt_runtime.kernels.users.annotations import Type

i1, i8, i16, i32, i64 = (Type(name, cast) for name in ("i1", "i8", "i16", "i32", "i64"))
ui8, ui16, ui32, ui64 = (Type(name, cast) for name in ("ui8", "ui16", "ui32", "ui64"))
f32, f64 = (Type(name, cast) for name in ("f32", "f64"))
index = Type("i64", cast, shown="index")

__all__ = [
    "cond",
    "f32",
    "f64",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "in_order",
    "index",
    "map",
    "max",
    "min",
    "parallel_for",
    "program",
    "recover",
    "repeat",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "while_loop",
]
