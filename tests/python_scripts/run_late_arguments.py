# "TfrtError says function, parameter number and name, type expected, value found", also of values that come later.
from concurrent.futures import Future

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @main(%n: i32, %s: !tfrt.string) -> (i32, !tfrt.string) {
  tfrt.return %n, %s : i32, !tfrt.string
}
""")
number, future = tfrt.unavailable(), Future()
first, second = program.run(number, future)  # line 12
number.set_result("later")
future.set_result(2.5)
for value in (first, second):
    error = value.exception(20)
    print(error.diagnostics[0].message, error.diagnostics[0].location.line)
ready = tfrt.unavailable()
ready.set_result([1])
print(next(iter(program.run(ready, "text"))).exception(20).diagnostics[0].message)
