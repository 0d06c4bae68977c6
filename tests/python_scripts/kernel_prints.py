# "What a kernel prints belongs to its run": in a script its lines appear once, in order with those of the program and of the script.
import contextlib
import io
import sys

import tfrt_nb as tfrt


@tfrt.kernel("prints.show")
def show(x: int) -> int:
    print("kernel", x)
    return x


program = tfrt.Program("""
func.func @main(%x: i32) -> i32 {
  %c0 = tfrt.new.chain
  %c1 = tfrt.print.i32 %x, %c0
  %y = "prints.show"(%x, %c1) : (i32, !tfrt.chain) -> i32
  %c2 = tfrt.print.i32 %y, %c1
  tfrt.return %y : i32
}""")
for queue in ("s", "mstd:4"):
    with tfrt.HostContext(queue) as host:
        print("script, before")
        run = program.run(1, host=host)
        run.wait(20)
        print("script, after", repr(run.output))

        given = []
        program.run(2, host=host, output=given.append).wait(20)
        print(repr("".join(given)))

        with contextlib.redirect_stdout(io.StringIO()) as text:
            program.run(3, host=host).wait(20)
        print(repr(text.getvalue()))

        with contextlib.redirect_stdout(io.StringIO()) as text:
            batch = program.map([4, 5], host=host)
            batch.result(20)
        print(batch.output == text.getvalue(), batch.output.count("kernel"))
print(sys.stdout.encoding.lower(), file=sys.stdout)
