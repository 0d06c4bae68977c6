"""Read plain programs without an IR, as numbers that refer to a few kinds of lines.

A large program consists of many lines that differ only in names:

    %v1 = tfrt.add.i32 %v0, %one
    %v2 = tfrt.add.i32 %v1, %one

A `Shape` is a line without the names of results and operands, and without the line and column in
`loc("file":1:2)`. The parser parses the first line of each shape. The result is valid for all other
lines of that shape, in this source and in later ones, if the operands have the same types. This is
correct because a plain program has no aliases, so the meaning of a line depends only on the line.
For an operation with regions, only the head has a shape. Each region is a separate `Body`, as in a
BEF file.

A program is plain if every line is the head of a function, an operation, the head of an operation
with regions, a return, or a brace. A line may also be an operation with all its regions, which is
split. Any other program is not plain, whether it is invalid or just written differently. The reader
then fails without giving a reason, and `source.parse_module` reads the program from the start.

The reader exists for its speed: creating records from a module takes four to thirteen times as
long.

`program` contains lines as rows, and the result of reading a source. `reader` reads a source.
"""
