# "run.result(timeout=None): one value, or a tuple when the function has several; () for none"; "await run".
import asyncio

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @none() {
  tfrt.return
}
func.func @one(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @two(%a: i32, %b: i32) -> (i32, i32) {
  %sum = tfrt.add.i32 %a, %b
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %sum, %q : i32, i32
}
func.func @show(%x: i32) -> !tfrt.chain {
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %x, %c
  tfrt.return %d : !tfrt.chain
}
""")
print(program.none().result(20), program.one(21).result(20), program.two(7, 2).result(20))

async def main():
    print(await program.none(), await program.one(21), await program.two(7, 2))

asyncio.run(main())
print(list(program.none()), all(isinstance(v, tfrt.AsyncValue) for v in program.two(7, 2)))

run = program.two(7, 0)  # one result is there, the other one an error
good, bad = run
print(good.result(20), "Divide by zero" in str(bad.exception(20)))
try:
    run.result(20)
except tfrt.TfrtError as error:
    print("Divide by zero" in str(error))
print(run.wait(20), run.done(), [d.message for d in run.diagnostics])
shown = program.show(5)
print(shown.wait(20), repr(shown.output))
