"""A program, from its text or its file to something that runs.

Builds on the compiler and the runtime.  `inspecting` has what a program is, `running` how its
functions are loaded and started, `reading` how it is read from source or from a file; `Program` is
all three.
"""

from tfrt_nb.programs.inspecting import FunctionSignature as FunctionSignature
from tfrt_nb.programs.reading import Program as Program
from tfrt_nb.programs.reading import code_of_text as code_of_text
from tfrt_nb.programs.reading import program_of_bef as program_of_bef
