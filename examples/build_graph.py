"""A build: independent targets run in parallel; a failure skips the targets that depend on it."""

import tfrt_nb as tfrt

SOURCES = {
    "list.c": "int length();",
    "tree.c": "int depth();",
    "main.c": "int main() { return length(); }",
    "test.c": "int main( {",
}


@tfrt.kernel("build.compile", blocking=True)
def compile_file(name: str) -> str:
    text = SOURCES[name]
    if text.count("(") != text.count(")"):
        raise SyntaxError(f"{name}: unbalanced parentheses")
    return name.replace(".c", ".o")


@tfrt.kernel("build.link", blocking=True)
def link(target: str, *objects: str) -> str:
    return f"{target} <- {' '.join(objects)}"


@tfrt.program
def build():  # type: ignore[no-untyped-def]
    items, tree, main, test = [compile_file(name) for name in SOURCES]
    library = link("library.a", items, tree)
    program = link("program", main, library)
    tests = link("tests", test, library)
    return library, program, tests


def main() -> None:
    for name, value in zip(("library", "program", "tests"), build(), strict=True):
        problem = value.exception(60)
        if problem is None:
            print(f"{name}: {value.result(60)}")
        else:
            print(f"{name}: failed, {problem.__cause__}")


if __name__ == "__main__":
    main()
