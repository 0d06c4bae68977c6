# Remote kernels that fail at a line, whose worker dies or whose client is closed, that end the interpreter, or that take what cannot be sent: error values at the operation.
# stderr max 1000: Traceback (most recent call last)
import json
import os
import threading
import time
import traceback

import dask
from distributed import Client, LocalCluster

import tfrt_nb as tfrt

@tfrt.kernel("far.die", remote=True)
def die(x: int) -> int:
    os._exit(1)

@tfrt.kernel("far.exit", remote=True)
def leave(x: int) -> int:
    raise SystemExit(3)

@tfrt.kernel("far.more", remote=True)
def more(x: int) -> int:
    return x + 1

@tfrt.kernel("far.type", remote=True)
def type_of(x: object) -> str:
    return type(x).__name__

@tfrt.kernel("far.wait", remote=True)
def wait(x: int) -> int:
    time.sleep(60)
    return x

def share(x):
    return 10 // (x - x)

@tfrt.kernel("far.share", remote=True)
def read_or_share(x: int) -> int:
    try:
        return json.loads("")
    except ValueError:
        return share(x)

@tfrt.program
def fail(x: tfrt.i32):
    return read_or_share(x)

@tfrt.program
def hold(x: tfrt.i32):
    return wait(x)

@tfrt.program
def work(x: tfrt.i32):
    return more(x), leave(x)  # line 55

@tfrt.program
def send(x: object):
    return type_of(x)  # line 59

@tfrt.program
def lose(x: tfrt.i32):
    return die(x)  # line 63

if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        with tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host:
            good, left = work.run(1, host=host)
            print(good.result(100))
            failed = fail.run(1, host=host).results[0].exception(100)
            for one in (failed.__cause__.__context__, failed.__cause__):
                print(type(one).__name__)
                for place in traceback.extract_tb(one.__traceback__):
                    if place.filename == __file__:
                        print(f"  {place.lineno} {place.name}: {place.line}")
            print(failed.diagnostics[0].notes[0].message.replace(__file__, "this file"))
            for start in (lambda: left, lambda: send.run(threading.Lock(), host=host).results[0], lambda: lose.run(1, host=host).results[0]):
                error = start().exception(100)
                print(type(error.__cause__).__name__, error.diagnostics[0].location.line, "tcp://" in str(error))
            run = hold.run(1, host=host)
            run.wait(0.5)
            client.close()
            print(run.results[0].exception(100).diagnostics[0].notes[-1].message)
