# "The command line has the same: `tfrt-nb run FILE --function f 7 2.5 '"text"' @array.npy`."
import pathlib
import re
import subprocess
import sys

import numpy as np

pathlib.Path("shop.mlir").write_text("""
func.func @f(%n: i32, %x: f64, %s: !tfrt.string, %t: !tfrt_tensor.tensor) -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %c1 = tfrt.print.i32 %n, %c0
  %c2 = tfrt.print.f64 %x, %c1
  %c3 = "tfrt_test.print_string"(%s, %c2) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %t, %c3
  tfrt.return %c4 : !tfrt.chain
}
""")
np.save("array.npy", np.array([1.0, 2.5]))


def command(*arguments):
    line = [sys.executable, "-m", "tfrt_nb", "run", "shop.mlir", "--function", "f", *arguments]
    return subprocess.run(line, capture_output=True, text=True)


ended = command("7", "2.5", '"text"', "@array.npy")
print(ended.returncode, repr(ended.stderr))
for part in ("int32 = 7", "f64 = 2.500000", "string = text", "shape = [2], values = [1.000000e+00, 2.500000e+00]"):
    print(part in ended.stdout)
wrong = command("7", '"much"', '"text"', "@array.npy")
print(wrong.returncode != 0, bool(re.search(r"\bx\b", wrong.stderr)), "f64" in wrong.stderr, "Traceback" in wrong.stderr)
pathlib.Path("shop.mlir").write_text("""
func.func @f(%c0: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %c0 : !tfrt.chain
}
""")
ended = command("chain")
print(ended.returncode, repr(ended.stderr))
