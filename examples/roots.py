"""Square roots by Newton's method, and greatest common divisors: loops and recursion."""

import tfrt_nb as tfrt


@tfrt.program
def root(x: tfrt.f64):  # type: ignore[no-untyped-def]
    def is_rough(guess, steps):  # type: ignore[no-untyped-def]
        return (abs(guess * guess - x) > x * 1e-12) & (steps < 100)

    return tfrt.while_loop(
        is_rough, lambda guess, steps: ((guess + x / guess) / 2, steps + 1), x, 0
    )


@tfrt.program
def divisor(a: tfrt.i64, b: tfrt.i64) -> tfrt.i64:
    return tfrt.cond(b == 0, lambda: a, lambda: divisor(b, a % b))


@tfrt.program
def simplest(numerator: tfrt.i64, denominator: tfrt.i64):  # type: ignore[no-untyped-def]
    common = divisor(numerator, denominator)
    return numerator // common, denominator // common


def main() -> None:
    for x in (2.0, 144.0):
        value, steps = root(x).result(60)
        print(f"root of {x:g}: {value:.6f} after {steps} steps")
    print("84/36 is", *simplest(84, 36).result(60))
    print(
        "\n".join(
            line.split(" loc(")[0] for line in divisor.mlir.splitlines() if "func.func" in line
        )
    )


if __name__ == "__main__":
    main()
