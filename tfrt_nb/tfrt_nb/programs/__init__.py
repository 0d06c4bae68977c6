"""Programs, which are read from source or from a file, inspected, and run.

This room builds on the compiler and the runtime. `inspecting` has the members that describe a
program, `running` loads and starts its functions, and `reading` reads it from source or from a
file. `Program` combines all three.
"""

from tfrt_nb.programs.inspecting import FunctionSignature as FunctionSignature
from tfrt_nb.programs.reading import Program as Program
from tfrt_nb.programs.reading import code_of_text as code_of_text
from tfrt_nb.programs.reading import program_of_bef as program_of_bef
