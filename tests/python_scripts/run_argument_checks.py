# "Arguments are checked against the signature before anything runs: TfrtError says function, parameter number and name, type expected, value found."
import re

import tfrt_nb as tfrt

RAN = []

@tfrt.kernel("check.touch")
def touch(x: int) -> int:
    RAN.append(x)
    return x

program = tfrt.Program("""
func.func @order(%pieces: i32, %factor: f64, %label: !tfrt.string) -> i32 {
  %x = "check.touch"(%pieces) : (i32) -> i32
  tfrt.return %x : i32
}
""")

def refused(values, name, kind, found):
    try:
        program.order(*values)
    except tfrt.TfrtError as error:
        text = str(error)
        number = re.search(r"\b\d\b", text.replace("i32", "").replace("f64", ""))
        return ["order" in text, name in text, kind in text, found in text, number is not None]
    return "not refused"

print(refused(("seven", 1.5, "a"), "pieces", "i32", "seven"))
print(refused((2.5, 1.5, "a"), "pieces", "i32", "2.5"))
print(refused((2**31, 1.5, "a"), "pieces", "i32", "2147483648"))
print(refused((1, "much", "a"), "factor", "f64", "much"))
print(refused((1, 1.5, 99), "label", "string", "99"))
for values in ((), (1, 2.0), (1, 2.0, "a", 4)):
    try:
        program.order(*values)
    except tfrt.TfrtError as error:
        print("order" in str(error))
print("ran:", RAN)
print(program.order(7, 1.5, "a").result(20), RAN)
