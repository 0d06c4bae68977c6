# What an error suggests is at the end of its traceback, too.
import pickle
import traceback

import tfrt_nb as tfrt


def attempt(operation: str) -> None:
    text = f"func.func @main(%a: i32) -> i32 {{\n  %b = {operation}\n  tfrt.return %b : i32\n}}"
    try:
        tfrt.Program(text, "text.mlir").run(1)
    except tfrt.TfrtError as error:
        print(traceback.format_exception_only(error)[-1].strip())
        assert pickle.loads(pickle.dumps(error)).__notes__ == error.__notes__


@tfrt.kernel("near.price")
def price(x: int) -> int:
    raise ValueError("no price")  # line 19


attempt("tfrt.sub.i32 %a, %a")
attempt('"near.prise"(%a) : (i32) -> i32')
attempt("tfrt.call @nope(%a) : (i32) -> i32")
error = tfrt.call("near.price", 1).exception(20)
print(len(error.__notes__), "run_suggestions.py:19" in error.__notes__[0])
