"""Exercises of the project about a pass: calls that start early."""

from __future__ import annotations

from typing import Any

from tfrt_nb.exercises.answer import Answer, Names, Wrong, attempt
from tfrt_nb.exercises.exercise import exercise

_PROGRAM = """
func.func @price(%x: i32, %y: i32) -> (i32, i32) {
  %less = tfrt.add.i32 %x, %y
  tfrt.return %x, %less : i32, i32
}
func.func @log(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %end = tfrt.print.i32 %x, %ch
  tfrt.return %end : !tfrt.chain
}
func.func @own(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %end = tfrt.print.i32 %x, %ch
  tfrt.return %x : i32
}
func.func @far(%x: i32) -> i32 {
  %y = tfrt.call @own(%x) : (i32) -> i32
  tfrt.return %y : i32
}
func.func @choose(%yes: i1, %x: i32) -> i32 {
  %y = tfrt.cond %yes @own @own (%x) : (i32) -> (i32)
  tfrt.return %y : i32
}
func.func @round(%x: i32) -> (i32, i1) {
  %no = tfrt.constant.i1 false
  %y = tfrt.call @own(%x) : (i32) -> i32
  tfrt.return %y, %no : i32, i1
}
func.func @rounds(%yes: i1, %x: i32) -> i32 {
  %y = tfrt.while %yes @round(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %y : i32
}
func.func @again(%x: i32) -> i32 {
  %y = tfrt.repeat.i32 %x, %x : i32 {
    %z = tfrt.add.i32 %x, %x
    tfrt.return %z : i32
  }
  tfrt.return %y : i32
}
func.func private @printI64(i64)
func.func @compiled(%x: i64) -> i64 {
  call @printI64(%x) : (i64) -> ()
  return %x : i64
}
func.func @main(%x: i32, %y: i32, %yes: i1, %long: i64) -> i32 {
  %ch = tfrt.new.chain
  %full, %less = tfrt.call @price(%x, %y) : (i32, i32) -> (i32, i32)
  %logged = tfrt.call @log(%y, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %own = tfrt.call @own(%y) : (i32) -> i32
  %far = tfrt.call @far(%y) : (i32) -> i32
  %choose = tfrt.call @choose(%yes, %y) : (i1, i32) -> i32
  %rounds = tfrt.call @rounds(%yes, %y) : (i1, i32) -> i32
  %again = tfrt.call @again(%y) : (i32) -> i32
  %compiled = tfrt.call @compiled(%long) : (i64) -> i64
  tfrt.return %full : i32
}"""
_CALLS = ["own", "own", "price", "log", "own", "far", "choose", "rounds", "again", "compiled"]


def _module() -> Any:
    from tfrt_nb.source import parse_module

    return parse_module(_PROGRAM, "program")


def _called_early(answer: Names) -> list[str]:
    """Return the functions whose calls the answer's pass marks.

    Raises:
        Wrong: if it marks none, or changes something else.
    """
    module = _module()
    pass_ = answer.get("CallEarly")
    attempt("CallEarly().apply(…)", lambda: pass_().apply(None, module))  # type: ignore[operator]
    calls = [op for op in module.walk() if op.name == "tfrt.call"]
    if len(calls) != len(_CALLS):
        raise Wrong("The pass has removed or added calls; it may only mark them.")
    marked = [op for op in module.walk() if "bef.nonstrict" in op.attributes]
    if other := [op.name for op in marked if op not in calls]:
        raise Wrong(f"The pass has marked {other[0]}, too; mark `tfrt.call` only.")
    if not marked:
        raise Wrong('No call is marked: set its `attributes["bef.nonstrict"]` to `UnitAttr()`.')
    return [op.attributes["callee"].string_value() for op in marked]


@exercise(
    "pass.calls",
    start="""\
    def calls(module):
        return []
    """,
    right="""\
    def calls(module):
        names = []
        for op in module.walk():
            if op.name == "tfrt.call":
                names.append(op.attributes["callee"].string_value())
        return names
    """,
    wrong={
        "def calls(module):\n    return [op.name for op in module.walk()]": "For another program",
        "def calls(module):\n    return ['price', 'log']": "For another program",
        "def calls(module):\n    return [op.attributes['callee'] for op in module.ops]": "raises",
        "def calls(module):\n    return {'price', 'log'}": "For another program",
    },
    why="walk() visits all operations in the order of the text; only calls have a callee.",
)
def calls(answer: Names) -> str | None:
    """Write `calls(module)`, which returns a list: for each `tfrt.call` of the module, in the order
    of the text, the name of the function that it calls. For a call `op`, that name is
    `op.attributes["callee"].string_value()`.
    """
    found = answer.call("calls", _module())
    return None if found == _CALLS else f"For another program it returns {found}, not {_CALLS}."


_IMPORTS = """\
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.passes import ModulePass
"""
_CLASS = """\


@dataclass(frozen=True)
class CallEarly(ModulePass):
    name = "call-early"

    def apply(self, ctx, op):  # op is the module
"""
_SET = '                call.attributes["bef.nonstrict"] = UnitAttr()\n'
_MARK = f"""\
{_IMPORTS}{_CLASS}        for call in op.walk():
            if call.name == "tfrt.call":
{_SET}"""
_CALLERS = """\

CALLERS = (  # the beginnings of the names of operations that run other operations
    "tfrt.call", "tfrt.once", "tfrt.cond", "tfrt.case", "tfrt.while", "tfrt.parallel",
    "tfrt.if", "tfrt.repeat", "tfrt.jit", "tfrt.run", "func.call",
)
"""
_EFFECTS = """\


def has_effects(function):
    for inner in function.walk():
        types = [str(one.type) for one in [*inner.operands, *inner.results]]
        if inner.name.startswith(CALLERS) or "!tfrt.chain" in types:
            return True
    return False
"""
_SAFE = f"""\
{_IMPORTS}{_CALLERS}{_EFFECTS}{_CLASS}\
        functions = {{one.sym_name.data: one for one in op.ops}}
        for call in op.walk():
            if call.name == "tfrt.call":
                function = functions[call.attributes["callee"].string_value()]
                if not has_effects(function):
    {_SET}"""


@exercise(
    "pass.mark",
    start=f"{_IMPORTS}{_CLASS}        pass  # your lines\n",
    right=_MARK,
    wrong={
        _MARK.replace('"tfrt.call"', '"tfrt.Call"'): "No call is marked",
        _MARK.replace('call.name == "tfrt.call"', "True"): "mark `tfrt.call` only",
        _MARK.replace(_SET, "                call.erase()\n"): "raises",
        _MARK.replace("class CallEarly", "class Early"): "defines no `CallEarly`",
        _MARK.replace("UnitAttr()", "unit"): "NameError",
    },
    why="The pass walks once and marks each call.  Nothing else in the program changes.",
)
def mark(answer: Names) -> str | None:
    """Write the pass `CallEarly`, which gives each `tfrt.call` of the module the attribute
    `bef.nonstrict`, and changes nothing else.
    """
    is_right = _called_early(answer) == _CALLS
    return None if is_right else "Not all calls are marked: some are in functions other than @main."


@exercise(
    "pass.effect",
    form="[less, late]",
    right=("[all, full, posted]", "full, posted, all"),
    wrong={
        "[full]": "%posted waits only for %full",
        "[full, posted]": "%all waits for",
        "[full, less, posted, all]": "%less needs",
        "[full, posted, all, late]": "%late is an argument",
        "[posted]": "%full needs only",
    },
    why="%full no longer waits for %late, so %posted starts at once, and %all is earlier.  %less "
    "still needs %late.",
)
def effect(answer: Answer) -> str | None:
    """Which of the values `late`, `full`, `less`, `posted`, and `all` of `@main` become available
    earlier after the pass? Write a list.
    """
    hints = {
        "late": "%late is an argument; no pass makes it come earlier.",
        "full": "%full needs only %three.  When was it available before, and when is it available "
        "now?",
        "less": "%less needs the discount itself, so it becomes available at the same time as "
        "before.",
        "posted": "%posted waits only for %full.",
        "all": "%all waits for %posted, which is earlier, and for %less.",
    }
    found = answer.items(words=hints)
    return next(
        (
            hint
            for word, hint in hints.items()
            if (word in found) != (word in ("full", "posted", "all"))
        ),
        None,
    )


@exercise(
    "pass.wrong",
    form="a = early\nb = early\nc = strict",
    right="a = early\nb = strict\nc = strict",
    wrong={
        "a = strict\nb = strict\nc = strict": "only computes",
        "a = early\nb = early\nc = strict": "makes its own chain",
        "a = early\nb = strict\nc = early": "calls a function",
        "a = early": "Part b has no answer yet",
    },
    why="Only pure computation may start early, because nobody can see when it happens, or "
    "whether it happens.",
)
def wrong(answer: Answer) -> str | None:
    """May a call of this function start `early`, or must it stay `strict`? (a) It adds its two
    arguments and multiplies the first by 10. (b) It makes a chain with `tfrt.new.chain`, prints a
    constant, and returns its argument. (c) It calls the function of (b), and has no chain itself.
    """
    return answer.hint_for_parts(
        a=(
            "early",
            "strict",
            "it only computes, and each kernel in it still waits for its arguments.",
        ),
        b=(
            "strict",
            "early",
            "it makes its own chain, and prints even if its argument is an error.",
        ),
        c=("strict", "early", "it calls a function with an effect, so it has that effect."),
    )


@exercise(
    "pass.safe",
    start=f"{_IMPORTS}{_CALLERS}{_CLASS}        pass  # your lines of step 2, changed\n",
    right=_SAFE,
    wrong={
        _SAFE.replace("inner.name.startswith(CALLERS) or ", ""): "@far",
        _SAFE.replace("inner.name.startswith(CALLERS)", 'inner.name == "tfrt.call"'): "@choose",
        _SAFE.replace('"tfrt.while", ', ""): "@rounds",
        _SAFE.replace(' "tfrt.repeat",', ""): "@again",
        _SAFE.replace(' "func.call",', ""): "@compiled",
        _SAFE.replace("not has_effects", "has_effects"): "@log",
        _SAFE.replace("return True", "return False"): "@log",
        _SAFE.replace("if not has_effects(function)", "if False"): "No call is marked",
        _SAFE.replace("[*inner.operands, *inner.results]", "function.body.block.args"): "@own",
    },
    why="If no kernel of a function has a chain, the function only computes, so no one can tell "
    "that it started early.",
)
def safe(answer: Names) -> str | None:
    """Change the pass: it marks a call only if no operation of the called function has an operand
    or a result of type `!tfrt.chain`, or a name that starts with one of `CALLERS`.
    (`name.startswith(CALLERS)` tries all of them.)
    """
    found = _called_early(answer)
    hints = {
        "log": "@log prints: its operations take and return a `!tfrt.chain`.",
        "own": "@own makes its own chain and prints; look at its operations, not at its arguments.",
        "far": "@far calls a function that prints: leave functions with a `tfrt.call` alone.",
        "choose": "the `tfrt.cond` of @choose calls a function that prints.",
        "rounds": "the `tfrt.while` of @rounds calls a function in each round.",
        "again": "@again has a `tfrt.repeat.i32`, which is one of `CALLERS`.",
        "compiled": "@compiled is compiled code, and its `func.call` calls a function that prints.",
    }
    return next((f"Too early: {why}" for name, why in hints.items() if name in found), None)
