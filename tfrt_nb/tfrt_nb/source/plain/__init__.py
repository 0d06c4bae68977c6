"""A plain program without an IR: its statements as numbers over the few kinds of lines that it has.

A large program is many lines that differ only in names:

    %v1 = tfrt.add.i32 %v0, %one
    %v2 = tfrt.add.i32 %v1, %one

A `Shape` is what is left without the names of results and operands, and without the line and column
that `loc("file":1:2)` gives.  The parser reads the first line of each shape, and what it made of it
holds for all of them, in this text and in later ones, once the operands have the same types: a line
of a plain program has its whole meaning in itself, as there are no aliases.  An operation with
regions is its head; each region is a `Body` of its own, as in a BEF file.

Only programs are read so in which every line is a function's head, an operation, a head of regions,
a return, a brace, or an operation with all of its regions, which is taken apart.  Of any other one,
be it wrong or only out of the ordinary, nothing is said here but that it is not plain: then
`source.parse_module` reads it, from the start. This reader exists for its speed: records by way of
a module take four to thirteen times as long.

Read in this order: `program` (lines as rows, and the result of reading a source), `reader`.
"""
