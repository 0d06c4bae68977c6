# "AsyncValue for a value that is not awaited (non-strict)".
import asyncio

import tfrt_nb as tfrt


@tfrt.kernel("c.first")
def first(a: tfrt.AsyncValue, b: tfrt.AsyncValue) -> object:
    return a.done(), b.done()


@tfrt.kernel("c.plus")
def plus(a: tfrt.AsyncValue, n: int) -> object:
    return a.then(lambda x: x + n)


@tfrt.kernel("c.look")
def look(a: tfrt.AsyncValue) -> str:
    return f"{a.state} {a.exception(0).__cause__!r}"


p = tfrt.Program("""
func.func @first(%a: i32, %b: i32) -> !tfrt.object {
  %r = "c.first"(%a, %b) : (i32, i32) -> !tfrt.object
  tfrt.return %r : !tfrt.object
}
func.func @plus(%a: i32, %b: i32) -> !tfrt.object {
  %n = tfrt.add.i32 %b, %b
  %r = "c.plus"(%a, %n) : (i32, i32) -> !tfrt.object
  tfrt.return %r : !tfrt.object
}
func.func @look(%a: i32) -> !tfrt.string {
  %r = "c.look"(%a) : (i32) -> !tfrt.string
  tfrt.return %r : !tfrt.string
}
""")
x = tfrt.unavailable()
print(p.first(x, 2).result(10))
run = p.plus(x, 5)
print(run.wait(0.05))
x.set_result(1)
print(run.result(10), p.first(1, 2).result(10))
bad = tfrt.unavailable()
bad.set_exception(ValueError("v"))
print(p.look(bad).result(10))


@tfrt.program
def traced(a: tfrt.i32):
    return first(a, a)


print(traced(3).result(10))


# "When all are done, failed or not", for any number of steps.
@tfrt.kernel("c.step")
def step(n: int) -> int:
    if n == 3:
        raise RuntimeError("step 3")
    return n * 10


@tfrt.kernel("c.all_done")
async def all_done(*steps: tfrt.AsyncValue) -> str:
    ended = await asyncio.gather(*steps, return_exceptions=True)
    return ", ".join("failed" if isinstance(one, Exception) else str(one) for one in ended)


@tfrt.kernel("c.named", blocking=True)
def named(first: int, *steps: tfrt.AsyncValue, sep: str = " ") -> str:
    return f"{first}{sep}{sep.join(type(one).__name__ for one in steps)}"


@tfrt.kernel("c.framed")
def framed(frame: tfrt.KernelFrame, *steps: "tfrt.AsyncValue[int]") -> str:
    return f"{frame.name} {len(steps)} {len(frame.arguments)}"


@tfrt.kernel("c.perhaps")
def perhaps(first: int, second: tfrt.AsyncValue | None = None) -> str:
    return f"{first} {type(second).__name__}"


@tfrt.program
def flow(n: tfrt.i32):
    two = step(n), step(n + 1)
    return (
        all_done(*two, step(n + 2)),
        named(step(n + 5), *two, sep="-"),
        framed(*two),
        all_done(),
        perhaps(step(n + 1)),
        perhaps(step(n + 1), step(n)),
    )


for n in (5, 3):
    print([value.result(20) for value in flow(n)])
print(flow(2).results[0].result(20), "/", flow(-2).results[1].exception(20).diagnostics[0].message)
in_text = tfrt.Program("""
func.func @main(%n: i32) -> !tfrt.string {
  %a = "c.step"(%n) : (i32) -> i32
  %c = tfrt.new.chain
  %s = "c.named"(%n, %a, %c) : (i32, i32, !tfrt.chain) -> !tfrt.string
  tfrt.return %s : !tfrt.string
}""")
print(in_text.run(3).result(20), "/", tfrt.call("c.all_done", 1, 2).result(20))


def listed(steps: list[tfrt.AsyncValue]) -> None: ...
def tupled(*steps: tuple[tfrt.AsyncValue, ...]) -> None: ...
def written(steps: "list[tfrt.AsyncValue]") -> None: ...


for wrong in (listed, tupled, written):
    try:
        tfrt.kernel(wrong)
    except tfrt.TfrtError as error:
        print(str(error).split("error: ")[1])
try:
    tfrt.kernel("c.far", remote=True)(lambda *steps: None)
    tfrt.kernel("c.far", remote=True)(named.kernel.function)
except tfrt.TfrtError as error:
    print(str(error).split("error: ")[1])


# A tuple or a list is several results, or with one item a result that is no object.
@tfrt.kernel("c.gives")
def gives(n: int, *, kind: str) -> list[int] | tuple[int, ...]:
    return tuple([n] * n) if kind == "tuple" else [n] * n


for kind in ("tuple", "list"):
    for types in ("i32", "i32, i32", "!tfrt.object"):
        count = len(types.split(", "))
        given = ", ".join(f"%r#{i}" for i in range(count))
        several = tfrt.Program(f"""func.func @main(%n: i32) -> ({types}) {{
          %r:{count} = "c.gives"(%n) {{kind = "{kind}"}} : (i32) -> ({types})
          tfrt.return {given} : {types}
        }}""")
        print(kind, types, [value.exception(20) or value.result() for value in several.run(count)])


# What is emplaced before the kernel raises stays.
@tfrt.kernel("c.half")
def half(frame: tfrt.KernelFrame) -> tuple[int, int]:
    frame.allocate(0).emplace(7)
    waiting = [frame.allocate(1)]
    assert not waiting[0].done()
    raise ValueError("late")


@tfrt.kernel("c.half_async")
async def half_async(frame: tfrt.KernelFrame) -> tuple[int, int]:
    frame.allocate(1).emplace(8)
    raise ValueError("late")


@tfrt.program
def halves():
    return *half(), *half_async()


print(
    [value.exception(20).__cause__ if value.exception(20) else value.result() for value in halves()]
)
