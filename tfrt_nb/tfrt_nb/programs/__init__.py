"""Programs: read them from source or from a file, inspect them, and run them.

This package builds on the compiler and the runtime. `inspecting` contains the members that describe
a program. `running` loads and starts its functions. `reading` reads it from source or from a file.
The class `Program` combines all three.
"""

from tfrt_nb.programs.inspecting import FunctionSignature as FunctionSignature
from tfrt_nb.programs.reading import Program as Program
from tfrt_nb.programs.reading import code_of_text as code_of_text
from tfrt_nb.programs.reading import program_of_bef as program_of_bef
