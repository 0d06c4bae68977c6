"""Advice about every error that a program can have, for the error catalog."""

from __future__ import annotations

import re

ADVICE = (
    (
        "unknown kernel name; custom op … is unknown",
        r"unknown kernel name|custom op '[^']*' is unknown",
        (
            "Write the suggested name. A kernel of your own must be registered before the program "
            "is loaded: by a cell above, or on the command line by `--with FILE`."
        ),
    ),
    (
        "… in sync function; asynchronous function",
        r"sync function|synchronous function",
        (
            "A function with `tfrt.sync` uses kernels with `_s` in their names and calls sync "
            "functions; other functions use those without. A sync function returns only values "
            "that its kernels make, each at most once, and never an argument."
        ),
    ),
    (
        (
            "external functions are not allowed; unable to find native function; … is reserved "
            "for generated code"
        ),
        (r"external functions|native function in global registry|reserved for generated code"),
        (
            "A declared function has no body: write one, or use a [kernel in "
            "Python](../howto/kernel.md). Compiled programs may declare what `@tfrt.external` "
            "registers."
        ),
    ),
    (
        "use of undeclared SSA value name; not defined; does not reference a valid function",
        (
            r"undeclared SSA|not defined|valid function|undefined|within the current region|not "
            r"dominate|invalid result|defined later"
        ),
        (
            "No line above defines this name, or it belongs to another function or body: correct "
            "the name, or pass the value as an argument."
        ),
    ),
    (
        "redefinition; already in use",
        r"redefinition|already in use|cannot contain NUL|duplicate case",
        "A name can be defined only once: choose another name.",
    ),
    (
        "a region is not closed; no terminator; need to have a tfrt.return",
        (
            r"not closed|no terminator|have a tfrt.return|last operation|must "
            r"terminate|multi-block|non-empty|region #\d+ is"
            r" empty|expected region|region that is not empty|region to have a block|expected an "
            r"operation, a block|expects parent op|symbol's parent|outside of a function"
        ),
        (
            "Each function and each body in braces is closed by `}`, and its last line is its only "
            "`tfrt.return` (`return` or"
            " a yield where code is compiled)."
        ),
    ),
    (
        "type of return operand; the body of … has N results",
        (
            r"return operand|return values|operand types do(?:n't| not) match|enclosing function "
            r"returns|the body of|yield|control flow"
            r" edge|types of the loop values"
        ),
        (
            "Compare what is returned, in number and types, with what the function or the "
            "operation declares after `->` or `:`."
        ),
    ),
    (
        "expects different type than prior uses; must be …, but got …",
        (
            r"different type|type mismatch|mismatched type|must be .* but got|cannot cross|cast "
            r"incompatible|same type|element type"
            r"|are not those of|differ from those of|is of type|must have the type"
            r"|an attribute is|types mismatch|expects an? "
            r"(integer|floating)|cannot be converted"
            r"|types of the operands|have results of the types|should be the same|expected "
            r"dim|inferred|by host programs|called from outside|another type than"
            r"|with the wrong type|switches on|types of the function"
            r"|(result|collapsed|expanded|input) type"
        ),
        (
            "The operation and its operands differ in type or shape: use the kernel of the other "
            "type, or convert the value."
        ),
    ),
    (
        "expected N operands, but found M; takes N arguments",
        (
            r"expected \d+ |takes (\d+|no|operands|at least)|has \d+ results?|passes "
            r"\d+|expects \d+|given|requires \d+"
            r"|incorrect number|to bind|number of subscripts|dimension operand|region has|single "
            r"number|length of shape|too few|requires one|needs at least one"
        ),
        (
            "Compare the line with `%tfrt_kernels NAME`: how many operands, results and bodies the "
            "operation has."
        ),
    ),
    (
        "requires attribute; failed to satisfy constraint; out of range",
        (
            r"attribute|out of range|cost value|not valid for|literal|expected an? "
            r"(number|integer|constant|shape)"
            r"|expected constants|hexadecimal|Shape mismatch|ha(?:s|ve) at most|unknown "
            r"escape|more than \d+ digits"
        ),
        (
            "Write the constant or attribute in the right form, with its type, and within its "
            "range: `{value = 1 : i32}`. `%tfrt_kernels NAME` lists the attributes of a kernel."
        ),
    ),
    (
        "unknown tensor type; expected a type; unsupported layout",
        r"unknown (tensor|shape) type|expected a type|layout|affine map",
        "Correct the type: [Kernels](kernels.md) lists the types of each kernel, with examples.",
    ),
    (
        "is not a type of compiled code",
        r"(type|constant) of compiled code",
        (
            "Compiled functions use integers, `index`, floats, and buffers (`memref`) of these: "
            "use one of these types."
        ),
    ),
    (
        "operation of compiled functions",
        r"of compiled functions|is compiled$|is a host program",
        (
            "A function is a host program (kernels, `tfrt.return`) or compiled (`return`): move "
            "the operation to a compiled function, and call that function."
        ),
    ),
    (
        "entry block of region may not have predecessors",
        r"predecessors",
        (
            "Branch to a label after the first operations: nothing leads back to the start of a "
            "function."
        ),
    ),
    (
        "cannot run non-strictly",
        r"non-strictly",
        (
            "Remove `{bef.nonstrict}`: only calls, conditions, and kernels that take boxes can "
            "start early."
        ),
    ),
    (
        "cannot be compiled",
        (
            r"be compiled|no side effects|statically-ranked|updated atomically|not supported"
            r"|supported only|makes no|cannot be passed"
        ),
        (
            "Give the buffer a known rank and element type, or use other operations: "
            "[the dialect](async_dialect.md) lists them."
        ),
    ),
    (
        "division by zero; index … is out of bounds; the buffer …",
        (
            r"by zero|the shift amount|does not fit|out of bounds|buffer|the size of dimension|do "
            r"not (lie|follow)|alignment|made available|sizes do not"
            r"|no function of type|too many iterations|' is constant|before it is available|than "
            r"the memory|must be positive"
        ),
        (
            "This line failed, and only values that depend on it are lost: check the numbers, "
            "sizes, or buffers that the operation takes."
        ),
    ),
    (
        "was still waiting for; timed out",
        r"still waiting|timed out|nothing can resolve",
        "[Make the program report what it is waiting for](../howto/stuck.md).",
    ),
    (
        "the group is full; the group waits forever",
        r"the group (is full|waits)",
        (
            "The size of a group is the number of its members: count how many "
            "`async.add_to_group` run."
        ),
    ),
    (
        "is left over; is dropped too many times",
        r"left over|too many times",
        (
            "An object was never freed, or was dropped once too many times: count its `add_ref` "
            "and `drop_ref` operations; see tutorial [15](../tutorials/15_references.ipynb)."
        ),
    ),
    (
        "is resolved twice",
        r"resolved twice",
        (
            "An object can be made available, or made an error, only once: make sure that only one "
            "path to its `set_available` and `set_error` runs."
        ),
    ),
    (
        "the stack is exhausted",
        r"stack is exhausted",
        (
            "A function recurses too deeply: end the recursion sooner, or turn the function into a "
            "loop or an `async.func`, which continues elsewhere when the stack is full."
        ),
    ),
    (
        "a header or section is corrupted",
        r"corrupted",
        "The bytes are not a BEF file, or are only part of one: copy the file again.",
    ),
    (
        "expected …; unexpected character",
        r"expected|unexpected|invalid|empty operation name|cannot name|not one of parallel",
        (
            "The syntax does not allow this here: compare the line with an example in "
            "[Kernels](kernels.md)."
        ),
    ),
)
"""Each piece of advice: what messages say, a pattern that finds them, and what to do.

The first match wins."""


def table_of_advice() -> str:
    """Return the advice as a table."""
    rows = [f"| {words} | {do} |" for words, _, do in ADVICE]
    return "\n".join(["| The message says | What to do |", "|---|---|", *rows])


def advice_on(said: str) -> list[str]:
    """Return advice about the messages in a report, without repetitions.

    Raises:
        LookupError: if there is no advice on a message.
    """
    found: dict[str, None] = {}
    for part in re.split(r"(?m)^(?=.*(?:error|warning): )", said)[1:]:
        # MLIR's or TFRT's own words may be in the first note.
        words = re.findall(r"(?:error|warning|note): (.*)", part)[:2]
        text = "\n".join(words).removeprefix("unexpected error: runtime error: ")
        if re.search(rf'cf\.assert %\w+, "{re.escape(words[0])}"', said):
            continue  # the program's own message
        advice = next((do for _, pattern, do in ADVICE if re.search(pattern, text)), None)
        if advice is None:
            raise LookupError(f"no advice on {text!r}")
        found[advice] = None
    return list(found)
