# The traceback of a kernel's error is the text that a call of its function prints, from the function on.
import asyncio
import functools
import json
import traceback

import tfrt_nb as tfrt


def check(pieces: int) -> int:
    raise ValueError(f"{pieces} pieces left")


def library(pieces: int) -> int:
    return (pieces * 2) + json.loads("{" * (pieces - 2))


class Shop:
    def method(self, pieces: int) -> int:
        return max(left // (pieces - left) for left in range(5))

    def __call__(self, pieces: int) -> int:
        return self.method(pieces)


def generator(pieces: int) -> int:
    return sum(1 // (left - pieces) for left in range(5))


def closure(pieces: int) -> int:
    def inner() -> int:
        return pieces.missing

    return inner()


def chained(pieces: int) -> int:
    try:
        return {}[pieces]
    except KeyError as error:
        raise RuntimeError("no price") from error


async def later(pieces: int) -> int:
    async def bad(number: int) -> None:
        raise KeyError(number)

    async with asyncio.TaskGroup() as group:
        group.create_task(bad(pieces))
    return 1


space = {}
exec(compile("def typed(pieces):\n    return pieces.missing", "<string>", "exec"), space)  # noqa: S102
FUNCTIONS = {
    "library": library,
    "method": Shop().method,
    "object": Shop(),
    "partial": functools.partial(Shop.method, Shop()),
    "lambda": lambda pieces: [][pieces],
    "generator": generator,
    "closure": closure,
    "chained": chained,
    "typed": space["typed"],
    "later": later,
}


def text_of(error: tfrt.TfrtError) -> str:
    return "".join(traceback.format_exception(error.__cause__))


def direct(function) -> str:
    try:
        returned = function(3)
        if asyncio.iscoroutine(returned):
            asyncio.run(returned)
    except Exception as error:  # noqa: BLE001
        entry = error.__traceback__.tb_next
        while "asyncio" in entry.tb_frame.f_code.co_filename:
            entry = entry.tb_next
        return "".join(traceback.format_exception(error.with_traceback(entry)))


tfrt.kernel("trace.same")(lambda pieces: pieces)
for name, function in FUNCTIONS.items():
    expected, found = direct(function), {}
    tfrt.kernel(f"trace.{name}")(function)
    found["ordinary"] = tfrt.call(f"trace.{name}", 3).exception(20)
    if name != "later":
        tfrt.kernel(f"trace.{name}.blocking", blocking=True)(function)
        found["blocking"] = tfrt.call(f"trace.{name}.blocking", 3).exception(20)
        tfrt.kernel(f"trace.{name}.retried", retries=1)(function)
        found["retried"] = tfrt.call(f"trace.{name}.retried", 3).exception(20)
        found["retried"].__cause__.__notes__.clear()  # they list the attempts
        found["then"] = tfrt.call("trace.same", 3).then(function).exception(20)
    print(name, *(f"{how}: {text_of(error) == expected}" for how, error in found.items()))

tfrt.kernel("trace.check")(check)
print(text_of(tfrt.call("trace.check", 3).exception(20)).replace(__file__, "FILE"))
