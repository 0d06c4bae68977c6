# "A Python `if` on a traced value is an error that names tfrt.cond, at the Python line"; "Errors at run time point at the Python line"; "Tracing leaves no side effect when it fails".
import re

import tfrt_nb as tfrt

CALLED = []

@tfrt.kernel("traced.check")
def check(x: int) -> int:
    CALLED.append(x)
    if x > 5:
        raise ValueError("too many")
    return x

def with_if():
    @tfrt.program
    def choose(x: tfrt.i32):
        y = check(x)
        if y < 3:  # line 19
            return x
        return x + 1

    return choose(1).result(20)

try:
    with_if()
except Exception as error:
    print("tfrt.cond" in str(error), bool(re.search(r"\b19\b", str(error))), CALLED)
print(check(2), CALLED)  # outside of a program it is the plain function, also after a failure

@tfrt.program
def share(a: tfrt.i32, b: tfrt.i32):
    total = check(a)  # line 33
    quotient, rest = divmod(total, b)  # line 34
    return quotient + rest

print(share(5, 2).result(20))
for values, line in (((5, 0), 34), ((6, 1), 33)):
    try:
        share(*values).result(20)
    except tfrt.TfrtError as error:
        place = error.diagnostics[0].location
        print(place.line == line, place.source.endswith("traced_errors.py"))
        print(error.diagnostics[0].message == "Divide by zero" or repr(error.__cause__))
