# "program.mlir, program.bef, program.graph() (DOT text with .dot ...), pickles by text or bytes"; Program.from_bef(data), Program.from_file(path).
import pathlib
import pickle

import tfrt_nb as tfrt

TEXT = """
func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %s = tfrt.add.i32 %a, %b
  %q, %r = tfrt.div.i32 %s, %b
  tfrt.return %q, %r : i32, i32
}
"""
program = tfrt.Program(TEXT)
pathlib.Path("shop.mlir").write_text(TEXT)
pathlib.Path("shop.bef").write_bytes(program.bef)
copies = [
    tfrt.Program(program.mlir),
    tfrt.Program.from_bef(program.bef),
    tfrt.Program.from_file("shop.mlir"),
    tfrt.Program.from_file(pathlib.Path("shop.bef")),
    pickle.loads(pickle.dumps(program)),
    pickle.loads(pickle.dumps(tfrt.Program.from_bef(program.bef))),
]
for copy in copies:
    print(copy.run(30, 4).result(20), copy.main(9, 5).result(20))
print(isinstance(program.mlir, str), isinstance(program.bef, bytes), program.bef[:2].hex())
print("tfrt.div.i32" in copies[1].mlir)  # also of a program that came as bytes
print(tfrt.Program(copies[1].mlir).run(30, 4).result(20))
dot = program.graph().dot
print(dot.lstrip().startswith(("digraph", "strict digraph")), dot.rstrip().endswith("}"), "->" in dot)
try:
    tfrt.Program.from_bef(b"this is no BEF file")
except tfrt.TfrtError:
    print("refused")
