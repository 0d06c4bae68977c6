"""Test `tfrt-nb lsp` with a real client, over its standard streams."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

lsp = pytest.importorskip("lsprotocol.types")
client_module = pytest.importorskip("pytest_lsp.client")
json_rpc = pytest.importorskip("pygls.exceptions")

COMMAND = (sys.executable, "-m", "tfrt_nb", "lsp")
URI = "file:///six.mlir"
PROGRAM = """// 😀 counts twice in UTF-16
func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %sum = tfrt.add.i32 %six, %n
  tfrt.return %sum : i32
}
func.func @other() -> i32 {
  %a = tfrt.constant.i32 2
  %b = tfrt.call @main(%a) : (i32) -> (i32)
  tfrt.return %b : i32
}
"""


class Session:
    """A client with one document, whose version grows with each change."""

    def __init__(self, client: Any) -> None:
        self.client, self.text, self.version = client, "", 0
        self.found: asyncio.Queue[Any] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: Any) -> None:
            self.found.put_nowait(params)

    def open(self, text: str) -> None:
        self.text = text
        document = lsp.TextDocumentItem(URI, "mlir", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def write(self, text: str) -> None:
        """Replace the whole text."""
        self.text, self.version = text, self.version + 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, URI)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self) -> list[Any]:
        """Return the diagnostics of the latest version."""
        while True:
            params = await self.found.get()
            if params.version == self.version:
                return list(params.diagnostics)

    def at(self, words: str, add: int = 0) -> dict[str, Any]:
        """Return the document and the position of some words in it."""
        before = self.text[: self.text.index(words) + add].split("\n")
        column = len(before[-1].encode("utf-16-le")) // 2
        return {
            "text_document": lsp.TextDocumentIdentifier(URI),
            "position": lsp.Position(len(before) - 1, column),
        }

    def shown(self, place: Any) -> str:
        """Return the text of a range in a line."""
        line = self.text.split("\n")[place.start.line].encode("utf-16-le")
        return line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le")

    def edited(self, edits: list[Any]) -> str:
        lines = self.text.split("\n")
        for one in sorted(edits, key=lambda one: one.range.start, reverse=True):
            line, start, end = one.range.start.line, one.range.start, one.range.end
            lines[line] = (
                lines[line][: start.character] + one.new_text + lines[line][end.character :]
            )
        return "\n".join(lines)


def serve(test: Callable[[Session], Awaitable[None]]) -> None:
    """Run a test with a server, which must exit by itself in the end."""

    async def run() -> None:
        client = client_module.LanguageClient()
        await client.start_io(*COMMAND)
        session = Session(client)
        folder = lsp.InitializeParams(lsp.ClientCapabilities())
        await client.initialize_session(folder)
        await test(session)
        await client.shutdown_session()
        assert await client._server.wait() == 0
        await client.stop()

    asyncio.run(asyncio.wait_for(run(), 240))


def test_an_editor_gets_what_a_notebook_gets() -> None:
    async def test(session: Session) -> None:
        client = session.client
        session.open(PROGRAM.replace("tfrt.add.i32 %six", "tfrt.ad %six"))
        (mistake,) = await session.diagnostics()
        assert session.shown(mistake.range) == "tfrt.ad"
        assert mistake.message.startswith("there is no operation 'tfrt.ad'")
        params = lsp.CompletionParams(**session.at("tfrt.ad", 7))
        items = (await client.text_document_completion_async(params)).items
        assert [*items] == sorted(items, key=lambda one: one.sort_text)
        assert [one.label for one in items[:2]] == ["tfrt.add.i32", "tfrt.add_s.i32"]
        assert items[0].detail == "kernel (i32, i32) -> i32"
        assert session.edited([items[0].text_edit]) == PROGRAM

        session.write(PROGRAM)
        assert await session.diagnostics() == []
        hover = await client.text_document_hover_async(lsp.HoverParams(**session.at("%six,")))
        assert hover.contents.value == "%six: i32\n\nline 3: %six = tfrt.constant.i32 6"
        params = lsp.SignatureHelpParams(**session.at("%six, %n", 6))
        found = await client.text_document_signature_help_async(params)
        label = found.signatures[0].label
        assert label == "tfrt.add.i32  (i32, i32) -> i32"
        begin, end = found.signatures[0].parameters[found.active_parameter].label
        assert (begin, label[begin:end]) == (20, "i32")
        params = lsp.DefinitionParams(**session.at("@main(%a)"))
        found = await client.text_document_definition_async(params)
        assert (found.range.start.line, session.shown(found.range)) == (1, "@main")
        for with_definition, lines in ((True, [2, 3]), (False, [3])):
            context = lsp.ReferenceContext(with_definition)
            params = lsp.ReferenceParams(context=context, **session.at("%six"))
            places = await client.text_document_references_async(params)
            assert [one.range.start.line for one in places] == lines
        params = lsp.RenameParams(new_name="half", **session.at("%six"))
        edit = await client.text_document_rename_async(params)
        assert session.edited(edit.changes[URI]) == PROGRAM.replace("%six", "%half")

    serve(test)


def test_a_note_that_says_what_to_write_is_a_quick_fix() -> None:
    wrong = (
        ("tfrt.add.i32 %six", "tfrt.addd.i32 %six"),
        ("%six, %n", "%sxi, %n"),
        ("%six, %n", "%six %n"),
        ("%sum : i32", "%sum"),
        ("@main(%a)", "@mian(%a)"),
        ("\n  tfrt.return %sum : i32", ""),
        ("}\nfunc", "func"),
    )

    async def test(session: Session) -> None:
        session.open(PROGRAM)
        for right, typed in wrong:
            session.write(PROGRAM.replace(right, typed))
            (mistake,) = await session.diagnostics()
            params = lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(URI), mistake.range, lsp.CodeActionContext([mistake])
            )
            (action,) = await session.client.text_document_code_action_async(params)
            assert session.edited(action.edit.changes[URI]) == PROGRAM
            assert [*action.diagnostics] == [mistake]

    serve(test)


def test_a_document_that_changes_is_answered_as_it_is_now() -> None:
    async def test(session: Session) -> None:
        client = session.client
        session.open("func.func @f() {\n  %a = tfrt.")
        requests = []
        for count in range(1, 30):
            session.write("\n" * count + "func.func @f() {\n  %a = tfrt.const")
            where = session.at("const", 5)
            asking = client.text_document_completion_async(lsp.CompletionParams(**where))
            requests.append(asyncio.create_task(asking))
            client.protocol.send_request(
                lsp.TEXT_DOCUMENT_HOVER,
                lsp.HoverParams(**session.at("tfrt")),
                msg_id=f"hover {count}",
            )
            client.cancel_request(lsp.CancelParams(f"hover {count}"))
        # Requests about earlier versions are answered for the latest version, without errors.
        last = (await asyncio.gather(*requests))[-1]
        assert last.items[0].label.startswith("tfrt.constant.")
        mistakes = await session.diagnostics()
        assert min(one.range.start.line for one in mistakes) >= 29
        document = lsp.TextDocumentIdentifier(URI)
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    serve(test)


def test_what_cannot_be_answered_is_an_error_and_the_server_goes_on() -> None:
    async def test(session: Session) -> None:
        client = session.client
        session.open(PROGRAM)
        document = lsp.TextDocumentIdentifier(URI)
        missing = lsp.TextDocumentIdentifier("file:///nowhere/else.mlir")
        origin = lsp.Position(0, 0)
        for name, said in (("a b", "'a b' is not a name"), ("sum", "%sum is already defined")):
            with pytest.raises(json_rpc.JsonRpcException, match=said):
                await client.text_document_rename_async(
                    lsp.RenameParams(new_name=name, **session.at("%six"))
                )
        with pytest.raises(json_rpc.JsonRpcException, match="nowhere"):
            await client.text_document_hover_async(lsp.HoverParams(missing, origin))
        with pytest.raises(json_rpc.JsonRpcException):
            await client.protocol.send_request_async("no/such/method", {"a": 1})
        far = lsp.CompletionParams(document, lsp.Position(10**6, 10**6))
        await client.text_document_completion_async(far)
        long = lsp.HoverParams(document, lsp.Position(1, 10**9))
        await client.text_document_hover_async(long)
        for text in ("", "}{" * 500, "%" * 5_000, "\x00\ud7ff\r\n\u2028@", "func.func @f(" * 300):
            session.write(text)
            await session.diagnostics()
            await client.text_document_completion_async(lsp.CompletionParams(document, origin))
        session.write(PROGRAM)
        assert await session.diagnostics() == []

    serve(test)


def test_nonsense_on_the_stream_is_survived() -> None:
    def packed(text: str) -> bytes:
        return f"Content-Length: {len(text.encode())}\r\n\r\n{text}".encode()

    def request(number: int, method: str, params: Any) -> bytes:
        return packed(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        )

    begin = request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    wrong = {"textDocument": 5, "position": {"line": -1, "character": "x"}}
    nonsense = [
        b"Content-Length: x\r\n\r\nhello\r\n\r\n",
        packed("{not json"),
        packed("[1, 2]"),
        packed('"text"'),
        packed('{"jsonrpc": "1.0", "id": 7}'),
        packed('{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"a": 1}}'),
        packed('{"jsonrpc": "2.0", "id": 99, "result": null}'),
        request(2, "textDocument/hover", wrong),
        request(3, "textDocument/completion", None),
    ]
    end = request(4, "shutdown", None) + packed('{"jsonrpc": "2.0", "method": "exit"}')
    ran = subprocess.run(
        COMMAND,
        input=begin + b"".join(nonsense) + end,
        capture_output=True,
        timeout=240,
        check=False,
    )
    answers = {}
    for part in ran.stdout.split(b"Content-Length: ")[1:]:
        message = json.loads(part.partition(b"\r\n\r\n")[2])
        if "id" in message:
            answers[message["id"]] = message
    assert {2, 3} <= {number for number, one in answers.items() if "error" in one}
    assert "result" in answers[1] and "result" in answers[4]
    assert ran.returncode == 0


def test_without_pygls_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pygls' else find(name, *rest)\n"
        "from tfrt_nb.cli.main import main; sys.exit(main(['lsp']))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr == "tfrt-nb: error: pygls is not installed: pip install 'tfrt-nb[lsp]'\n"
