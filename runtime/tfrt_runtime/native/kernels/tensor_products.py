"""Matrix products with BLAS, with the help of sleeping workers.

If a product is large enough to wake a worker, its columns are divided into more parts than there
are threads.  The kernel's thread and the workers take one part after another until none is left.
No thread waits for another, so a late worker costs nothing.  The thread that finishes the last part
publishes the kernel's chain.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, new_value
from tfrt_runtime.native.calls.frame import (
    argument,
    attribute,
    payload_type,
    run_in_python,
    set_chain,
    set_result,
)
from tfrt_runtime.native.calls.kernel_calls import share_rest
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.kernels.tensor_kernels import (
    operand_count,
    overlap,
    tensor_argument,
)
from tfrt_runtime.native.kernels.tensor_loops import multiply_matrices, multiply_row
from tfrt_runtime.native.memory import (
    Address,
    entry,
    fetch_add,
    load,
    load_f32,
    load_f64,
    native,
    now,
    processor,
    store,
    store_f64,
)
from tfrt_runtime.native.queues.sharing import count_large
from tfrt_runtime.native.queues.tasks import (
    add_sought_task,
    add_task,
    free_task,
    free_threads,
    new_task,
    seekers,
)
from tfrt_runtime.native.queues.waiters import add_pending, finish, mark_shared, publish
from tfrt_runtime.native.tensors import add_tensor_reference, drop_tensor

PART_TASK, MATRICES, ROW = range(3)
"""The kernel's data words: the addresses of `multiply_parts`, `cblas_sgemm`, and `cblas_sgemv`.

Without BLAS, the last two are 0.
"""

HEAVY_WORK = 1 << 20
"""A product with at least this many multiplications takes longer than waking a worker."""
PART_WORK = 1 << 22
"""The number of multiplications in the smallest part, which takes longer than waking a worker."""
PART_ROWS = 32
"""A product with fewer rows than this is not divided.

With fewer rows, BLAS computes narrow matrices in a different way, so the last digits would differ.
"""
PART_COLUMNS = 64
"""The width of a part is a multiple of this number.

With other widths, the last digits of BLAS's results would differ.
"""
PARTS_PER_THREAD = 2
SEEKING_NS = 100_000
"""How long a thread searches for the next product before it sleeps, in ns.

Most parts of a product take less time.
"""


@entry
def matmul_f32(context: Address, record: Address) -> None:
    """`tfrt_test.matmul.f32.2`: multiply two matrices."""
    is_known = operand_count(context, record) == 5 and attribute(record, MATRICES) != 0
    is_known = is_known and payload_type(context, 0) == at.TYPE_F32
    is_known = is_known and payload_type(context, 3) == at.TYPE_F32
    if not is_known or not multiply(context, record):
        share_rest(context)
        run_in_python(context, record)


@native
def multiply(context: Address, record: Address) -> bool:
    """Multiply the matrices in the arguments; if BLAS cannot, do nothing and return False."""
    a, b, c = matrix(context, 1), matrix(context, 2), matrix(context, 4)
    if a == 0 or b == 0 or c == 0 or load(c + at.TENSOR_BYTES) == at.READ_ONLY:
        return False
    rows, inner = load(a + at.TENSOR_SIZES), load(a + at.TENSOR_SIZES + 8)
    columns = load(b + at.TENSOR_SIZES + 8)
    fits = load(b + at.TENSOR_SIZES) == inner
    fits = fits and load(c + at.TENSOR_SIZES) == rows and load(c + at.TENSOR_SIZES + 8) == columns
    if not fits or rows == 0 or columns == 0 or inner == 0 or overlap(a, c) or overlap(b, c):
        return False
    alpha = load_f32(argument(context, 0) + at.VALUE_PAYLOAD)
    if alpha == 0:
        # BLAS must not read A and B if alpha is 0, but some OpenBLAS kernels do (those for small
        # matrices, with AVX-512).
        return False
    # Decide before sharing other work: a worker that is woken for a short kernel can also help.
    helpers, parts = helpers_for(context, rows, columns, inner), 0
    if is_heavy(rows, columns, inner):
        share_rest(context)
    beta = load_f32(argument(context, 3) + at.VALUE_PAYLOAD)
    left, right, target = (
        load(a + at.TENSOR_DATA),
        load(b + at.TENSOR_DATA),
        load(c + at.TENSOR_DATA),
    )
    if helpers > 0:
        parts = parts_for(helpers, rows, columns, inner)
    if parts > 1:
        product = new_product(context, a, b, c, parts)
        store(product + at.PRODUCT_FUNCTION, attribute(record, MATRICES))
        store_f64(product + at.PRODUCT_ALPHA, alpha)
        store_f64(product + at.PRODUCT_BETA, beta)
        share_product(context, product, min(helpers, parts - 1), attribute(record, PART_TASK))
        return True
    if rows == 1:
        row = attribute(record, ROW)
        multiply_row(row, columns, inner, alpha, left, right, beta, target)
    else:
        matrices = attribute(record, MATRICES)
        multiply_matrices(
            matrices, rows, columns, inner, alpha, left, right, beta, target, columns, columns
        )
    set_chain(context, 0)
    return True


@native
def matrix(context: Address, index: int) -> Address:
    """Return an argument's f32 matrix, or 0 if the argument is something else."""
    tensor = tensor_argument(context, index, at.TYPE_F32)
    return tensor if tensor != 0 and load(tensor + at.TENSOR_RANK) == 2 else 0


@native
def is_heavy(rows: int, columns: int, inner: int) -> bool:
    """Return whether a product takes longer than waking a worker."""
    # A tensor is in memory, so the product of two of its sizes fits into a word.
    return rows * columns >= HEAVY_WORK // inner


@native
def helpers_for(context: Address, rows: int, columns: int, inner: int) -> int:
    """Return how many workers may help with a product.

    None may help if the product is too small or too few workers are asleep.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if rows < PART_ROWS or columns < 2 * PART_COLUMNS or rows * columns < 2 * PART_WORK // inner:
        return 0
    # There is one more deque than workers, for a waiting thread. If that thread and all workers but
    # one are busy, a helper would take a processor away from them.
    helpers = load(queue + at.QUEUE_WORKERS) - 2
    # Each other large kernel that is ready here will keep a worker busy, too.
    others = count_large(load(context + at.CONTEXT_READY), load(context + at.CONTEXT_READY_TOP))
    # A thread that is searching for work already has a processor.
    free = max(seekers(context), free_threads(context) - 1)
    return min(helpers, free - others)


@native
def parts_for(helpers: int, rows: int, columns: int, inner: int) -> int:
    """Return the number of parts of a product."""
    least_width = (PART_WORK // rows + inner - 1) // inner
    # BLAS packs the left matrix again for each part, so narrow parts take longer in total.
    least_units = 2 if columns >= 4 * PART_COLUMNS else 1
    units = max((least_width + PART_COLUMNS - 1) // PART_COLUMNS, least_units)
    most = columns // (units * PART_COLUMNS)
    return min(most, PARTS_PER_THREAD * (helpers + 1))


@native
def new_product(context: Address, a: Address, b: Address, c: Address, parts: int) -> Address:
    """Make the state of a divided product; its chain becomes the kernel's result.

    The caller fills in the other fields.
    """
    rows, inner = load(a + at.TENSOR_SIZES), load(a + at.TENSOR_SIZES + 8)
    columns = load(b + at.TENSOR_SIZES + 8)
    units = (columns + PART_COLUMNS * parts - 1) // (PART_COLUMNS * parts)
    width = units * PART_COLUMNS
    count = (columns + width - 1) // width
    value = new_value(context, at.TYPE_CHAIN)
    # One reference is for the result, and one for the thread that publishes it.
    store(value + at.VALUE_REFERENCES, 2)
    set_result(context, 0, value)
    product = take_block(context, at.PRODUCT_SIZE)
    store(product + at.PRODUCT_NEXT, 0)
    store(product + at.PRODUCT_LEFT, count)
    store(product + at.PRODUCT_PARTS, count)
    store(product + at.PRODUCT_WIDTH, width)
    store(product + at.PRODUCT_VALUE, value)
    store(product + at.PRODUCT_ROWS, rows)
    store(product + at.PRODUCT_COLUMNS, columns)
    store(product + at.PRODUCT_INNER, inner)
    # The kernel drops its arguments when it returns, but helpers may still be multiplying.
    add_tensor_reference(a)
    add_tensor_reference(b)
    add_tensor_reference(c)
    store(product + at.PRODUCT_TENSORS, a)
    store(product + at.PRODUCT_TENSORS + 8, b)
    store(product + at.PRODUCT_TENSORS + 16, c)
    return product


@native
def share_product(context: Address, product: Address, helpers: int, function: Address) -> None:
    """Work on a product, together with `helpers` workers.

    `function` is the address of `multiply_parts`.
    """
    store(product + at.PRODUCT_OWNERS, helpers + 1)
    store(product + at.PRODUCT_PROCESSOR, processor())
    # The activation must last until the helpers' tasks have run.
    activation = load(context + at.CONTEXT_ACTIVATION)
    mark_shared(activation)
    # If no other thread takes a sought task, this thread must run it, for which it needs a deque.
    sought = seekers(context) if load(context + at.CONTEXT_DEQUE) != 0 else 0
    for i in range(helpers):
        add_pending(activation)
        task = new_task(context, function, product, 0, 0)
        store(task + at.TASK_ACTIVATION, activation)
        if i < sought:
            add_sought_task(context, task)
        else:
            add_task(context, task)
    work_on_product(context, product)
    leave_product(context, product)


@entry
def multiply_parts(context: Address, task: Address) -> None:
    """Task function: help with a product."""
    activation = load(task + at.TASK_ACTIVATION)
    product = load(task + at.TASK_FIRST)
    free_task(context, task)
    # Do not help on the processor of the kernel's thread: if other processes use the other
    # processors, this thread may be running in place of the kernel's thread.
    if processor() != load(product + at.PRODUCT_PROCESSOR):
        work_on_product(context, product)
    leave_product(context, product)
    finish(context, activation)


@native
def work_on_product(context: Address, product: Address) -> None:
    """Take parts of a product, and compute them, until none is left."""
    parts = load(product + at.PRODUCT_PARTS)
    part = fetch_add(product + at.PRODUCT_NEXT, 1)
    while part < parts:
        multiply_part(product, part)
        # Other threads may not have found out yet that no part is left. Therefore, the last owner
        # frees the product, not the thread that finishes the last part.
        if fetch_add(product + at.PRODUCT_LEFT, -1) == 1:
            value = load(product + at.PRODUCT_VALUE)
            publish(context, value, at.CONCRETE)
            drop_reference(context, value)
        part = fetch_add(product + at.PRODUCT_NEXT, 1)
    # The kernels that use the product will be ready soon: the other threads are computing their
    # last parts.
    store(context + at.CONTEXT_SEEKING_UNTIL, now() + SEEKING_NS)


@native
def leave_product(context: Address, product: Address) -> None:
    """Stop using a product; the last owner frees it."""
    if fetch_add(product + at.PRODUCT_OWNERS, -1) == 1:
        for i in range(3):
            drop_tensor(context, load(product + at.PRODUCT_TENSORS + 8 * i))
        give_block(context, product, at.PRODUCT_SIZE)


@native
def multiply_part(product: Address, part: int) -> None:
    """Compute the columns of one part."""
    columns, width = load(product + at.PRODUCT_COLUMNS), load(product + at.PRODUCT_WIDTH)
    first = part * width
    left, right, target = (
        load(load(product + at.PRODUCT_TENSORS) + at.TENSOR_DATA),
        load(load(product + at.PRODUCT_TENSORS + 8) + at.TENSOR_DATA) + 4 * first,
        load(load(product + at.PRODUCT_TENSORS + 16) + at.TENSOR_DATA) + 4 * first,
    )
    multiply_matrices(
        load(product + at.PRODUCT_FUNCTION),
        load(product + at.PRODUCT_ROWS),
        min(width, columns - first),
        load(product + at.PRODUCT_INNER),
        load_f64(product + at.PRODUCT_ALPHA),
        left,
        right,
        load_f64(product + at.PRODUCT_BETA),
        target,
        columns,
        columns,
    )
