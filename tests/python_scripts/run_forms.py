# "positional values are the arguments of @main"; "With a HostContext first, the rest is read as before".
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
    total, product = program.run(host, arguments=[3, 4])
    print(total.result(20), product.result(timeout=20))
