# A large argument is sent to the cluster once, whatever takes it and however often; a future of the client is passed on as it is.
# stderr max 1000: Traceback (most recent call last)
import numpy as np
from distributed import Client, LocalCluster

import tfrt_nb as tfrt

scattered = []


@tfrt.kernel("large.part", remote=True)
def part(a: np.ndarray, i: int) -> float:
    return float(a[i])


@tfrt.kernel("large.kind", remote=True)
def kind(x: object) -> str:
    return type(x).__name__


@tfrt.kernel("large.fails", remote=True, retries=2, retry_on=OSError)
def fails(x: int) -> int:
    raise (OSError if x else tfrt.KernelError)("no such page")


@tfrt.program
def parts(a: np.ndarray):
    return tuple(part(a, i) for i in range(4))


@tfrt.program
def kind_of(x: object):
    return kind(x)


@tfrt.program
def failing(x: tfrt.i64):
    return fails(x)


if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        Client(cluster, set_as_default=False) as other,
        tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host,
    ):
        scatter = client.scatter
        client.scatter = lambda *values, **options: scattered.append(1) or scatter(*values, **options)
        array = np.arange(300_000.0)
        for _ in range(2):
            print(parts(array, host=host).result(50), len(scattered))
        array[0] = 7
        print(parts(array, host=host).result(50), len(scattered))
        given = scatter(array)
        print(parts(given, host=host).result(50), len(scattered))
        print(kind_of(client.submit(np.ones, 5), host=host).result(50))
        print(kind_of(other.submit(np.ones, 5), host=host).result(50))
        print(repr(kind_of(client.submit(int, "x"), host=host).exception(50).__cause__))
        for x in (0, 1):
            error = failing(x, host=host).exception(50)
            print(type(error.__cause__).__name__, sum("attempt" in one for one in getattr(error, "__notes__", ())))
