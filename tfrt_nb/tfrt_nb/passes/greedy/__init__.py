"""Rewriting until nothing changes, in MLIR's order, so that the text that is left is MLIR's.

`constants` are attributes and the operations that hold them, `effects` knows what may go away,
`rewriter` changes operations and remembers which to look at again, `driver` goes on until nothing is left
to look at, `regions` tidies blocks and their arguments, `dead_values` finds what nobody needs.
"""
