"""Count words on a Dask cluster, which both splits the texts and merges the counts."""

from collections import Counter

from distributed import Client, LocalCluster

import tfrt_nb as tfrt

TEXTS = [
    "values wait for values and values wait for nothing else",
    "a kernel runs when its values are there",
    "nothing waits for a kernel but its values",
]


@tfrt.kernel("words.count", remote=True)
def count(text: str) -> object:
    return Counter(text.split())


@tfrt.kernel("words.merge", remote=True)
def merge(*parts: object) -> object:
    return sum(parts, Counter())


@tfrt.kernel("words.top")
def top(words: object, *, most: int) -> object:
    return sorted(words.items(), key=lambda item: (-item[1], item[0]))[:most]


@tfrt.program
def word_count(a: str, b: str, c: str):  # type: ignore[no-untyped-def]
    return top(merge(count(a), count(b), count(c)), most=4)


def main() -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
        tfrt.HostContext(tfrt.DaskWorkQueue(client, local="mstd:2")) as host,
    ):
        for word, number in word_count.run(*TEXTS, host=host).result(60):
            print(number, word)


if __name__ == "__main__":
    main()
