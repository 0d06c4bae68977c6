# Kernels on a cluster: what stays there, errors with their cause, cancellation, hosts without a cluster, bad clients.
# stderr max 0: Traceback (most recent call last)
from distributed import Client, Event, LocalCluster

import tfrt_nb as tfrt

@tfrt.kernel("far.large", remote=True)
def large(n: int) -> object:
    return list(range(n))


@tfrt.kernel("far.size", remote=True)
def size(item: object, *, times: int = 1) -> int:
    return len(item) * times


@tfrt.kernel("far.pair", remote=True)
def pair(n: int) -> tuple[int, int]:
    return n, n + 1


@tfrt.kernel("far.fail", remote=True)
def fail(n: int) -> int:
    raise KeyError("lost")


@tfrt.kernel("far.wait", remote=True)
def wait(n: int) -> int:
    Event("go").wait(60)
    return n


@tfrt.program
def sizes(n: tfrt.i32):
    a, b = pair(n)
    return size(large(n)), size(large(a + b), times=2)


@tfrt.program
def broken(n: tfrt.i32):
    return fail(n) + 1, n


@tfrt.program
def waiting(n: tfrt.i32):
    return wait(n)


if __name__ == "__main__":
    print(sizes(3).result(60))
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
        with tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host:
            print(sizes.run(4, host=host).result(60))
            bad, good = broken.run(5, host=host)
            print(good.result(60), repr(bad.exception(60).__cause__), bad.exception(60).diagnostics[0].location.line)
            print(bad.exception(60).diagnostics[0].notes[-1].message.partition("//")[0])
            run = waiting.run(6, host=host)
            print(run.wait(0.1), run.cancel("enough"))
            try:
                run.result(60)
            except tfrt.CancelledError as error:
                print(type(error).__name__, "enough" in str(error))
            Event("go", client).set()
        with tfrt.HostContext(tfrt.DaskWorkQueue(client, local="s")) as host:
            print(sizes.run(1, host=host).result(60))
        late = tfrt.DaskWorkQueue(client)
    with tfrt.HostContext(late) as host:
        error = sizes.run(1, host=host).results[0].exception(60)
        print(isinstance(error, tfrt.TfrtError), error.__cause__ is not None)
    try:
        tfrt.DaskWorkQueue(client)
    except tfrt.TfrtError as error:
        print("that is open" in str(error))
    for wrong in ("tcp://nowhere", None):
        try:
            tfrt.DaskWorkQueue(wrong)
        except tfrt.TfrtError as error:
            print("takes a distributed.Client" in str(error))
    try:
        tfrt.kernel("far.bad", remote=True, blocking=True)(lambda x: x)
    except tfrt.TfrtError as error:
        print("cannot be raw, blocking" in str(error))
