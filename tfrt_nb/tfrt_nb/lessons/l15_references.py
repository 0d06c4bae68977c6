"""Exercises of tutorial 15, reference counting."""

from __future__ import annotations

import re

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "references.places",
    form='a = 7\nb = 8\nc = "execute t"\nd = none',
    right=('a = 2\nb = 3\nc = "execute u"\nd = none', "a = 2\nb = 3\nc = 'execute u'\nd = None"),
    wrong={
        "a = 1\nb = 2\nc = 'execute u'\nd = none": "each task",
        "a = 0\nb = 1\nc = 'await u'\nd = none": "each task",
        "a = 2\nb = 2\nc = 'execute u'\nd = none": "code around",
        "a = 2\nb = 3\nc = 'await u'\nd = none": "last line of @main that uses %t",
        "a = 2\nb = 3\nc = 'execute u'\nd = 'execute v'": "returned",
        "a = 2\nb = 3\nc = execute u\nd = none": "Line 3 was not understood",
    },
    why="The tasks %s and %u use %t: an add_ref before each, a drop_ref in each.  @main drops its "
    "own reference after its last use, the execute of %u.  %v is returned, so its reference goes "
    "to the caller.",
)
def places(answer: Answer) -> str | None:
    """(a) How many `async.add_ref` does `%t` get? (b) How many `async.drop_ref` does `%t` get,
    in the tasks and in `@main` together? (c) After which line is the one in `@main`:
    `"execute t"`, `"execute s"`, `"execute u"`, `"await s"` or `"await u"`? (d) After which line
    is `%v` dropped: `"execute v"` or `none`?

    ```
    %t = async.execute { async.yield }
    %s = async.execute [%t] { async.yield }
    async.await %s
    %u = async.execute [%t, %s] { async.yield }
    async.await %u
    %v = async.execute { async.yield }
    return %v
    ```
    """
    a, b, c, d = answer.parts("a", "b", "c", "d")
    if a.number() != 2:
        return (
            "Part a: each task that uses %t has a reference of its own, and it is added before "
            "the execute."
        )
    if b.number() == 2:
        return (
            "Part b: one drop in each task, and one for the reference that belongs to the code "
            "around the operation."
        )
    if b.number() != 3:
        return (
            "Part b: everything that was added is dropped, and so is the reference that the "
            "result started with."
        )
    rows = ("execute t", "execute s", "execute u", "await s", "await u")
    if c.choice(*rows) != "execute u":
        return (
            "Part c: find the last line of @main that uses %t.  Later uses in a task concern only "
            "that task."
        )
    is_dropped = d.choice("execute v", "none", "None") == "execute v"
    return "Part d: %v is returned." if is_dropped else None


@exercise(
    "references.count",
    form="[6, 5, 4, 3, 2, 1]",
    right=("[2, 1, 3, 2, 1, 0]", "2, 1, 3, 2, 1, 0"),
    wrong={
        "[1, 1, 3, 2, 1, 0]": "producer",
        "[2, 2, 4, 3, 2, 1]": "set_available",
        "[2, 1, 2, 1, 0, 0]": "count = 2",
        "[2, 1, 3, 2, 2, 1]": "takes no reference",
        "[2, 1, 3]": "Write 6 values",
    },
    why="create makes two references, set_available drops the producer's, add_ref adds "
    "two, and each drop takes one.  At 0 the object is freed.",
)
def reference_count(answer: Answer) -> str | None:
    """Write the reference count of `%t` after each of these six lines. (The await takes no
    reference, and is not counted among them.)

    ```
    %t = async.runtime.create : !async.token
    async.runtime.set_available %t : !async.token
    async.runtime.add_ref %t {count = 2 : i64} : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
    async.runtime.await %t : !async.token          // not counted
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
    ```
    """
    found = answer.numbers(6)
    hints = (
        (1, "An object from `create` has two references: ours and the producer's."),
        (2, "`set_available` drops the reference of the producer."),
        (2, "The add_ref has count = 2."),
    )
    for number, (wrong, hint) in zip(found, hints, strict=False):
        if number == wrong:
            return hint
    if found[3:5] == (2, 2):
        return (
            "The await after the first drop takes no reference, and is not counted; the line after "
            "it is another drop."
        )
    return (
        None if found == (2, 1, 3, 2, 1, 0) else "Go line by line, and write the count after each."
    )


_LEAK = """\
func.func @main() -> i64 {
  %value = async.runtime.create : !async.value<i64>
  %seven = arith.constant 7 : i64
  async.runtime.store %seven, %value : <i64>
  async.runtime.set_available %value : !async.value<i64>
  async.runtime.add_ref %value {count = 1 : i64} : !async.value<i64>
  %x = async.runtime.load %value : <i64>
  return %x : i64
}"""
_SET = "  async.runtime.set_available %value : !async.value<i64>\n"
_DROP = "  async.runtime.drop_ref %value {count = 1 : i64} : !async.value<i64>\n"
_ADD = "  async.runtime.add_ref %value {count = 1 : i64} : !async.value<i64>\n"
_LOAD = "  %x = async.runtime.load %value : <i64>\n"


def _count_after(text: str) -> int:
    """The reference count of the value after the given lines, as a person counts it."""
    count = 0
    for line in text.splitlines():
        by = int(found[1]) if (found := re.search(r"count\s*=\s*(\d+)", line)) else 1
        changes = {"create": 2, "set_available": -1, "add_ref": by, "drop_ref": -by}
        count += next((n for name, n in changes.items() if f"runtime.{name} " in line), 0)
    return count


@exercise(
    "references.leak",
    start=_LEAK,
    right=(
        _LEAK.replace("  return", _DROP + _DROP + "  return"),
        _LEAK.replace(_LOAD, _DROP + _LOAD + _DROP),
        _LEAK.replace("  return", _DROP.replace("count = 1", "count = 2") + "  return"),
        _LEAK.replace(_LOAD, "  // no async.runtime.load yet\n" + _LOAD)
        .replace("  return", _DROP + _DROP + "  return")
        .replace("%x : i64", "%x: i64"),
    ),
    wrong={
        _LEAK.replace("  return", _DROP + "  return"): "the count at the end is 1",
        _LEAK.replace(_ADD, ""): "Keep the add_ref",
        _LEAK.replace("  return", _DROP * 3 + "  return"): "too many times",
        _LEAK.replace("  return", _ADD + _DROP + "  return"): "still left over",
        _LEAK.replace(_ADD, "")
        .replace(_LOAD, "")
        .replace("return %x", "return %seven"): "Keep the load",
        _LEAK.replace(_LOAD, _DROP + _DROP + _LOAD): "The count is 0",
        _LEAK.replace(_ADD, _DROP): "The count is 0",
        _LEAK.replace(_SET, ""): "Keep `set_available`",
        _LEAK.replace(_SET, _SET + _SET): "filled once",
        _LEAK.replace(
            "  return", "  async.runtime.drop_ref %value : !async.value<i64>\n  return"
        ): "not correct yet",
    },
    why="The count is 2 after create, 1 after set_available, 2 after add_ref: two references are "
    "left, and both are dropped after the last use.",
)
def leak(answer: Code) -> str | None:
    """This program counts by hand, and leaks.  Keep its `add_ref`, and drop the remaining
    references by hand: the count must be 0 at the end, and not before the load.  It must still
    return 7.
    """
    ran = answer.run()
    if ran.errors and "before it is available" in ran.errors[0]:
        return f"Now the run fails: {ran.errors[0]}.  Keep `set_available`, which fills it."
    if ran.errors and "resolved twice" in ran.errors[0]:
        return (
            f"Now the run fails: {ran.errors[0]}.  A box is filled once: keep one `set_available`."
        )
    if ran.errors:
        return f"Now the run fails: {ran.errors[0]}.  Is a drop too many, or too early?"
    if ran.left:
        return (
            f"Something is still left over: {ran.left[0]}.  Count: 2 after create, 1 after "
            f"set_available, …"
        )
    loaded = re.search(r"^\s*(%\w+) = async\.runtime\.load", answer.bare, re.MULTILINE)
    if loaded is None or not re.search(rf"return\s+{loaded[1]}\b", answer.bare):
        return "Keep the load of the value, and return its result."
    if _count_after(answer.bare.partition("async.runtime.load")[0]) == 0:
        return "The count is 0 before the load, so the value has been freed when the load reads it."
    if "async.runtime.add_ref" not in answer.bare:
        return "Keep the add_ref, and drop the remaining references by hand."
    if left := _count_after(answer.bare):
        return (
            f"According to your lines, the count at the end is {left}.  (The run leaks nothing, "
            "because your adds and drops cancel out and the compiler then counts this box "
            "itself.  Here, count by hand down to 0.)"
        )
    return None if ran.results == (7,) else f"It returns {ran.results}, not 7."
