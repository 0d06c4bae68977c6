"""What the language has, for its users: one table for completion, hover and lists of kernels.

Builds on `dialects` and `source`.  `documentation` has a line for each family of operations,
`examples` a program for each; `operations` is the table: name, signature, attributes,
documentation, example; `scan` finds functions and values in a source that is being written;
`answers` completes, explains and finds definitions at a place of it; `lint` says what is wrong with
it; `lexer` colours it.
"""
