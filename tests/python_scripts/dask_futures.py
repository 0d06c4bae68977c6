# A future of the client is awaited as those of concurrent.futures are.
# stderr max 0: Traceback (most recent call last)
from distributed import Client, LocalCluster

import tfrt_nb as tfrt


@tfrt.kernel("far.same", remote=True)
def same(x: object) -> object:
    return x


def fail(x):
    raise ValueError("far away")


PROGRAM = """
func.func @main(%x: i32, %y: !tfrt.object) -> (i32, !tfrt.object) {
  %sum = tfrt.add.i32 %x, %x
  %same = "far.same"(%y) : (!tfrt.object) -> !tfrt.object
  tfrt.return %sum, %same : i32, !tfrt.object
}
"""

if __name__ == "__main__":
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host,
    ):
        program = tfrt.Program(PROGRAM)
        print(program.run(client.submit(pow, 2, 5), client.submit(str, 7), host=host).result(50))
        bad, good = program.run(client.submit(fail, 1), 3, host=host)
        print(repr(bad.exception(50).__cause__), good.result(50))
        print(tfrt.AsyncValue.from_future(client.submit(pow, 3, 2)).then(lambda x: x + 1).result(50))
