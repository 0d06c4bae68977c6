"""Let a page send requests through a BroadcastChannel, while a cell runs and between cells.

See `test_page`.
"""

import asyncio
import json

import js
from lite_shell import RUN, listeners, published, run, sent
from pyodide.ffi import can_run_sync, create_proxy

FOREVER = """
func.func @forever(%x: i32) -> (i32, i1) {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  %true = tfrt.constant.i1 true
  tfrt.return %y, %true : i32, i1
}
func.func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %true = tfrt.constant.i1 true
  %a = tfrt.while %true @forever(%zero) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %a : i32
}"""
STEPPED = """
func.func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %x
  %z = tfrt.add.i32 %y, %y
  tfrt.return %z : i32
}"""

page = js.BroadcastChannel.new("tfrt-a page")
answers = {}


def on_answer(event):
    message = json.loads(event.data)
    if "reply" in message:
        answers[message["reply"]] = message["answer"]


page.onmessage = create_proxy(on_answer)


def ask(**question):
    page.postMessage(json.dumps({"id": len(answers), "question": question}))


async def answered(**question):
    answers.clear()
    ask(**question)
    while not answers:
        await asyncio.sleep(0.01)
    return answers[0]


asked = []


def ask_once(data):
    """Send one request for each run that starts."""
    if data.get(RUN, {}).get("status") == "running" and not asked:
        asked.append(data[RUN]["run"])
        ask(**{question: asked[0]})


listeners.append(ask_once)


def last_run():
    return next(data[RUN]["run"] for data in reversed(published) if RUN in data)


print("stacks can be switched:", can_run_sync())
run("%%tfrt" + STEPPED)
await answered(stages=last_run())  # noqa: F704, PLE1142
stages = next(message["stages"] for message in reversed(sent) if "stages" in message)
print("between cells:", [row["name"] for row in stages["rows"]])
for question, line, text in (("cancel", "-f main", FOREVER), ("step", "--step", STEPPED)):
    asked.clear()
    shown, problem = run(f"%%tfrt --timeout 3 {line}{text}")
    print(
        question + ":",
        str(problem).partition(";")[0],
        [data[RUN]["status"] for data in shown[-1:] if RUN in data],
    )
