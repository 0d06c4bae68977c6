# "total.mlir: the text, with the Python lines as locations"; "total.trace(...) gives the Program without running"; "numbers or strings become constants, and captured objects otherwise".
import tfrt_nb as tfrt

RAN = []
TABLE = {"milk": 120, "tea": 300}


@tfrt.kernel("text.price")
def price(pieces: int, *, cents: int = 250) -> int:
    RAN.append(pieces)
    return pieces * cents


@tfrt.kernel("text.find")
def find(table: object, name: str, pieces: int) -> object:
    return table, table[name] * pieces


@tfrt.program
def total(pieces: tfrt.i32, people: tfrt.i32):
    cost = price(pieces, cents=120)
    share, rest = divmod(cost, people)  # line 22
    return cost, share, rest


@tfrt.program
def lookup(pieces: tfrt.i32):
    return find(TABLE, "milk", pieces + 1)


traced = total.trace(7, 2)
print(isinstance(traced, tfrt.Program), RAN)
print("traced_text.py" in total.mlir, ":22:" in total.mlir, "text.price" in total.mlir, "120" in total.mlir)
again = tfrt.Program(total.mlir)
name = "total" if "@total" in total.mlir else "main"
for values in ((7, 2), (1, 7)):
    print(total(*values).result(20), again.run(*values, function=name).result(20), traced.run(*values, function=name).result(20))
table, cost = lookup(2).result(20)
print(table is TABLE, cost)
