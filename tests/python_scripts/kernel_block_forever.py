# "A kernel that blocks a worker for more than 0.5 s is named by a warning": while it blocks, as it may never return.
import threading
import warnings

import tfrt_nb as tfrt

RELEASED, WARNED = threading.Event(), threading.Event()


def show(message, category, filename, line, file=None, text=None):
    print(category.__name__, "block.forever" in str(message), line == forever.__code__.co_firstlineno)
    WARNED.set()


warnings.showwarning = show


@tfrt.kernel("block.forever")
def forever(x: int) -> int:
    RELEASED.wait()
    return x


@tfrt.kernel("block.waits")
def waits(frame: tfrt.KernelFrame, x: int) -> int:
    # It waits for its own host, for which its worker works meanwhile: that blocks nothing.
    return LATE.run(x, host=frame.host).result()


@tfrt.kernel("block.late", blocking=True)
def late(x: int) -> int:
    WARNED.wait(2)
    return x


def calling(name):
    return tfrt.Program(f"""
func.func @main(%x: i32) -> i32 {{
  %y = "{name}"(%x) : (i32) -> i32
  tfrt.return %y : i32
}}
""")


LATE = calling("block.late")
with tfrt.HostContext("mstd:2") as host:
    print(calling("block.waits").run(1, host=host).result(40))
    run = calling("block.forever").run(2, host=host)
    print(WARNED.wait(40), run.done())
    RELEASED.set()
    print(run.result(40))
