# "repr says something (<Program @main(i32, i32) -> (i32, i32), 1 more function>, <Execution @main running, 1 of 2 results>)".
import time

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %c = tfrt.add.i32 %a, %a
  %d = tfrt.add.i32 %a, %b
  tfrt.return %c, %d : i32, i32
}
func.func @other(%x: i32) -> i32 {
  tfrt.return %x : i32
}
""")
assert "Program" in repr(program), repr(program)
assert "@main(i32, i32) -> (i32, i32)" in repr(program), repr(program)
assert "1 more function" in repr(program), repr(program)

later = tfrt.unavailable()
run = program.run(21, later)
early, late = run
assert early.result(20) == 42
assert "42" in repr(early) and "unavailable" in repr(late), (early, late)
assert "@main" in repr(run) and "running" in repr(run) and "1 of 2" in repr(run), repr(run)
later.set_result(5)
assert run.wait(20)
assert late.result(20) == 26 and "26" in repr(late), repr(late)
assert "@main" in repr(run) and "running" not in repr(run), repr(run)

for shown in (program, run, early):
    html = shown._repr_html_()
    assert isinstance(html, str) and "<" in html, shown
assert "0x" not in repr(program) + repr(run) + repr(early), "says something, not an address"
print("ok")
