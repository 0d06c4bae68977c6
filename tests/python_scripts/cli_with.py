# On the command line, --with takes Python files, whose kernels a program calls, and programs, whose functions it calls.
import pathlib
import subprocess
import sys

pathlib.Path("shop.py").write_text("""
import tfrt_nb as tfrt

@tfrt.kernel("shop.price")
def price(pieces: int, *, cents: int = 250) -> int:
    return pieces * cents

@tfrt.kernel
def twice(x: int) -> int:
    return 2 * x

if __name__ == "__main__":
    print("this is for the file as a script")
""")
pathlib.Path("more.mlir").write_text("""
func.func @more(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
""")
pathlib.Path("total.mlir").write_text("""
func.func @main(%x: i32) -> i32 {
  %a = shop.price %x {cents = 2}
  %b = py.twice %a
  %c = tfrt.call @more(%b) : (i32) -> i32
  tfrt.return %c : i32
}
""")
pathlib.Path("wrong.py").write_text("x = 1\nimport no_such_module\n")
pathlib.Path("broken.py").write_text("def f(:\n")


def command(*arguments):
    line = [sys.executable, "-m", "tfrt_nb", "run", "total.mlir", "3", *arguments]
    ended = subprocess.run(line, capture_output=True, text=True)
    print(ended.returncode, ended.stdout.splitlines()[-1:], ended.stderr.splitlines()[:1])


command("--with", "shop.py", "--with", "more.mlir")
command("--with", "more.mlir")
for file in ("wrong.py", "broken.py", "missing.py", "more.bef"):
    if file == "more.bef":
        pathlib.Path(file).write_bytes(b"\x0b\xef\x00")
    command("--with", file)
