"""The structs that native code and Python share.

This package is the only one that defines the byte offsets of fields; `declared` computes them.  All
fields are 8-byte words, except in records and slots.  STRUCT_FIELD is the offset of a field, and
STRUCT_SIZE is the size of a struct, in bytes.  The compiled core, the simulator, and the decoder
use these names as constants.

The modules `values`, `threads`, `calls`, `compiled` (compiled programs), and `python` (CPython's
objects and functions) declare the names.  All names form one table.  Modules that use many of the
names import the table `as at`: `load(context + at.CONTEXT_QUEUE)`.

In this diagram, each arrow is labeled with the field that refers to the other struct; `*` marks a
list or a table:

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
awaits arguments.  A new activation gets its registers and ready counts from FUNCTION_TEMPLATE.  A
slot's list of users says which ready counts a value decreases, and by how much.  A value's STATE
word is the address of its newest waiter, with the state in the two low bits, so that one atomic
operation changes both.

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
        """Return the offset of a declared field, for type checkers."""
