# A run among the values of `tfrt.gather` is what its `result()` returns.
import asyncio
import itertools

import tfrt_nb as tfrt


@tfrt.kernel("shop.order")
def order(pieces: int) -> None:
    if pieces < 0:
        raise ValueError("fewer than none")


one = tfrt.Program("func.func @main(%a: i32) -> i32 { tfrt.return %a : i32 }")
two = tfrt.Program("func.func @main(%a: i32) -> (i32, i32) { tfrt.return %a, %a : i32, i32 }")
none = tfrt.Program("""
func.func @main(%a: i32) {
  %done = "shop.order"(%a) : (i32) -> !tfrt.chain
  tfrt.return
}""")

for queue in ("s", "mstd:2"):
    with tfrt.HostContext(queue) as host:
        for _ in itertools.repeat(None, 2):
            runs = one.run(1, host=host), two.run(2, host=host), none.run(3, host=host)
            print(tfrt.gather(*runs, one.map(host, [[4, 5]]), "other").result(20))
        wrong = tfrt.gather(one.run(1, host=host), none.run(-1, host=host)).exception(20)
        print(wrong, repr(wrong.__cause__))
        never = tfrt.unavailable()
        waits = one.run(never, host=host)
        both = tfrt.gather(waits, 1)
        waits.cancel("no longer wanted")
        print(both.cancelled(), both.exception(20))

        async def main():
            return await tfrt.gather(one.run(6, host=host), none.run(7, host=host))

        print(asyncio.run(main()))
        del runs, wrong, waits, both, never
        print(host.quiesce(20), host.live_values())
