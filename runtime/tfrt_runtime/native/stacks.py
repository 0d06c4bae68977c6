"""Stacks of linked items that threads share: tasks, batches of blocks, runs that are over.

    word of the stack --> newest item --link--> item --link--> oldest item --link--> 0

Any thread pushes; a thread that takes takes all.  No thread pops: between its look at the top item's link and its
swap another thread could take that item and push it again on others, and the swap would bring back a link that
is no longer true (ABA).  `link` is the offset of the word that links the items.
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
    """Any thread: put linked items on top, which are this thread's alone until then."""
    while True:
        head = load_acquire(stack)
        store(last + link, head)
        # The swap is the publication: its release half makes the items' words visible to the taker.
        if compare_and_swap(stack, head, first) != 0:
            return


@inline
def push(stack: Address, item: Address, link: int) -> None:
    """As `push_list`, with one item."""
    push_list(stack, item, item, link)


@inline
def take_all(stack: Address) -> Address:
    """Any thread: the newest item, with the others behind it; or 0.  Afterwards they are this thread's alone."""
    # The look is cheap and common; the exchange would take the cache line from all other threads.
    if load_acquire(stack) == 0:
        return 0
    return exchange(stack, 0)


@native
def take_one(stack: Address, link: int) -> Address:
    """The newest item, or 0, which another thread may find as well while this one has them all."""
    item = take_all(stack)
    if item == 0:
        return 0
    others = load(item + link)
    if others != 0 and compare_and_swap(stack, 0, others) == 0:
        # Another thread has pushed in between.  Only then they are walked: there may be thousands.
        last = others
        while load(last + link) != 0:
            last = load(last + link)
        push_list(stack, others, last, link)
    return item
