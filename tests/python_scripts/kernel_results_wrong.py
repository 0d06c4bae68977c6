# "a Python kernel's result that does not fit its type is an error, at the operation".
import numpy as np

import tfrt_nb as tfrt


def attempt(name, kind, value, annotation=None):
    def f(x: int):
        return value

    if annotation is not None:
        f.__annotations__["return"] = annotation
    tfrt.kernel(name)(f)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    names = ", ".join(f"%y{i}" for i in range(len(kinds)))
    ks = ", ".join(kinds)
    try:
        p = tfrt.Program(
            f'func.func @main(%x: i32) -> ({ks}) {{\n  {names} = "{name}"(%x) : (i32) -> ({ks})\n  tfrt.return {names} : {ks}\n}}'
        )
        return p.run(1).result(10)
    except tfrt.TfrtError as e:
        return "error", e.diagnostics[0].location.line


print(
    attempt("w.a", "i32", "text"),
    attempt("w.b", "i32", 2**31),
    attempt("w.c", "i32", 1.5),
    attempt("w.d", "i8", 200),
)
print(
    attempt("w.e", "i32", None),
    attempt("w.f", "i32", (1, 2)),
    attempt("w.g", ("i32", "i32"), 1),
    attempt("w.h", ("i32", "i32"), (1, 2, 3)),
    attempt("w.i", ("i32", "i32"), [1, 2]),
)
print(
    attempt("w.j", "f64", 3),
    attempt("w.k", "f64", "a"),
    attempt("w.l", "i1", 1),
    attempt("w.m", "i1", np.True_),
    attempt("w.n", "!tfrt.string", 3),
    attempt("w.o", "!tfrt_tensor.tensor", 3),
)
print(
    attempt("w.p", "i32", np.int64(5)),
    attempt("w.q", "f32", np.float32(1.5)),
    attempt("w.r", "i32", True),
    attempt("w.s", "!tfrt.chain", 5),
    attempt("w.t", "!tfrt.object", (1, 2)),
)
print(
    attempt("w.u", "f32", 1e300),
    attempt("w.v", "f64", float("nan")) != 0,
    attempt("w.w", "i64", 2**63),
    attempt("w.x", "i64", -(2**63)),
)
