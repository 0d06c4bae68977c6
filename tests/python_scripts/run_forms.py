# "positional values are the arguments of @main"; "With a HostContext first, the rest is read as before: run(host, function, arguments), all of it also by keyword".
import tfrt_nb as tfrt

TEXT = """
func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %s = tfrt.add.i32 %a, %b
  %p = tfrt.mul.i32 %a, %b
  tfrt.return %s, %p : i32, i32
}
func.func @split(%pieces: i32, %people: i32) -> (i32, i32) {
  %q, %r = tfrt.div.i32 %pieces, %people
  tfrt.return %q, %r : i32, i32
}
"""
program = tfrt.Program(TEXT)  # same as from_source(text, name="<program>")
print(program.name, tfrt.Program.from_source(TEXT, name="<program>").name)
print(program.run(7, 2).result(20))
print(program.run(7, 2, function="split").result(20))
print(program.split(7, 2).result(20))  # "a function by its name, as an attribute"
print(program.main(7, 2).result(timeout=20))
try:
    program.no_such_function
except AttributeError:
    print("no attribute")

with tfrt.HostContext("mstd:2") as host:
    print(program.run(7, 2, host=host).result(20))
    print(program.run(7, 2, function="split", host=host, timeout=30.0).result(20))
    print(program.run(host, "split", [20, 6]).result(20))
    print(program.run(host, function="split", arguments=[20, 6]).result(20))
    print(program.run(host=host, function="split", arguments=[20, 6]).result(20))
    print(program.run(host=host, function="main", arguments=(7, 2)).result(20))
    print(program.run(host, "main", arguments=[7, 2]).result(20))
    print(program.main(7, 2, host=host, timeout=5).result(20))
    total, product = program.run(host, arguments=[3, 4])
    print(total.result(20), product.result(timeout=20))
for bad in (
    lambda: program.run(7, 2, arguments=[7, 2]),
    lambda: program.run(7, b=2),
    lambda: program.run(7, 2, hots=3),
    lambda: program.run(7, 2, function="nope"),
    lambda: program.run(7, 2, host="mstd"),
    lambda: program.run(7, 2, function=3),
):
    try:
        print(bad().result(5))
    except (TypeError, tfrt.TfrtError) as error:
        print(type(error).__name__)
