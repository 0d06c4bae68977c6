# programs and traced functions go to other processes, with their kernels by name; runs, values and hosts do not.
import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import tfrt_nb as tfrt

PROGRAM = tfrt.Program("func.func @main(%a: i32) -> i32 { tfrt.return %a : i32 }")

@tfrt.kernel
def square(x: int) -> int:
    return x * x

@tfrt.program
def more(x: tfrt.i32):
    return square(x) + 1

def result_of(program, value):
    return (program if isinstance(program, tfrt.Program) else more.trace()).run(value).result(60)

def fails(value):
    return tfrt.call("tfrt.div.i32", value, 0)[0].result(60)

if __name__ == "__main__":
    run = PROGRAM.run(3)
    for thing in (run, list(run)[0], tfrt.default_host()):
        for attempt in (copy.copy, pickle.dumps):
            try:
                attempt(thing)
            except TypeError as error:
                print(str(error).partition(":")[0])
    print(run.result(60), pickle.loads(pickle.dumps(more)) is more)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        print([pool.submit(result_of, one, 5).result(100) for one in (PROGRAM, more.trace(), more)])
        error = pool.submit(fails, 5).exception(100)
        print(type(error).__name__, "Divide by zero" in str(error))
