"""Read plain programs without an IR, as numbers that refer to a few kinds of lines.

A large program consists of many lines that differ only in names:

    %v1 = tfrt.add.i32 %v0, %one
    %v2 = tfrt.add.i32 %v1, %one

A `Shape` is a line without the names of results and operands, and without the line and column in
`loc("file":1:2)`. The parser reads the first line of each shape. Its result is valid for all
further lines of that shape, in this source and in later ones, if the operands have the same types.
This works because plain programs have no aliases, so a line's meaning depends on nothing outside
the line. Only the head of an operation with regions has a shape; each region is a separate `Body`,
as in a BEF file.

A program is plain if every line is a function's head, an operation, a head of regions, a return, a
brace, or an operation with all of its regions, which is split. This reader rejects any other
program as not plain, whether it is invalid or just unusual, and gives no reasons;
`source.parse_module` then reads the program from the start. The reader exists because of its speed:
creating records from a module takes four to thirteen times as long.

Read in this order: `program` (lines as rows, and the result of reading a source), `reader`.
"""
