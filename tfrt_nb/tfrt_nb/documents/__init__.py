"""Documents: descriptions of programs and runs as plain, JSON-ready values for the board.

The board is the live picture of a run in a notebook. The package builds on `programs`.

- Text: `escapes` shortens and escapes strings, `previews` shows values as short strings, and
  `heat_map` shows a tensor as a small picture.
- Programs: `program` lists a program's operations, values, and functions, with their source
  locations, and converts the events of kernels; `walks` fills in the rows. `picture` computes a
  layout and draws it. `stages` contains the program at each stage of its compilation.
- Runs: `events` contains the columns of a run's events, and computes the states of values and
  operations from events. `code` converts the events of compiled code. `blocks` infers the states of
  compiled operations that have no events. `run` is the document of a run. `trace` writes a run as a
  file that Perfetto opens.
"""
