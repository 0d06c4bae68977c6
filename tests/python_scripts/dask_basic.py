# DaskWorkQueue(client, local="mstd:2"): "kernels with remote=True run as tasks of a distributed.Client"; the others run here.
# stderr max 0: Traceback (most recent call last)
import os

from distributed import Client, LocalCluster

import tfrt_nb as tfrt


@tfrt.kernel("far.square", remote=True)
def square(x: int) -> int:
    return x * x


@tfrt.kernel("far.process", remote=True)
def process(x: int) -> int:
    return os.getpid()


@tfrt.kernel("near.process")
def here(x: int) -> int:
    return os.getpid()


TEXT = """
func.func @main(%x: i32) -> (i32, i64, i64) {
  %y = "far.square"(%x) : (i32) -> i32
  %one = tfrt.constant.i32 1
  %z = tfrt.add.i32 %y, %one
  %w = "far.square"(%z) : (i32) -> i32
  %p = "far.process"(%w) : (i32) -> i64
  %q = "near.process"(%w) : (i32) -> i64
  tfrt.return %w, %p, %q : i32, i64, i64
}
"""

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        with tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host:
            for x in (2, 3):
                value, far, near = tfrt.Program(TEXT).run(x, host=host).result(50)
                print(value, far != os.getpid(), near == os.getpid())
        print(square(5))
