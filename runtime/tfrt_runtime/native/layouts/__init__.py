"""The structs that native code and Python share; each field's byte offset is written only once.

All fields are 8-byte words (`declared`), except the fields of records and slots.  A name is
`STRUCT_FIELD`; `STRUCT_SIZE` is the size of the struct in bytes.  The compiled core uses these
names as constants; the simulator and the decoder read the same names.  They form one table,
regardless of which module declares them: `values`, `threads`, `calls`, `compiled` (compiled
programs), or `python` (what native code knows about Python).  Modules that use many of them import
the table `as at`: `load(context + at.CONTEXT_QUEUE)`.

The structs refer to each other as follows.  Each arrow is labeled with the name of the field; `*`
marks a list or a table:

    Process  <--PROCESS--  Context  --QUEUE-->  Queue  --DEQUES*-->  Deque  --TASKS*-->  Task
    one: callbacks,        one per thread:      INJECTED, STARTED:   one per worker     function and
    memory depot, logs     free lists, frame,   stacks of tasks                         four words
                           ready stack, log
                              |
                              | READY*: (activation | tag, record)
                              v
    Request  <--REQUEST--  Activation  --FUNCTION->  Function  --tables*->  Record  --SLOTS*-> Slot
    one per run:           one per call:             decoded once,        a kernel: code,   users of
    CANCEL, ACTIVE,        counters, registers       never changed        attributes,       a result
    WATCH                     |    |                                      registers         (record,
                              |    | CALLER, CALLER_RECORD                                   count)*
                              |    v
                              |  Activation and Record of the call, or Loop, Join, table of results
                              | registers*: address of a value, or 0
                              v
                            Value  --STATE-->  Waiter  --NEXT-->  Waiter ...
                            references,        FIRST, SECOND: (activation, slot), (indirect value,
                            state, payload     target), a latch, a join, a task's function:
                                               by WAITER_KIND

An activation is one block: the header, one register per value, and one ready count per kernel that
waits for others.  At entry, registers and ready counts are a copy of FUNCTION_TEMPLATE; a slot's
list of users says which counts a value decreases, and by how much.  A value's STATE word is the
address of its newest waiter, with the state in the two low bits, so that one atomic operation
changes both.

Words that many threads write have their own cache lines.
"""

from typing import TYPE_CHECKING

from tfrt_runtime.native.layouts.calls import *
from tfrt_runtime.native.layouts.compiled import *
from tfrt_runtime.native.layouts.declared import OFFSETS
from tfrt_runtime.native.layouts.python import *
from tfrt_runtime.native.layouts.threads import *
from tfrt_runtime.native.layouts.values import *

globals().update(OFFSETS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> int:
        """Return the offset of a field that a struct declares."""
