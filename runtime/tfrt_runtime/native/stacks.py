"""Stacks of linked items that threads share: tasks, batches of blocks, finished runs.

    word of the stack --> newest item --link--> item --link--> oldest item --link--> 0

Any thread pushes.  A thread that takes items takes all of them; no thread pops a single item.
Between a pop's load of the top item's link and its swap, another thread could take that item and
push it again onto other items, and the swap would then restore a stale link (ABA).  `link` is the
offset of the word that links the items.

The push is Treiber's: R. K. Treiber 1986, IBM RJ 5118, "Systems Programming: Coping with
Parallelism".  His pop is not used: without a version counter beside the head it has the ABA problem
above.
"""

from __future__ import annotations

from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    exchange,
    inline,
    load,
    load_acquire,
    native,
    store,
)


@inline
def push_list(stack: Address, first: Address, last: Address, link: int) -> None:
    """Put linked items on top; any thread may call this.

    The items belong to this thread until then.
    """
    while True:
        head = load_acquire(stack)
        store(last + link, head)
        # The swap publishes the items: its release half makes their words visible to the taker.
        if compare_and_swap(stack, head, first) != 0:
            return


@inline
def push(stack: Address, item: Address, link: int) -> None:
    """Push one item, as `push_list` does."""
    push_list(stack, item, item, link)


@inline
def take_all(stack: Address) -> Address:
    """Take all items: the newest, linked to the others, or 0; any thread may call this.

    Afterwards the items belong to this thread alone.
    """
    # A load is cheap, and the stack is often empty; the exchange would take the cache line from all
    # threads.
    if load_acquire(stack) == 0:
        return 0
    return exchange(stack, 0)


@native
def take_one(stack: Address, link: int) -> Address:
    """Take the newest item.

    Returns 0 if the stack is empty, or while another thread holds all its items.
    """
    item = take_all(stack)
    if item == 0:
        return 0
    others = load(item + link)
    if others != 0 and compare_and_swap(stack, 0, others) == 0:
        # Another thread has pushed in between.  The items are walked only in this case: there may
        # be thousands.
        last = others
        while load(last + link) != 0:
            last = load(last + link)
        push_list(stack, others, last, link)
    return item
