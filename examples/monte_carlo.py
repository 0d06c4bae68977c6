"""Estimate pi by chance: native kernels throw on all workers, without the GIL."""

import tfrt_nb as tfrt


@tfrt.kernel("pi.hits", native=True)
def hits(seed: tfrt.i64, *, throws: int) -> tfrt.i64:
    state = seed * 2862933555777941757 + 3037000493
    found = 0
    for _ in range(throws):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        x = state / 2147483648.0
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        y = state / 2147483648.0
        if x * x + y * y < 1.0:
            found += 1
    return found


@tfrt.kernel("pi.sum")
def total(counts: object) -> int:
    return sum(counts)


@tfrt.program
def pi(seeds: object):  # type: ignore[no-untyped-def]
    found = total(tfrt.map(lambda seed: hits(seed, throws=20_000), seeds))
    return found, tfrt.f64(found) * 4.0


def main() -> None:
    seeds = list(range(1, 17))
    found, four = pi(seeds).result(120)
    estimate = four / (len(seeds) * 20_000)
    print("hits and estimate are right:", found * 4.0 == four, abs(estimate - 3.14159) < 0.05)


if __name__ == "__main__":
    main()
