# What a kernel must not return is an error at its operation; what Python may mean by a type is taken.
import asyncio

import numpy as np

import tfrt_nb as tfrt


def attempt(kind, make):
    @tfrt.kernel("bad.made")
    def made():
        return make()

    names = "%y, %z" if "," in kind else "%y"
    program = tfrt.Program(f"""
func.func @main() -> ({kind}) {{
  {names} = "bad.made"() : () -> ({kind})
  tfrt.return {names} : {kind}
}}
""")
    try:
        return program.run().result(20)
    except tfrt.TfrtError as error:
        return error
    except KeyboardInterrupt:
        return "KeyboardInterrupt"


def interrupt():
    raise KeyboardInterrupt


def leave():
    raise SystemExit(3)


tfrt.call("tfrt.constant.i32", value=1).result(20)  # the compiler is imported here, not in a kernel
for kind, make in [
    ("i32", lambda: "x"),
    ("i32", lambda: None),
    ("i32", lambda: (1, 2)),
    ("i32", lambda: 2**40),
    ("i32", lambda: np.array([4])),
    ("i32", lambda: np.int8(4)),
    ("i32", lambda: 1.5),
    ("i32", lambda: True),
    ("i8", lambda: 200),
    ("i64", lambda: 2**63),
    ("i64", lambda: -(2**63)),
    ("i1", lambda: 5),
    ("i1", lambda: np.True_),
    ("f32", lambda: np.float32(1.5)),
    ("f32", lambda: 1e300),
    ("f64", lambda: np.array([1.0])),
    ("f64", lambda: 1),
    ("f64", lambda: "a"),
    ("f64", lambda: float("nan")),
    ("!tfrt.string", lambda: b"x"),
    ("!t.tensor", lambda: [1]),
    ("!tfrt.chain", lambda: 3),
    ("!tfrt.object", lambda: None),
    ("!tfrt.object", lambda: (1, 2)),
    ("i32, i32", lambda: None),
    ("i32, i32", lambda: 1),
    ("i32, i32", lambda: (1, 2)),
    ("i32, i32", lambda: (1, 2, 3)),
    ("i32, i32", lambda: [1, 2]),
    ("i32", lambda: asyncio.sleep(0)),
    ("i32", lambda: tfrt.call("tfrt.add.i32", 1, 2)),
    ("i32", leave),
    ("i32", interrupt),
]:
    print(attempt(kind, make))


@tfrt.kernel("bad.dropped")
def dropped(frame: tfrt.KernelFrame):
    frame.allocate()
    return frame.allocate()


@tfrt.kernel("bad.twice")
def twice(frame: tfrt.KernelFrame):
    value = frame.allocate()
    value.emplace(1)
    value.emplace(2)
    return value


print(tfrt.call("bad.dropped").exception(20).diagnostics[0].message)
print(tfrt.call("bad.twice").result(20))  # what was there before it raised
