"""Decode a function into one record per kernel and one slot per register, for the run loop.

Python writes a plan: tables of half words that describe the function's kernels and registers, and
the calls that the kernels make (`CALL_*`).  `decode` fills reserved words in the program's arena,
which no other thread can see yet.

Constants have no records and no slots, and their users do not wait for them.  A register's users
are listed in the order of a BEF file: later ones first.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    entry,
    inline,
    load,
    load_i32,
    native,
    store,
    store_i32,
)

IS_CONSTANT = -1
"""The value of REGISTER_SLOT for a constant, and of PLANNED_CALL for the constant's kernel."""


@inline
def add_i32(address: Address, number: int) -> int:
    """Add `number` to a half word; return the sum."""
    total = load_i32(address) + number
    store_i32(address, total)
    return total


@inline
def register_at(plan: Address, operand: Address) -> Address:
    """Return the row of the register whose number is at `operand`."""
    return load(plan + at.PLAN_REGISTERS) + at.REGISTER_SIZE * load_i32(operand)


@inline
def call_of(plan: Address, kernel: Address) -> Address:
    """Return the call of a kernel that is not a constant."""
    return load(plan + at.PLAN_CALLS) + at.CALL_SIZE * load_i32(kernel + at.PLANNED_CALL)


@inline
def weight_of(call: Address, index: int) -> int:
    """Return by how much operand `index` decreases its kernel's ready count.

    The weight is 0 if the kernel waits for any one of its operands, and -1 if it does not wait for
    this operand.
    """
    if load(call + at.CALL_FLAGS) & at.KERNEL_NONSTRICT == 0:
        return 1
    strict = load(call + at.CALL_STRICT)
    if strict == 0:
        return 0
    return 1 if index < strict else -1


@native
def count_operands(plan: Address, kernel: Address, number: int, operand: Address) -> int:
    """Count a kernel as a user of its operands; return the kernel's initial ready count.

    `number` identifies the kernel, and is not 0.
    """
    call, count, awaited = call_of(plan, kernel), load_i32(kernel + at.PLANNED_ARGUMENTS), 0
    for position in range(count):
        register = register_at(plan, operand + 4 * position)
        add_i32(register + at.REGISTER_REFERENCES, 1)
        weight = weight_of(call, position)
        if load_i32(register + at.REGISTER_SLOT) != IS_CONSTANT and weight >= 0:
            awaited += 1
            # A kernel that uses a register twice is one user, whose weight covers both uses
            # (`add_user`).
            is_first = load_i32(register + at.REGISTER_LAST) != number
            if is_first and load(plan + at.PLAN_IN_ORDER) == 0:
                store_i32(register + at.REGISTER_LAST, number)
                add_i32(register + at.REGISTER_USERS, 1)
    if weight_of(call, 0) == 0:  # the kernel waits only if no constant starts it
        return 1 if 0 < awaited == count else 0
    return awaited


@native
def plan_kernels(plan: Address) -> int:
    """Count users, and lay out the records and ready counts; return the end of the records."""
    ready = at.ACTIVATION_REGISTERS + 8 * load(plan + at.PLAN_REGISTER_COUNT)
    end, operand = load(plan + at.PLAN_START), load(plan + at.PLAN_OPERANDS)
    for index in range(load(plan + at.PLAN_KERNEL_COUNT)):
        kernel = load(plan + at.PLAN_KERNELS) + at.PLANNED_SIZE * index
        count = load_i32(kernel + at.PLANNED_ARGUMENTS)
        if load_i32(kernel + at.PLANNED_CALL) != IS_CONSTANT:
            waits = count_operands(plan, kernel, index + 1, operand)
            store_i32(kernel + at.PLANNED_WAITS, waits)
            store_i32(kernel + at.PLANNED_RECORD, end)
            registers = count + load_i32(kernel + at.PLANNED_RESULTS)
            # Pad to whole words. `in_order.following` finds the next record by the same formula.
            end += at.RECORD_REGISTERS + 8 * ((registers + 1) // 2)
        # A non-strict kernel that a constant starts awaits nothing, but its other operands still
        # list it as a user and count down, so it needs a word of its own.
        if load_i32(kernel + at.PLANNED_WAITS) > 0 or load(plan + at.PLAN_NONSTRICT) != 0:
            store_i32(kernel + at.PLANNED_READY, ready)
            ready += 8
        operand += 4 * count
    return end


@native
def count_returns(plan: Address) -> None:
    """Count, for each register, the function results that return it."""
    for index in range(load(plan + at.PLAN_RETURNED_COUNT)):
        register = register_at(plan, load(plan + at.PLAN_RETURNED) + 4 * index)
        add_i32(register + at.REGISTER_REFERENCES, 1)
        add_i32(register + at.REGISTER_RETURNS, 1)


@native
def write_slots(plan: Address, end: int) -> int:
    """Write the slots, without their lists, at offset `end` of the arena; return their end."""
    # In such functions, kernels may read registers that are not written yet. The mark makes every
    # delivery take the path that writes registers atomically (`delivery.put_in_register`).
    mark = at.SLOT_NONSTRICT if load(plan + at.PLAN_NONSTRICT) != 0 else 0
    for index in range(load(plan + at.PLAN_REGISTER_COUNT)):
        register = load(plan + at.PLAN_REGISTERS) + at.REGISTER_SIZE * index
        if load_i32(register + at.REGISTER_SLOT) != IS_CONSTANT:
            users = load_i32(register + at.REGISTER_USERS)
            returns = load_i32(register + at.REGISTER_RETURNS)
            store_i32(register + at.REGISTER_SLOT, end)
            store_i32(register + at.REGISTER_NEXT, end + at.SLOT_LISTS)
            slot = load(plan + at.PLAN_BASE) + end
            store_i32(slot + at.SLOT_REGISTER, at.ACTIVATION_REGISTERS + 8 * index)
            store_i32(slot + at.SLOT_REFERENCES, load_i32(register + at.REGISTER_REFERENCES))
            store_i32(slot + at.SLOT_USERS, users)
            store_i32(slot + at.SLOT_RETURNS, returns + mark)
            # A user takes three half words (USER_SIZE), and a return takes one.
            end += at.SLOT_LISTS + 8 * ((3 * users + returns + 1) // 2)
    return end


@native
def add_user(plan: Address, register: Address, kernel: Address, weight: int) -> None:
    """Add a kernel to a register's users; if it is the last user, only add to its weight."""
    base = load(plan + at.PLAN_BASE)
    user = load_i32(register + at.REGISTER_NEXT)
    record = load_i32(kernel + at.PLANNED_RECORD)
    if load_i32(register + at.REGISTER_LAST) == -record:
        # NEXT is the end of the list, so the word before it is the last user's weight.
        add_i32(base + user - 4, weight)
        return
    store_i32(register + at.REGISTER_LAST, -record)
    store_i32(base + user, user - record)
    store_i32(base + user + 4, load_i32(kernel + at.PLANNED_READY))
    store_i32(base + user + 8, weight)
    store_i32(register + at.REGISTER_NEXT, user + at.USER_SIZE)


@native
def write_record(
    plan: Address, kernel: Address, handle: int, operand: Address, result: Address
) -> None:
    """Write a kernel's record.

    The kernel's operands start at `operand`, and the row of its first result is at `result`.
    """
    call = call_of(plan, kernel)
    place = load_i32(kernel + at.PLANNED_RECORD)
    arguments, results = (
        load_i32(kernel + at.PLANNED_ARGUMENTS),
        load_i32(kernel + at.PLANNED_RESULTS),
    )
    flags = load(call + at.CALL_FLAGS)
    if arguments + results > at.FRAME_ROOM:
        flags |= at.KERNEL_WIDE
    # The run loop compares the flags with KERNEL_SMALL as a whole, so no other flag may be set.
    if flags == 0 and arguments == 2 and results == 1:
        flags = at.KERNEL_SMALL
    record = load(plan + at.PLAN_BASE) + place
    store(record + at.RECORD_KERNEL, load(call + at.CALL_KERNEL))
    store(record + at.RECORD_HANDLE, handle)
    store_i32(record + at.RECORD_ARGUMENTS, arguments)
    store_i32(record + at.RECORD_RESULTS, results)
    store_i32(record + at.RECORD_FLAGS, flags)
    # Distances from the record fit into half words, and stay valid when the loader copies the
    # function's words for a function of the same shape (`decode.Arena.repeat`).
    data, functions = load(call + at.CALL_DATA), load(call + at.CALL_FUNCTIONS)
    store_i32(record + at.RECORD_DATA, data - place if data != 0 else 0)
    store_i32(record + at.RECORD_FUNCTIONS, functions - place if functions != 0 else 0)
    registers = record + at.RECORD_REGISTERS
    for position in range(arguments):
        number = load_i32(operand + 4 * position)
        store_i32(registers + 4 * position, at.ACTIVATION_REGISTERS + 8 * number)
    registers += 4 * arguments
    for position in range(results):
        slot = load_i32(result + at.REGISTER_SIZE * position + at.REGISTER_SLOT)
        store_i32(registers + 4 * position, slot - place)


@native
def write_kernels(plan: Address) -> None:
    """Write the records, and the slots' lists of users, from the last kernel to the first."""
    operand = load(plan + at.PLAN_OPERANDS_END)
    count = load(plan + at.PLAN_REGISTER_COUNT)
    result = load(plan + at.PLAN_REGISTERS) + at.REGISTER_SIZE * count
    for index in range(load(plan + at.PLAN_KERNEL_COUNT) - 1, -1, -1):
        kernel = load(plan + at.PLAN_KERNELS) + at.PLANNED_SIZE * index
        count = load_i32(kernel + at.PLANNED_ARGUMENTS)
        operand -= 4 * count
        result -= at.REGISTER_SIZE * load_i32(kernel + at.PLANNED_RESULTS)
        if load_i32(kernel + at.PLANNED_CALL) != IS_CONSTANT:
            write_record(plan, kernel, load(plan + at.PLAN_HANDLE) + index, operand, result)
            call = call_of(plan, kernel)
            for position in range(count):
                register = register_at(plan, operand + 4 * position)
                weight = weight_of(call, position)
                # REGISTER_USERS is 0 for constants and in sync functions: no ready count depends on
                # them.
                if load_i32(register + at.REGISTER_USERS) != 0 and weight >= 0:
                    add_user(plan, register, kernel, weight)


@native
def write_returns(plan: Address) -> None:
    """Write the slots' lists of returns, which follow the lists of users."""
    for number in range(load(plan + at.PLAN_RETURNED_COUNT)):
        register = register_at(plan, load(plan + at.PLAN_RETURNED) + 4 * number)
        # The loader writes the slots of returned constants (`FunctionWriter._constant_slot`).
        if load_i32(register + at.REGISTER_SLOT) != IS_CONSTANT:
            place = add_i32(register + at.REGISTER_NEXT, 4) - 4
            store_i32(load(plan + at.PLAN_BASE) + place, number)


@entry
def decode(plan: Address) -> None:
    """Write a function's records and slots as the plan describes.

    The arena must have enough words from PLAN_START on, and they must be zeros.
    """
    slots = plan_kernels(plan)
    # Count everything before writing slots: a slot's size depends on its users and returns, and
    # records refer to slots by distance.
    count_returns(plan)
    store(plan + at.PLAN_SLOTS, slots)
    store(plan + at.PLAN_END, write_slots(plan, slots))
    write_kernels(plan)
    write_returns(plan)
