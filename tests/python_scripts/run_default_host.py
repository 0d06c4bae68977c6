# "tfrt.default_host() is made at first use"; "Without `with`, without leaks, no message at interpreter exit."
import tfrt_nb as tfrt

SEEN = []


@tfrt.kernel("host.note")
def note_host(frame: tfrt.KernelFrame, x: int) -> int:
    SEEN.append(frame.host)
    return x + 1


program = tfrt.Program("""
func.func @main(%x: i32, %y: i32) -> (i32, i32) {
  %a = "host.note"(%x) : (i32) -> i32
  %b = tfrt.add.i32 %a, %y
  tfrt.return %a, %b : i32, i32
}
""")
print(program.run(1, 2).result(20))
first = tfrt.default_host()
print(isinstance(first, tfrt.HostContext), first is tfrt.default_host(), SEEN.pop() is first)

second = tfrt.HostContext("mstd:2")
tfrt.set_default_host(second)
print(program.run(3, 4).result(20), tfrt.default_host() is second, SEEN.pop() is second)

# What follows is still alive when the interpreter exits: runs, values, a host that is not closed.
later = tfrt.unavailable()
waiting = program.run(5, later)
decided, undecided = waiting
print(decided.result(20), undecided.done())
doubled = undecided.then(lambda value: 2 * value)
third = tfrt.HostContext("mstd:2")
kept = program.run(third, arguments=[7, later])
print(list(kept)[0].result(20))
