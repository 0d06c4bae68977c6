"""A ledger: transfers are checked in parallel, and booked in the order of the requests."""

import tfrt_nb as tfrt

BALANCES = {"ada": 100, "bob": 20, "eve": 0}


@tfrt.kernel("ledger.check")
def check(giver: str, taker: str, amount: int) -> bool:
    return amount > 0 and giver != taker and {giver, taker} <= BALANCES.keys()


@tfrt.kernel("ledger.book")
def book(giver: str, taker: str, amount: int) -> None:
    if BALANCES[giver] < amount:
        print(f"{giver} has only {BALANCES[giver]}")
        return
    BALANCES[giver] -= amount
    BALANCES[taker] += amount
    print(f"{giver} -> {taker}: {amount}")


@tfrt.kernel("ledger.refuse")
def refuse(giver: str, taker: str, amount: int) -> None:
    print(f"refused: {giver} -> {taker}: {amount}")


@tfrt.program
def transfers(first: tfrt.i64, second: tfrt.i64, third: tfrt.i64):  # type: ignore[no-untyped-def]
    asked = [("ada", "bob", first), ("bob", "eve", second), ("eve", "zoe", third)]
    checked = [check(*one) for one in asked]
    with tfrt.in_order():
        for good, one in zip(checked, asked, strict=True):
            tfrt.cond(good, lambda *values: book(*values), lambda *values: refuse(*values), *one)


def main() -> None:
    transfers(30, 45, 5).wait(60)
    transfers(500, 1, 1).wait(60)
    print(BALANCES)


if __name__ == "__main__":
    main()
