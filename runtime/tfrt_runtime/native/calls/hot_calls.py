"""Calls to hot functions, which run as machine code, from kernels or from Python (root calls)."""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, forward_to
from tfrt_runtime.native.calls.activation import leave_request, root_size
from tfrt_runtime.native.calls.delivery import deliver, drop_arguments, slot_of
from tfrt_runtime.native.calls.machine_calls import (
    attempt_size,
    machine_code,
    result_of,
    run_on_values,
    weight,
)
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.memory import Address, copy, fetch_add, load, load_i32, outline, store
from tfrt_runtime.native.queues.waiters import finish, run_waiters


@outline
def call_machine(
    context: Address, caller: Address, record: Address, function: Address, first: int
) -> bool:
    """Call a function as machine code from a kernel, and finish the kernel.

    The call's arguments are the kernel's arguments from index `first` on.  Return False, and do
    nothing, if the function has no machine code or the code cannot run.
    """
    machine = load(function + at.FUNCTION_MACHINE)
    request = load(caller + at.ACTIVATION_REQUEST)
    code = machine_code(context, request, machine, weight(function))
    count = load(machine + at.MACHINE_ARGUMENTS)
    arguments = load_i32(record + at.RECORD_ARGUMENTS)
    # A non-strict call may start while the registers of its arguments are still empty.
    is_late = load_i32(record + at.RECORD_FLAGS) & at.KERNEL_NONSTRICT != 0
    if code == 0 or is_late or arguments - first != count:
        return False
    words = take_block(context, 8 * count + 8)
    if words == 0:
        return False
    # Borrow the arguments: after a bailout, the interpreted call still needs their references.
    registers = record + at.RECORD_REGISTERS + 4 * first
    for i in range(count):
        store(words + 8 * i, load(caller + load_i32(registers + 4 * i)))
    attempt = run_on_values(context, request, machine, code, words)
    if attempt == 0:
        return False
    drop_arguments(context, caller, record, arguments)
    for i in range(load(machine + at.MACHINE_RESULTS)):
        deliver(context, caller, slot_of(record, i), result_of(context, machine, attempt, i))
    give_block(context, attempt, attempt_size(machine))
    finish(context, caller)
    return True


@outline
def start_machine(context: Address, function: Address, request: Address, table: Address) -> bool:
    """Run a whole root call as machine code, and take over `table`.

    Return False, and leave `table` to the caller, if the function has no machine code or the code
    cannot run.
    """
    machine = load(function + at.FUNCTION_MACHINE)
    code = machine_code(context, request, machine, weight(function))
    if code == 0:
        return False
    count = load(machine + at.MACHINE_ARGUMENTS)
    results = load(function + at.FUNCTION_RESULTS)
    given = table + 8 * results
    words = take_block(context, 8 * count + 8)
    if words == 0:
        return False
    # Borrow the arguments: after a bailout, the interpreted call takes them from the table.
    copy(words, given, 8 * count)
    attempt = run_on_values(context, request, machine, code, words)
    if attempt == 0:
        return False
    for i in range(count):
        drop_reference(context, load(given + 8 * i))
    for i in range(results):
        indirect = load(table + 8 * i)
        value = result_of(context, machine, attempt, i)
        run_waiters(context, forward_to(context, indirect, value))
        drop_reference(context, indirect)
    give_block(context, attempt, attempt_size(machine))
    give_block(context, table, root_size(function))
    # This call has no activation, so `observe_begin` and `observe_end` do not count its kernels.
    kernels = load(function + at.FUNCTION_KERNELS)
    fetch_add(request + at.REQUEST_KNOWN, kernels)
    fetch_add(request + at.REQUEST_DECIDED, kernels)
    # Do this last: if nothing else of the run is active, the program may be gone afterward.
    leave_request(context, request)
    return True
