# Results that only remote kernels take stay on the cluster; those that Python or kernels here read are fetched.  A watched run names the workers.
# stderr max 1000: Traceback (most recent call last)
import os

import numpy as np
from distributed import Client, LocalCluster

import tfrt_nb as tfrt
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.documents.trace import activities

HERE = os.getpid()


class Parcel:
    """Says when it arrives in this process."""

    def __init__(self, items):
        self.items = items

    def __reduce__(self):
        return arrive, (self.items, HERE)


def arrive(items, home):
    if os.getpid() == home:
        print("fetched", len(items))
    return Parcel(items)


@tfrt.kernel("far.pack", remote=True)
def pack(n: int) -> object:
    return Parcel(list(range(n)))


@tfrt.kernel("far.more", remote=True)
def more(parcel: object) -> object:
    return Parcel([*parcel.items, len(parcel.items)])


@tfrt.kernel("far.count", remote=True)
def count(parcel: object) -> int:
    return len(parcel.items)


@tfrt.kernel("near.count")
def count_here(parcel: object) -> int:
    return len(parcel.items)


@tfrt.kernel("far.ones", remote=True)
def ones(n: int) -> np.ndarray:
    return np.ones(n)


@tfrt.kernel("far.sum", remote=True)
def total(array: np.ndarray) -> float:
    return float(array.sum())


@tfrt.kernel("far.wrong", remote=True)
def wrong(n: int) -> np.ndarray:
    return [1.0] * n


@tfrt.kernel("far.leave", remote=True)
def leave(n: int) -> object:
    raise SystemExit(4)


@tfrt.program
def far_only(n: tfrt.i32):
    return count(more(more(pack(n))))


@tfrt.program
def returned(n: tfrt.i32):
    parcel = more(pack(n))
    return count(parcel), parcel


@tfrt.program
def near(n: tfrt.i32):
    return count_here(more(pack(n)))


@tfrt.program
def arrays(n: tfrt.i32):
    return total(ones(n))


@tfrt.program
def mistaken(n: tfrt.i32):
    return total(wrong(n))


@tfrt.program
def left(n: tfrt.i32):
    return count(leave(n))


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        with tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host:
            print(far_only.run(3, host=host).result(60))
            number, parcel = returned.run(4, host=host)
            print(number.result(60), len(parcel.result(60).items))
            print(near.run(5, host=host).result(60))
            print(arrays.run(6, host=host).result(60))
            for program in (mistaken, left):
                error = program.run(7, host=host).results[0].exception(60)
                print(error.diagnostics[0].location.line, str(error).split("error: ")[1].splitlines()[0])
            program = far_only.trace()
            run = program.run(8, host=host, watch=True)
            document = RunDocument(program, run)
            print(run.result(60))
            run.wait(60)
            document.update()
            made = {value["id"] for value in document.program.data["values"] if value["op"] is not None}
            print([document.workers[document.seen[number].worker].partition("//")[0] for number in sorted(made)])
            print(*(f"{one.name} {one.worker[:3]}" for one in activities(document) if "far." in one.name), sep=", ")
