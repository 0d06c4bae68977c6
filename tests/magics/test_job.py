"""Test a job's thread, which runs a cell's functions in turn, as tests end their runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tfrt_magics.bridge.job import ROW_LIMIT, Job, Log, waiting_for
from tfrt_magics.bridge.snapshot import Progress, Row, Section, State, Status, progress
from tfrt_runtime.diagnostics import TfrtError, error, note

PATIENCE = 60.0


def job_of(fake, *runs, **settings) -> Job:
    names = ["main", "second", "third"][: len(runs)]
    signatures = [fake.Signature(name, (), ("i32",)) for name in names]
    job = Job(fake.Host(*runs), signatures, **settings)
    job.start()
    return job


def ended(job: Job) -> Job:
    assert job.finished.wait(PATIENCE)
    return job


def test_functions_run_in_order_and_the_job_is_done(fake) -> None:
    first, second = fake.one_result_run("%a", over=True), fake.one_result_run(over=True)
    first.resolve("%a", "3", worker="worker 0", started_ns=0, resolved_ns=1)
    first.resolve("result", 3)
    second.resolve("result", "true")
    snapshot = ended(job_of(fake, first, second)).snapshot()

    assert (snapshot.status, snapshot.sections) == (
        Status.DONE,
        (
            Section(
                "main",
                Status.DONE,
                (
                    Row("result", "i32", State.AVAILABLE, "3", is_result=True),
                    Row(
                        *("%a", "i32", State.AVAILABLE, "3"),
                        worker="worker 0",
                        started_ns=0,
                        resolved_ns=1,
                        number=0,
                    ),
                ),
            ),
            Section(
                "second",
                Status.DONE,
                (Row("result", "i32", State.AVAILABLE, "true", is_result=True),),
            ),
        ),
    )


def test_a_running_job_shows_the_present(fake) -> None:
    run = fake.one_result_run("%a")
    job = job_of(fake, run, fake.one_result_run(over=True))
    job.wait_for_results()
    before = job.snapshot()
    run.resolve("%a", "3")
    after = job.snapshot()
    run.over.set()
    ended(job)

    states = [[row.state for row in look.sections[0].rows] for look in (before, after)]
    assert states == [["unavailable", "unavailable"], ["unavailable", "available"]]
    assert [section.status for section in before.sections] == [Status.RUNNING, Status.WAITING]


def test_cancelling_marks_what_is_missing_and_starts_nothing_more(fake) -> None:
    run = fake.one_result_run("%a", "%b")
    run.resolve("%a", "3")
    job = job_of(fake, run, fake.one_result_run())
    job.wait_for_results()
    missing = job.missing()
    job.cancel("enough")
    snapshot = ended(job).snapshot()

    assert missing == "@main was still waiting for %b"
    assert run.cancelled
    assert (snapshot.status, snapshot.note) == (Status.CANCELLED, "enough")
    assert [
        (section.status, [row.state for row in section.rows]) for section in snapshot.sections
    ] == [
        (Status.CANCELLED, ["cancelled", "available", "cancelled"]),
        (Status.CANCELLED, ["cancelled"]),
    ]


def test_a_function_that_never_began_is_not_done(fake) -> None:
    signatures = [fake.Signature("main", (), ("i32",)), fake.Signature("second", (), ())]
    job = Job(fake.Host(fake.one_result_run()), signatures)
    job.start()
    job.wait_for_results()
    job.cancel("enough")
    sections = ended(job).snapshot().sections
    assert [section.status for section in sections] == [Status.CANCELLED, Status.CANCELLED]


def test_a_kernel_that_does_not_return_does_not_keep_a_cancelled_job(fake) -> None:
    run = fake.one_result_run("%a", stuck=True)
    job = job_of(fake, run)
    job.wait_for_results()
    job.cancel("enough")

    assert ended(job).snapshot().sections[0].rows[1].state is State.CANCELLED
    run.over.set()


def test_a_timeout_says_what_the_program_was_waiting_for(fake) -> None:
    run = fake.one_result_run("%a", "%b")
    run.resolve("%a", "3")
    snapshot = ended(job_of(fake, run, timeout=0.01)).snapshot()

    assert (snapshot.status, snapshot.note) == (
        Status.TIMED_OUT,
        "timed out after 0.01 s; @main was still waiting for %b",
    )


def test_a_timeout_may_be_longer_than_any_wait_of_the_system(fake) -> None:
    job = job_of(fake, fake.one_result_run("%a"), timeout=1e300)
    job.cancel("enough")

    assert ended(job).snapshot().note.startswith("enough")


def test_a_timeout_names_the_kernels_that_owe_a_value(fake) -> None:
    run = fake.one_result_run("%a")
    run.promised = [note(f"kernel 'k{i}' has not resolved its result 0 yet") for i in range(5)]
    snapshot = ended(job_of(fake, run, timeout=0.01)).snapshot()

    assert snapshot.note == (
        "timed out after 0.01 s; @main was still waiting for %a;"
        " kernel 'k0' has not resolved its result 0 yet;"
        " kernel 'k1' has not resolved its result 0 yet;"
        " kernel 'k2' has not resolved its result 0 yet"
    )


def test_a_run_that_cannot_go_on_ends_the_job(fake) -> None:
    run = fake.one_result_run("%a", is_stuck=True)
    snapshot = ended(job_of(fake, run)).snapshot()

    assert (snapshot.status, snapshot.note) == (
        Status.FAILED,
        "stuck; @main was still waiting for %a",
    )
    assert run.cancelled


def test_a_failed_value_fails_its_function_and_the_next_one_still_runs(fake) -> None:
    first, second = fake.one_result_run(over=True), fake.one_result_run(over=True)
    problem = error("Divide by zero")
    first.resolve("result", TfrtError(problem), state="error")
    first.diagnostics.append(problem)
    job = ended(job_of(fake, first, second))

    assert job.snapshot().status is Status.FAILED
    assert job.snapshot().sections[0].rows[0].text == "Divide by zero"
    assert [section.status for section in job.snapshot().sections] == [Status.FAILED, Status.DONE]
    assert job.diagnostics == (problem,)


def test_what_was_never_reached_counts_as_skipped(fake) -> None:
    run = fake.one_result_run("%in_the_other_branch", over=True)
    run.resolve("result", 3)
    assert ended(job_of(fake, run)).snapshot().sections[0].rows[1].state is State.SKIPPED


def test_a_host_that_refuses_gives_its_diagnostics(fake) -> None:
    problem = error("unknown kernel: my.kernel")

    class Refusing(fake.Host):
        def run(self, function, output, arguments):
            raise TfrtError(problem)

    job = Job(Refusing(), fake.Program().functions)
    job.start()

    assert ended(job).diagnostics == (problem,)
    assert job.snapshot().status is Status.FAILED
    assert job.results == {}


def test_a_mistake_of_ours_is_kept_for_the_main_thread(fake) -> None:
    job = Job(fake.Host(), fake.Program().functions)
    job.start()
    assert isinstance(ended(job).failure, IndexError)


def test_an_interrupt_that_a_kernel_raises_cancels_the_job_in_words(fake, monkeypatch) -> None:
    def wait(run, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(fake.Run, "wait", wait)
    job = job_of(fake, fake.one_result_run())
    snapshot = ended(job).snapshot()
    assert (snapshot.status, job.failure) == (Status.CANCELLED, None)
    assert snapshot.note == "a kernel raised KeyboardInterrupt, which cancels its run"


def test_one_result_is_itself_and_several_functions_are_a_dictionary(fake) -> None:
    first, second = fake.one_result_run(over=True), fake.one_result_run(over=True)
    first.results.append(fake.AsyncValue())
    signatures = [fake.Signature("main", (), ("i32", "i32")), fake.Signature("f", (), ("i32",))]
    job = Job(fake.Host(first, second), signatures)
    job.start()
    assert ended(job).output == {"main": tuple(first.results), "f": second.results[0]}

    only = fake.one_result_run(over=True)
    assert ended(job_of(fake, only)).output is only.results[0]


def test_any_thread_may_look_at_a_job_until_it_is_over(fake) -> None:
    run = fake.one_result_run("%a")
    job = job_of(fake, run)

    def look() -> None:
        while not job.finished.is_set():
            job.snapshot()

    with ThreadPoolExecutor() as lookers:
        looks = [lookers.submit(look) for _ in range(3)]
        for number in range(200):
            run.resolve("%a", str(number))
        run.over.set()

    assert [each.exception() for each in looks] == [None] * 3
    assert job.snapshot().sections[0].rows[1].text == "199"


def test_many_missing_values_are_counted() -> None:
    rows = tuple(Row(f"%{place}", "i32", State.UNAVAILABLE) for place in range(7))
    assert waiting_for(Section("f", Status.RUNNING, rows)) == (
        "@f was still waiting for %0, %1, %2, %3, %4 and 2 more"
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [([], ("", 0)), (["ab", "c"], ("abc", 0)), (["abc", "def", "g"], ("abcd", 3))],
)
def test_a_log_keeps_its_beginning_and_counts_the_rest(written, read) -> None:
    log = Log(limit=4)
    for text in written:
        log.write(text)
    assert log.read() == read


def test_of_very_many_values_the_first_have_rows_and_the_others_are_counted(fake) -> None:
    run = fake.one_result_run(*(f"%{place}" for place in range(ROW_LIMIT + 10)))
    run.resolve(f"%{ROW_LIMIT}", "1")
    job = job_of(fake, run)
    job.wait_for_results()
    section = job.snapshot().sections[0]
    missing = job.missing()
    run.over.set()
    ended(job)

    assert len(section.rows) == ROW_LIMIT + 1
    assert section.hidden == Progress(1, 10)
    assert progress([section]) == Progress(1, ROW_LIMIT + 10)
    assert missing.endswith(f"%4 and {ROW_LIMIT + 4} more")
