"""A sum of numbers that arrive one by one: partial sums start before the last number arrives."""

import tfrt_nb as tfrt


@tfrt.kernel("stream.log", blocking=True)
def log(label: str, total: int) -> None:
    print(f"{label}: {total}", flush=True)


@tfrt.program
def reduce(a: tfrt.i64, b: tfrt.i64, c: tfrt.i64, d: tfrt.i64):  # type: ignore[no-untyped-def]
    left, right = a + b, c + d
    first = log("first half", left)
    second = log("second half", right, after=first)
    log("all", left + right, after=second)
    return left, right, left + right


def main() -> None:
    arriving = [tfrt.unavailable() for _ in range(4)]
    run = reduce(*arriving)
    left, right, total = run
    for number, value in enumerate(arriving, 1):
        value.set_result(number * 10)
        if number == 2:
            half_way = left.result(60), right.done(), total.done()
    result = run.result(60), run.wait(60)
    # Kernels print during the run, so this is printed only now.
    print("half way:", *half_way)
    print("result:", *result)


if __name__ == "__main__":
    main()
