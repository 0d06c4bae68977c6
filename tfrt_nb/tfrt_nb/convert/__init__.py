"""Modules of the IR to BEF files and back.

`mlir_to_bef` and `bef_to_mlir` are the two ways.  What they share: `attributes`, `places`,
`compiled_modules`, `compiled_functions` (the text of what a file only carries), `errors`.  On the way
there `collect` finds what is in a module and `dataflow` numbers its values; on the way back `types` and
`guesses` fill in what a file does not say.

`plain_text` is a shorter way for large programs: from text to records, without a module in between.
`rows` makes a function's record of operations whose values are numbers already, for it and for traces.
"""
