# What is wrong with an eager call, before it runs or while it does, is an error at the line of the caller.
import tfrt_nb as tfrt


@tfrt.kernel("place.fails")
def fails(x: int) -> int:
    raise ValueError("no milk")


@tfrt.kernel("place.typed")
def typed(text: str, *, times: int) -> str:
    return text * times


def attempt(call):
    """Print the error without the file, and whether it is at the line of the call."""
    try:
        print(call())
    except tfrt.TfrtError as error:
        place = error.diagnostics[0].location
        is_here = (place.source, place.line) == (__file__, call.__code__.co_firstlineno)
        print(is_here, error.diagnostics[0].message)


attempt(lambda: tfrt.call("tfrt.div.i32", 1, 0)[0].result(20))
for _ in range(2):  # two lines have programs of their own
    attempt(lambda: tfrt.call("tfrt.div.i32", 2, 0)[0].result(20))
attempt(lambda: tfrt.call("place.fails", 1).result(20))
attempt(lambda: tfrt.call("tfrt.add.i32", 1, "two").result(20))
attempt(lambda: tfrt.call("tfrt.add.i32", 1).result(20))
attempt(lambda: tfrt.call("tfrt.add.i32", 2**31, 1).result(20))
attempt(lambda: tfrt.call("tfrt.sub.i32", 1, 2).result(20))
attempt(lambda: tfrt.call("place.type", 1).result(20))
attempt(lambda: tfrt.call("place.typed", 1, times=2).result(20))
attempt(lambda: tfrt.call("place.typed", "a").result(20))
attempt(lambda: tfrt.call("place.typed", "a", time=2).result(20))
attempt(lambda: tfrt.call("place.typed", "a", times="2").result(20))
attempt(lambda: tfrt.call("tfrt.constant.i32", val=5).result(20))
attempt(lambda: tfrt.call("tfrt.constant.i32", value=2**40).result(20))
attempt(lambda: tfrt.HostContext("mstx"))
attempt(lambda: tfrt.HostContext(allocator="big"))
