# "native=True: runs on the workers without the GIL". One with a loop keeps no other kernel from a free worker.
import tfrt_nb as tfrt

@tfrt.kernel("native.count", native=True)
def count(rounds: tfrt.i32) -> tfrt.i32:
    found = 0
    for number in range(rounds):
        found = (found * 31 + number) % 1000003
    return found

@tfrt.kernel("native.quick")
def quick(x: int) -> int:
    return x

program = tfrt.Program("""
func.func @main(%rounds: i32) -> (i32, i32, i32) {
  %a = "native.count"(%rounds) : (i32) -> i32
  %b = "native.quick"(%rounds) : (i32) -> i32
  %c = "native.count"(%rounds) : (i32) -> i32
  tfrt.return %a, %b, %c : i32, i32, i32
}
""")
with tfrt.HostContext("mstd:3") as host:
    program.run(1, host=host).result(50)  # compiled now
    first, beside, second = program.run(100_000_000, host=host)
    beside.result(50)
    print(first.state, second.state)
    print(first.result(50) == second.result(50))
