"""Bugs to plant in the native core, to check that the explorer's scenarios find them.

Each mutant replaces one piece of one function. It is killed if a scenario of `scenarios` fails with
it. A mutant that survives shows that a scenario is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

EXPLORED = "tests/runtime/native/explored/"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A planted bug: the lines `old` become the lines `new` in one function of the core.

    Both are whole lines, whose common indentation is ignored. `scenarios` are the pytest arguments
    that select the scenarios that must find the bug.
    """

    name: str
    module: str
    function: str
    old: str
    new: str
    scenarios: tuple[str, ...]

    def applied(self, source: str) -> str:
        """Return the module's source with the bug.

        Raises:
            ValueError: unless the lines occur in the function exactly once.
        """
        lines = source.splitlines()
        first = lines.index(next(x for x in lines if x.startswith(f"def {self.function}(")))
        end = next(
            (i for i in range(first + 1, len(lines)) if lines[i][:1] not in ("", " ", ")")), -1
        )
        old, new = (dedent(text).strip("\n") for text in (self.old, self.new))
        count = len(old.splitlines())
        places = [
            place
            for place in range(first, end if end >= 0 else len(lines))
            if dedent("\n".join(lines[place : place + count])) == old
        ]
        if len(places) != 1:
            raise ValueError(f"{self.name}: found {len(places)} times in {self.function}")
        [place] = places
        depth = len(lines[place]) - len(lines[place].lstrip())
        lines[place : place + count] = indent(new, " " * depth).splitlines()
        return "\n".join(lines)


def _mutant(function: str, name: str, old: str, new: str, scenarios: str) -> Mutant:
    module, _, function = function.rpartition(".")
    file, _, selection = scenarios.partition(" ")
    selected = ("-k", selection) if selection else ()
    return Mutant(name, module, function, old, new, (f"{EXPLORED}test_{file}.py", *selected))


MUTANTS = [
    _mutant(
        "queues.deques.push_bottom",
        "the bottom of a deque is published before the task",
        """
        store_release(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)), task)
        store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
        """,
        """
        store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
        store_release(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)), task)
        """,
        "queue_interleavings test_every_task_of_a_deque_is_taken_once",
    ),
    _mutant(
        "queues.deques.pop_bottom",
        "the owner of a deque reads top before its new bottom is visible",
        "fence()",
        "pass",
        "queue_interleavings test_every_task_of_a_deque_is_taken_once",
    ),
    _mutant(
        "queues.deques.steal_top",
        "a thief reads bottom before top",
        "fence()",
        "pass",
        "queue_interleavings test_every_task_of_a_deque_is_taken_once",
    ),
    _mutant(
        "queues.deques.pop_bottom",
        "the owner takes the last task without a compare-and-swap",
        "if top > bottom or compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:",
        "if top > bottom:",
        "queue_interleavings test_every_task_of_a_deque_is_taken_once",
    ),
    _mutant(
        "memory.push_list",
        "two threads push by load and store",
        "    if compare_and_swap(stack, head, first) != 0:\n        return",
        "    store_release(stack, first)\n    return",
        "queue_interleavings test_every_injected_task_is_taken_once",
    ),
    _mutant(
        "memory.take_all",
        "a stack is read and emptied in two steps",
        "return exchange(stack, 0)",
        "newest = load_acquire(stack)\nstore_release(stack, 0)\nreturn newest",
        "queue_interleavings test_every_injected_task_is_taken_once",
    ),
    _mutant(
        "queues.tasks.add_sought_task",
        "seekers are counted before the new task is visible",
        "fence()",
        "pass",
        "queue_interleavings test_a_task_for_those_that_seek_work",
    ),
    _mutant(
        "queues.tasks.add_sought_task",
        "a task is left to seekers although none is left",
        "if load_acquire(queue + at.QUEUE_SEEKERS) == 0:",
        "if load_acquire(queue + at.QUEUE_SEEKERS) < 0:",
        "queue_interleavings test_a_task_for_those_that_seek_work",
    ),
    _mutant(
        "queues.tasks.sleep_on_queue",
        "a thread counts as a seeker while it sleeps",
        """
        futex_wait(queue + at.QUEUE_EPOCH, epoch, timeout_ns)
        """,
        """
        fetch_add(queue + at.QUEUE_SEEKERS, 1)
        futex_wait(queue + at.QUEUE_EPOCH, epoch, timeout_ns)
        fetch_add(queue + at.QUEUE_SEEKERS, -1)
        """,
        "queue_interleavings test_a_task_for_those_that_seek_work",
    ),
    _mutant(
        "calls.executor.help_until",
        "a thread that waits leaves with the wake-up for a task",
        "pass_on(context)",
        "pass",
        "leaving_interleavings wake_up_of_a_waiting_thread",
    ),
    _mutant(
        "python.python_waits.work_until",
        "a thread that seeks work leaves without a look for a task that was left to it",
        "pass_on(context)",
        "pass",
        "leaving_interleavings thread_that_sought_work",
    ),
    _mutant(
        "queues.tasks.free_threads",
        "a thread that wakes up for a task counts as free",
        "if not has_queued_task(context):",
        "if context != 0:",
        "queue_interleavings test_a_thread_is_free",
    ),
    _mutant(
        "queues.tasks.free_threads",
        "a thread that wakes up for what another one has taken counts as busy",
        "free += counts // at.SLEEPERS_NOTIFIED",
        "free += 0",
        "queue_interleavings test_a_thread_is_free",
    ),
    _mutant(
        "queues.tasks.rest",
        "a thread that has rested counts as one that rests",
        "fetch_add(queue + at.QUEUE_RESTING, -1)",
        "pass",
        "queue_interleavings test_a_thread_that_rests_or_seeks",
    ),
    _mutant(
        "queues.tasks.wake_sleeper",
        "sleepers are counted before the new work is visible",
        "fence()",
        "pass",
        "queue_interleavings test_no_wake_up_is_lost_between_one_worker_and_one_who_adds",
    ),
    _mutant(
        "queues.tasks.wake_sleeper",
        "a sleeper is woken although the epoch is the same",
        "fetch_add(queue + at.QUEUE_EPOCH, 1)",
        "pass",
        "queue_interleavings test_no_wake_up_is_lost_between_one_worker_and_one_who_adds",
    ),
    _mutant(
        "queues.tasks.sleep_on_queue",
        "a thread searches for work before it counts as a sleeper",
        """
        epoch = arrive(queue)
        if not has_task(context) and must_wait(queue, word):
        """,
        """
        is_idle = not has_task(context) and must_wait(queue, word)
        epoch = arrive(queue)
        if is_idle:
        """,
        "queue_interleavings test_no_wake_up_is_lost_between_one_worker_and_one_who_adds",
    ),
    _mutant(
        "queues.tasks.sleep_on_queue",
        "a thread reads the epoch after it has searched for work",
        """
        epoch = arrive(queue)
        if not has_task(context) and must_wait(queue, word):
        """,
        """
        arrive(queue)
        if not has_task(context) and must_wait(queue, word):
            epoch = load_acquire(queue + at.QUEUE_EPOCH)
        """,
        "queue_interleavings test_no_wake_up_is_lost_between_one_worker_and_one_who_adds",
    ),
    _mutant(
        "queues.tasks.arrive",
        "a thread reads the epoch after it counts as a sleeper",
        """
        epoch = load_acquire(queue + at.QUEUE_EPOCH)
        fetch_add(queue + at.QUEUE_SLEEPERS, 1)
        """,
        """
        fetch_add(queue + at.QUEUE_SLEEPERS, 1)
        epoch = load_acquire(queue + at.QUEUE_EPOCH)
        """,
        "queue_interleavings "
        "test_no_wake_up_is_lost_when_another_thread_has_taken_what_the_last_one_was_for",
    ),
    _mutant(
        "queues.tasks.notify_sleeper",
        "two adders count on one sleeper",
        "if compare_and_swap(queue + at.QUEUE_SLEEPERS, counts, notified) != 0:",
        "store_release(queue + at.QUEUE_SLEEPERS, notified)\nif True:",
        "queue_interleavings test_no_wake_up_is_lost_among_more_of_them",
    ),
    _mutant(
        "queues.tasks.depart",
        "a thread that was notified leaves as one that was not",
        "left = counts - at.SLEEPERS_NOTIFIED if counts >= at.SLEEPERS_NOTIFIED else counts - 1",
        "left = counts - 1",
        "queue_interleavings test_no_wake_up_is_lost_between_one_worker_and_one_who_adds",
    ),
    _mutant(
        "queues.tasks.rest",
        "a thief rests until it is woken",
        "futex_wait(queue + at.QUEUE_STOP, 0, REST_NS)",
        "futex_wait(queue + at.QUEUE_STOP, 0, -1)",
        "queue_interleavings test_a_thief_that_rests_comes_back_for_what_is_left",
    ),
    _mutant(
        "queues.tasks.wake_waiting",
        "waiting threads are counted before the word is visible",
        "fence()",
        "pass",
        "queue_interleavings test_no_wake_up_is_lost_among_more_of_them",
    ),
    _mutant(
        "queues.tasks.give_back_half",
        "tasks that find no room are lost",
        "inject_list(load(context + at.CONTEXT_QUEUE), newest, newer)",
        "pass",
        "kept_tasks test_many_tasks_from_outside_are_taken_in_a_few_moves_each",
    ),
    _mutant(
        "queues.deques.put_back",
        "tasks are put back beside those of another thread",
        "if compare_and_swap(queue + at.QUEUE_ORDERED, 0, oldest) == 0:",
        "store(queue + at.QUEUE_ORDERED, oldest)\nif False:",
        "kept_tasks test_two_threads_take_tasks_in_order_and_none_is_lost",
    ),
    _mutant(
        "async_value.add_waiter",
        "two threads leave waiters by load and store",
        "if compare_and_swap(value + at.VALUE_STATE, head, waiter | (head & at.STATE_BITS)) != 0:",
        "store_release(value + at.VALUE_STATE, waiter | (head & at.STATE_BITS))\nif True:",
        "async_value_interleavings test_every_waiter_runs_once",
    ),
    _mutant(
        "async_value.add_waiter",
        "a waiter forgets that the value is claimed",
        "if compare_and_swap(value + at.VALUE_STATE, head, waiter | (head & at.STATE_BITS)) != 0:",
        "if compare_and_swap(value + at.VALUE_STATE, head, waiter) != 0:",
        "async_value_interleavings test_of_two_who_want_to_resolve_a_value_one_does",
    ),
    _mutant(
        "async_value.take_waiters",
        "the state is read and changed in two steps",
        "return exchange(value + at.VALUE_STATE, state) & ~at.STATE_BITS",
        """
        head = load_acquire(value + at.VALUE_STATE)
        store_release(value + at.VALUE_STATE, state)
        return head & ~at.STATE_BITS
        """,
        "async_value_interleavings test_every_waiter_runs_once",
    ),
    _mutant(
        "async_value.claim",
        "two threads claim one value",
        "if compare_and_swap(value + at.VALUE_STATE, head, head | at.CONSTRUCTED) != 0:",
        "store_release(value + at.VALUE_STATE, head | at.CONSTRUCTED)\nif True:",
        "async_value_interleavings test_of_two_who_want_to_resolve_a_value_one_does",
    ),
    _mutant(
        "async_value.drop_reference",
        "references are counted down by load and store",
        "if references != 1 and fetch_add(value + at.VALUE_REFERENCES, -1) != 1:\n    return",
        "store_release(value + at.VALUE_REFERENCES, references - 1)\nif references != 1:\n    "
        "return",
        "async_value_interleavings test_the_last_reference_releases_the_object",
    ),
    _mutant(
        "async_value.add_references",
        "references are counted up by load and store",
        "fetch_add(value + at.VALUE_REFERENCES, count)",
        "store_release(value + at.VALUE_REFERENCES, load_acquire(value + at.VALUE_REFERENCES) + "
        "count)",
        "async_value_interleavings test_references_may_be_added_while_others_are_dropped",
    ),
    _mutant(
        "async_value.set_error",
        "an error is published before its diagnostic",
        """
        store(value + at.VALUE_PAYLOAD, payload)
        store_release(value + at.VALUE_KIND, error_type << 8 | at.KIND_CONCRETE)
        return take_waiters(value, at.ERROR)
        """,
        """
        waiters = take_waiters(value, at.ERROR)
        store(value + at.VALUE_PAYLOAD, payload)
        store_release(value + at.VALUE_KIND, error_type << 8 | at.KIND_CONCRETE)
        return waiters
        """,
        "async_value_interleavings test_a_thread_that_sees_an_error_sees_its_diagnostic",
    ),
    _mutant(
        "async_value.point_at",
        "a value that forwards twice takes no reference to the end of the chain",
        "add_references(concrete, 1)",
        "pass",
        "async_value_interleavings test_a_chain_of_forwards_resolves_in_whatever_order_it_is_tied",
    ),
    _mutant(
        "async_value.forward_to",
        "a waiter that forwards holds no reference to its value",
        "add_references(indirect, 1)",
        "pass",
        "async_value_interleavings "
        "test_a_forward_meets_the_target_before_during_or_after_it_resolves",
    ),
    _mutant(
        "queues.waiters.release_users_shared",
        "the ready count of a shared activation is read and written in two steps",
        "is_ready = load_acquire(ready) == weight or fetch_add(ready, -weight) == weight",
        """
        left = load_acquire(ready) - weight
        store_release(ready, left)
        is_ready = left == 0
        """,
        "executor_interleavings "
        "test_a_value_from_outside_may_resolve_while_a_worker_runs_its_activation",
    ),
    _mutant(
        "queues.waiters.finish",
        "the last of two threads does not end a shared activation",
        "left = fetch_add(activation + at.ACTIVATION_REMAINING, -1) - 1",
        """
        left = load_acquire(activation + at.ACTIVATION_REMAINING) - 1
        store_release(activation + at.ACTIVATION_REMAINING, left)
        """,
        "executor_interleavings "
        "test_a_value_from_outside_may_resolve_while_a_worker_runs_its_activation",
    ),
    _mutant(
        "calls.delivery.wait_for_register",
        "a value is waited for before its activation is marked as shared",
        "mark_shared(activation)",
        "pass",
        "executor_interleavings "
        "test_a_value_from_outside_may_resolve_while_a_worker_runs_its_activation",
    ),
    _mutant(
        "calls.delivery.put_in_register",
        "a reader and a writer of a register both believe that they came first",
        "if compare_and_swap(register, 0, value) != 0:",
        "if load_acquire(register) == 0:\n    store_release(register, value)",
        "executor_interleavings test_tasks_that_a_thread_kept_may_go_to_another_at_any_time",
    ),
    _mutant(
        "queues.waiters.leave_join",
        "the parts of a parallel loop are counted by load and store",
        "if fetch_add(join + at.JOIN_LEFT, -parts) == parts:",
        """
        left = load_acquire(join + at.JOIN_LEFT) - parts
        store_release(join + at.JOIN_LEFT, left)
        if left == 0:
        """,
        "executor_interleavings "
        "test_two_workers_that_share_get_the_same_values_and_free_everything",
    ),
    _mutant(
        "calls.activation.end_activation",
        "a block of a parallel loop is freed after its end is counted, when the program may be "
        "gone",
        """
            free_activation(context, activation)
            if kind == at.RETURN_JOIN:
                leave_join(context, owner, 1)
        """,
        """
            if kind == at.RETURN_JOIN:
                leave_join(context, owner, 1)
            free_activation(context, activation)
            if kind == at.RETURN_JOIN:
                return
        """,
        "executor_interleavings "
        "test_two_workers_that_share_get_the_same_values_and_free_everything",
    ),
    _mutant(
        "queues.waiters.join_resolved",
        "the second error of a parallel loop is leaked",
        "if not is_error or compare_and_swap(join + at.JOIN_ERROR, 0, value) == 0:",
        "if not is_error or load_acquire(join + at.JOIN_ERROR) != 0:",
        "executor_interleavings test_a_request_may_be_cancelled_at_any_time",
    ),
    _mutant(
        "queues.waiters.run_waiter",
        "a thread is woken before its word is 0",
        """
            release_latch(context, first)
            wake_waiting(load(context + at.CONTEXT_QUEUE))
        """,
        """
            wake_waiting(load(context + at.CONTEXT_QUEUE))
            release_latch(context, first)
        """,
        "async_value_interleavings "
        "test_a_thread_that_sleeps_on_a_latch_wakes_up_when_the_value_resolves",
    ),
    _mutant(
        "queues.waiters.drop_latch",
        "both owners free a latch",
        "if fetch_add(latch + at.LATCH_OWNERS, -1) == 1:",
        "if fetch_add(latch + at.LATCH_OWNERS, -1) > 0:",
        "async_value_interleavings "
        "test_a_thread_that_sleeps_on_a_latch_wakes_up_when_the_value_resolves",
    ),
    _mutant(
        "queues.blocking_pool.pool_push",
        "a place of the ring is published before its task",
        "        store(place + 8, task)\n        store_release(place, number + 1)",
        "        store_release(place, number + 1)\n        store(place + 8, task)",
        "pool_interleavings test_every_task_of_the_ring_is_taken_once_or_refused",
    ),
    _mutant(
        "queues.blocking_pool.pool_pop",
        "a place of the ring is free before its task is read",
        "        task = load(place + 8)\n        store_release(place, number + capacity)",
        "        store_release(place, number + capacity)\n        task = load(place + 8)",
        "pool_interleavings test_a_place_of_the_ring_is_filled_again_only_after_its_task_is_taken",
    ),
    _mutant(
        "queues.blocking_pool.call_for_threads",
        "idle threads are counted before the new task is visible",
        "fence()",
        "pass",
        "pool_interleavings test_an_idle_thread_is_woken_for_a_task",
    ),
    _mutant(
        "calls.executor.blocking_loop",
        "a thread blocks without checking what waits after it",
        "    call_for_threads(context, pool)",
        "    pass",
        "pool_interleavings test_idle_threads_are_woken_for_as_many_tasks",
    ),
    _mutant(
        "queues.sharing.add_start",
        "naps are looked for before the new call is visible",
        "fence()",
        "pass",
        "starting_interleavings test_a_call_that_comes_when_a_nap_ends_wakes_the_worker",
    ),
    _mutant(
        "coroutines.async_groups.member_resolved",
        "a failing member is counted before its error is kept",
        """
        if state_of(member) == at.ERROR:
            keep_error(context, group, error_of(context, member))
        if fetch_add(group + at.GROUP_PENDING, -1) == 1 and claim(group):
        """,
        """
        is_last = fetch_add(group + at.GROUP_PENDING, -1) == 1
        if state_of(member) == at.ERROR:
            keep_error(context, group, error_of(context, member))
        if is_last and claim(group):
        """,
        "async_abi group",
    ),
    _mutant(
        "coroutines.async_objects.emplace",
        "a value is resolved by load and store",
        "    if compare_and_swap(value + at.VALUE_STATE, head, at.CONCRETE) != 0:\n        break",
        "    store_release(value + at.VALUE_STATE, at.CONCRETE)\n    break",
        "async_abi",
    ),
    _mutant(
        "coroutines.async_objects.drop_references",
        "two threads drop the last references of an object by load and store",
        "references = fetch_add(value + at.VALUE_REFERENCES, -count)",
        "store_release(value + at.VALUE_REFERENCES, references - count)",
        "async_abi",
    ),
    _mutant(
        "tensors.drop_tensor",
        "two threads drop a tensor by load and store",
        "if load_acquire(references) != 1 and fetch_add(references, -1) != 1:\n    return",
        """
        left = load_acquire(references) - 1
        store_release(references, left)
        if left != 0:
            return
        """,
        "tensor_interleavings",
    ),
    _mutant(
        "coroutines.async_buffers.new_buffer",
        "a buffer holds what its block held before",
        "fill_unwritten(context, block + at.BLOCK_ELEMENTS, size, not has_pages)",
        "pass",
        "async_buffers test_a_buffer_holds_zeros",
    ),
    _mutant(
        "kernels.tensor_products.leave_product",
        "the thread that ends the last part frees the product",
        "if fetch_add(product + at.PRODUCT_OWNERS, -1) == 1:",
        "if load_acquire(product + at.PRODUCT_LEFT) == 0:",
        "tensor_interleavings product",
    ),
    _mutant(
        "memory.take_one",
        "the items that go back overwrite one that came in between",
        "if others != 0 and compare_and_swap(stack, 0, others) == 0:",
        """
        if load_acquire(stack) == 0:
            store_release(stack, others)
        else:
        """,
        "cell_interleavings test_no_batch_is_lost_and_none_has_two_owners",
    ),
    _mutant(
        "trimming.trim_class",
        "a slab goes that has a block in use",
        "if load_acquire(slab + at.SLAB_OPEN) == 0 and free == load(slab + at.SLAB_CARVED):",
        "if load_acquire(slab + at.SLAB_OPEN) == 0:",
        "cell_interleavings test_a_slab_goes_when_all_its_blocks_are_free_and_not_before",
    ),
    _mutant(
        "cells.leave_slab",
        "a slab is left before it says where the next block is cut",
        """
        store(slab + at.SLAB_PLACE, place)
        push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)
        """,
        """
        push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)
        store(slab + at.SLAB_PLACE, place)
        """,
        "cell_interleavings test_a_slab_that_a_thread_left",
    ),
    _mutant(
        "cells.leave_slab",
        "a slab that is left counts as cut up",
        "        store(slab + at.SLAB_PLACE, place)",
        "        store(slab + at.SLAB_OPEN, 0)\n        store(slab + at.SLAB_PLACE, place)",
        "cell_interleavings test_a_slab_that_a_thread_left",
    ),
    _mutant(
        "trimming.trim_class",
        "a slab keeps the count of its blocks from one trim to the next",
        "store(slab + at.SLAB_FREE, 0)",
        "pass",
        "cell_interleavings test_what_a_trim_leaves_is_whole_batches",
    ),
    _mutant(
        "calls.machine_calls.ask",
        "machine code does not hear that its run is cancelled",
        "    if is_disturbed(request):\n        return 0",
        "    pass",
        "machine_interleavings test_machine_code_without_an_end_stops_when_its_run_is_cancelled",
    ),
    _mutant(
        "calls.hot_calls.start_machine",
        "a run of machine code is over before its kernels are counted, when the program may be "
        "gone",
        """
        kernels = load(function + at.FUNCTION_KERNELS)
        fetch_add(request + at.REQUEST_KNOWN, kernels)
        fetch_add(request + at.REQUEST_DECIDED, kernels)
        # Do this last: if nothing else of the run is active, the program may be gone afterward.
        leave_request(context, request)
        """,
        """
        leave_request(context, request)
        kernels = load(function + at.FUNCTION_KERNELS)
        fetch_add(request + at.REQUEST_KNOWN, kernels)
        fetch_add(request + at.REQUEST_DECIDED, kernels)
        """,
        "machine_interleavings test_a_run_of_machine_code_ends_when_its_program_needs_not_be_there",
    ),
    _mutant(
        "calls.machine_calls.finish_loop",
        "machine code runs an iteration too many of a loop",
        "store(words, max(load(loop + at.LOOP_LEFT), 1))",
        "store(words, load(loop + at.LOOP_LEFT) + 1)",
        "machine_interleavings test_machine_code_finishes_a_loop_whose_body_has_become_hot",
    ),
    _mutant(
        "calls.in_order.go_on",
        "a sync function takes the kernel after a slice for one that has run",
        "store(position, record + at.RESUMES)",
        "store(position, record)",
        "sync_interleavings test_a_run_may_go_on_elsewhere_after_every_kernel",
    ),
    _mutant(
        "calls.in_order.skip_kernels",
        "the kernels after an error keep what they would have used",
        "drop_optional(context, load(activation + register))",
        "pass",
        "sync_interleavings test_two_workers_get_the_same_values_and_free_everything",
    ),
    _mutant(
        "calls.executor.start_table",
        "machine code runs on the thread that starts a call directly",
        """
        else:
            start_root(context, function, request, table)
        """,
        """
        elif not start_machine(context, function, request, table):
            start_root(context, function, request, table)
        """,
        "machine_interleavings "
        "test_machine_code_does_not_run_on_the_thread_that_starts_a_call_directly",
    ),
    _mutant(
        "python.python_calls.run_rows",
        "a thief finds the rest of a batch before it is written how much that is",
        """
        store(task + at.TASK_THIRD, (row + 1 << ROW_BITS) + count - 1)
        add_local_task(context, task)
        """,
        """
        add_local_task(context, task)
        store(task + at.TASK_THIRD, (row + 1 << ROW_BITS) + count - 1)
        """,
        "batch_interleavings test_each_call_begins_once",
    ),
    _mutant(
        "async_value.forward_to",
        "a value that a stuck run has abandoned is resolved once more",
        """
        if is_available(indirect):
            drop_reference(context, target)
            return 0
        """,
        "pass",
        "async_value_interleavings test_a_value_that_was_given_up_stays_an_error",
    ),
    _mutant(
        "queues.waiters.run_waiter",
        "a value that waited for itself is resolved once more",
        "if is_available(first):",
        "if first == 0:",
        "async_value_interleavings test_a_value_that_was_given_up_stays_an_error",
    ),
    _mutant(
        "calls.hot_calls.call_machine",
        "a call that machine code has abandoned has lost its arguments",
        """
        if attempt == 0:
            return False
        drop_arguments(context, caller, record, arguments)
        """,
        """
        drop_arguments(context, caller, record, arguments)
        if attempt == 0:
            return False
        """,
        "machine_interleavings "
        "test_a_call_that_machine_code_gives_up_is_interpreted_from_its_start",
    ),
    _mutant(
        "coroutines.async_abi.goes_on",
        "a coroutine goes on without the payload that it has awaited",
        "if state_of(value) != at.CONCRETE:",
        "if load(value + 8) & 3 != at.CONCRETE:",
        "async_abi_small test_a_coroutine_that_need_not_suspend",
    ),
    _mutant(
        "calls.delivery.deliver_plain",
        "kernels do not look at an error that a kernel returns",
        "if load_i32(slot + at.SLOT_RETURNS) != 0 or not is_plain(value):",
        "if load_i32(slot + at.SLOT_RETURNS) != 0 or not is_available(value):",
        "executor_interleavings partial and error",
    ),
    _mutant(
        "async_value.is_plain",
        "kernels do not look at a value that forwards to another one",
        "return is_concrete and load(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_CONCRETE",
        "return is_concrete",
        "executor_interleavings forward",
    ),
    _mutant(
        "queues.waiters.push_entries",
        "the rest of a list of entry kernels is forgotten",
        "push_ready(context, activation | at.READY_ENTRIES, end)",
        "pass",
        "executor_interleavings entry and kernels",
    ),
    _mutant(
        "queues.sharing.hand_over",
        "a thread that leaves keeps a list of entry kernels",
        "push_entries(context, load(top) - at.READY_ENTRIES, load(top + 8))",
        "pass",
        "executor_interleavings entry and kernels",
    ),
    _mutant(
        "queues.waiters.register_resolved",
        "kernels do not look at an error that arrives later",
        "release_available(context, activation, slot, value)",
        "release_users(context, activation, slot)",
        "executor_interleavings late and error",
    ),
    _mutant(
        "queues.waiters.release_available",
        "a user of an error is ready before its run counts as unusual",
        """
        if not is_plain(value) and load_acquire(unusual) == 0:
            store_release(unusual, 1)
        release_users(context, activation, slot)
        """,
        """
        release_users(context, activation, slot)
        if not is_plain(value) and load_acquire(unusual) == 0:
            store_release(unusual, 1)
        """,
        "executor_interleavings "
        "test_an_error_of_one_thread_is_seen_by_a_kernel_that_another_makes_ready",
    ),
    _mutant(
        "calls.decoding.add_user",
        "a value that a kernel uses twice counts once",
        "add_i32(base + user - 4, weight)",
        "pass",
        "executor_interleavings test_a_diamond",
    ),
    _mutant(
        "calls.decoding.plan_kernels",
        "two kernels count down one ready count",
        "ready += 8",
        "pass",
        "executor_interleavings test_a_diamond",
    ),
    _mutant(
        "calls.decoding.count_returns",
        "a returned value has a reference too few",
        "add_i32(register + at.REGISTER_REFERENCES, 1)",
        "pass",
        "executor_interleavings test_a_diamond",
    ),
    _mutant(
        "kernels.compiled_kernels.note_import",
        "a value that is imported after the cancellation is awaited forever",
        """
        add_references(cancelled, 1)
        async_abandon(context, made, cancelled)
        """,
        "pass",
        "compiled_kernels test_a_cancellation_ends_the_wait_for_a_host_value_whenever_it_comes",
    ),
    _mutant(
        "python.python_functions.settle",
        "a coroutine's result is resolved even if a cancellation has claimed it",
        "if is_ordinary and claim(value):",
        "if is_ordinary:",
        "settling test_a_returned_object_or_a_cancellation_resolves_a_result",
    ),
    _mutant(
        "python.python_functions.settle",
        "a coroutine's result holds its object although it was cancelled",
        """
        if is_ordinary and claim(value):
            if result_type == at.TYPE_OBJECT:
                hold(process, api, payload)
        """,
        """
        if is_ordinary and result_type == at.TYPE_OBJECT:
            hold(process, api, payload)
        if is_ordinary and claim(value):
        """,
        "settling test_a_returned_object_or_a_cancellation_resolves_a_result",
    ),
    _mutant(
        "python.python_functions.settle",
        "a queue seems to be at rest before it gets the work of a resolved result",
        """
        value_emplace(context, value, result_type, payload, 0)
        """,
        """
        value_emplace(context, value, result_type, payload, 0)
        fetch_add(process + at.PROCESS_RESUMING, -1)
        hand_over(context)
        return call1(load(api + at.PYTHON_MAKE_BOOL), is_ordinary)
        """,
        "settling test_a_queue_is_not_at_rest_while_a_result_makes_work_for_it",
    ),
    _mutant(
        "handles.request_enter",
        "a run is entered although its last activity ends at that moment",
        "while active != 0 and"
        " compare_and_swap(request + at.REQUEST_ACTIVE, active, active + 1) == 0:",
        "if active != 0 and fetch_add(request + at.REQUEST_ACTIVE, 1) == 0:",
        "ends_of_runs test_a_run_is_entered_before_its_end_or_not_at_all",
    ),
]
