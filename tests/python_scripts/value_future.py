# "as in concurrent.futures"; "to_future() a real concurrent.futures.Future, so that wait, as_completed ... take it".
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait

import tfrt_nb as tfrt

values = [tfrt.unavailable() for _ in range(3)]
futures = [value.to_future() for value in values]
print(all(isinstance(future, Future) for future in futures), len(wait(futures, timeout=0.05).done))
values[1].set_result("second")
done, rest = wait(futures, timeout=20, return_when=FIRST_COMPLETED)
print([future.result() for future in done], len(rest))
values[0].set_result("first")
print(futures[0].result(timeout=20))
values[2].set_exception(ValueError("third"))
problem = futures[2].exception(timeout=20)
root = problem if isinstance(problem, ValueError) else problem.__cause__
print(type(root).__name__, root)
print(sorted(future.exception() is None for future in as_completed(futures, timeout=20)))

heard = []
value = tfrt.unavailable()
value.add_done_callback(heard.append)
print(value.state == "unavailable", value.done(), value.cancelled(), heard)
try:
    value.result(timeout=0.05)
except TimeoutError:
    print("not in time")
value.set_result({"milk": 2})
print(value.state == "available", value.done(), value.cancelled(), heard[0].result(), value.exception())
value.add_done_callback(lambda resolved: heard.append("at once"))
print(heard[1], values[2].state == "error")

later = Future()
from_outside = tfrt.AsyncValue.from_future(later)
print(from_outside.done())
later.set_result(7)
print(from_outside.result(20))
