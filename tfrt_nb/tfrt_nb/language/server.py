"""Implement `tfrt-nb lsp`, which offers `answers` and `lint` over the Language Server Protocol.

One thread answers every request, using the text that the editor sent last, so a document cannot
change while it is being read. The specification (3.17) is at
https://microsoft.github.io/language-server-protocol/.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.workspace import TextDocument

from tfrt_nb.language import answers
from tfrt_nb.language.answers import Place
from tfrt_nb.language.lint import fixes, lint
from tfrt_nb.report import end_of
from tfrt_runtime.diagnostics import Diagnostic, Location

PAUSE_SECONDS = 0.02
"""The delay between a keypress and the check of the document.

Another keypress within the delay restarts it, so that both are checked together.
"""
REQUEST_FAILED = -32803
_KINDS = {
    "kernel": lsp.CompletionItemKind.Function,
    "operation": lsp.CompletionItemKind.Function,
    "value": lsp.CompletionItemKind.Variable,
    "type": lsp.CompletionItemKind.TypeParameter,
    "function": lsp.CompletionItemKind.Method,
    "keyword": lsp.CompletionItemKind.Keyword,
    "attribute": lsp.CompletionItemKind.Property,
    "predicate": lsp.CompletionItemKind.EnumMember,
    "dialect": lsp.CompletionItemKind.Module,
}
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "remark": lsp.DiagnosticSeverity.Information,
    "note": lsp.DiagnosticSeverity.Hint,
}


class _Protocol(LanguageServerProtocol):
    """A protocol that replies even to requests with invalid parameters.

    pygls only shows a message for such a request.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as problem:
            if "id" in data and "method" in data:
                self._send_response(data["id"], None, problem.to_response_error())
            raise


def make_server() -> LanguageServer:
    """Return a server. Its `start_io()` serves standard input and output until the client exits."""
    server = LanguageServer("tfrt-nb", version("tfrt-nb"), protocol_cls=_Protocol)
    pending = dict[str, asyncio.TimerHandle]()

    def look(uri: str) -> None:
        pending.pop(uri, None)
        document = server.workspace.get_text_document(uri)
        found = [_diagnostic(document, one) for one in lint(document.source, uri)]
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, found, document.version)
        )

    def forget(uri: str) -> None:
        if (earlier := pending.pop(uri, None)) is not None:
            earlier.cancel()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(
        params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams,
    ) -> None:
        uri = params.text_document.uri
        forget(uri)
        pending[uri] = asyncio.get_running_loop().call_later(PAUSE_SECONDS, look, uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        forget(params.text_document.uri)
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(params.text_document.uri, [])
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[*'.%@!"'])
    )
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        document, cursor = _at(server, params)
        offered = answers.complete(document.source, cursor)
        start = offered[0].start if offered else cursor  # all completions have the same start
        where = _range(document, Place(start, cursor))
        items = [
            lsp.CompletionItem(
                one.text,
                lsp.CompletionItemLabelDetails(f" {one.type}" if one.type else None, one.kind),
                kind=_KINDS[one.kind],
                detail=f"{one.kind} {one.type}".rstrip(),
                # Without this text, editors sort the completions by their labels.
                sort_text=f"{place:04}",
                text_edit=lsp.TextEdit(where, one.text),
            )
            for place, one in enumerate(offered)
        ]
        # The list is marked as incomplete, because the next keypress may need other items. An
        # editor that only filters these items would miss the others (`add` also offers
        # `tfrt.add.i32`).
        return lsp.CompletionList(is_incomplete=True, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document, cursor = _at(server, params)
        found = answers.explain(document.source, cursor)
        plain = lsp.MarkupKind.PlainText
        return None if found is None else lsp.Hover(lsp.MarkupContent(plain, found))

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=[*" ,({"])
    )
    def help_with(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        document, cursor = _at(server, params)
        found = answers.signature(document.source, cursor)
        if found is None:
            return None
        parts = [lsp.ParameterInformation(part) for part in found.parts]
        one = lsp.SignatureInformation(found.label, found.text or None, parts, found.active)
        return lsp.SignatureHelp([one], 0, found.active)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(params: lsp.DefinitionParams) -> lsp.Location | None:
        document, cursor = _at(server, params)
        found = answers.definition(document.source, cursor)
        return None if found is None else lsp.Location(document.uri, _range(document, found))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, cursor = _at(server, params)
        places = answers.references(document.source, cursor)
        if not params.context.include_declaration:
            places = [one for one in places if one != answers.definition(document.source, cursor)]
        return [lsp.Location(document.uri, _range(document, one)) for one in places]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, cursor = _at(server, params)
        places = answers.references(document.source, cursor)
        return [lsp.DocumentHighlight(_range(document, one)) for one in places]

    @server.feature(lsp.TEXT_DOCUMENT_RENAME)
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        document, cursor = _at(server, params)
        try:
            spelling, places = answers.rename(document.source, cursor, params.new_name)
        except ValueError as problem:
            raise JsonRpcException(str(problem), REQUEST_FAILED) from None
        edits = [lsp.TextEdit(_range(document, one), spelling) for one in places]
        return lsp.WorkspaceEdit({document.uri: edits})

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])
    )
    def fix(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = server.workspace.get_text_document(params.text_document.uri)
        return [
            lsp.CodeAction(
                f"Write {text.strip()}",
                lsp.CodeActionKind.QuickFix,
                diagnostics=[shown],
                edit=lsp.WorkspaceEdit(
                    {document.uri: [lsp.TextEdit(_range(document, place), text)]}
                ),
            )
            for one in lint(document.source, document.uri)
            if _overlap((shown := _diagnostic(document, one)).range, params.range)
            for place, text in fixes(document.source, one)
        ]

    return server


def _at(server: LanguageServer, params: Any) -> tuple[TextDocument, int]:
    """Return the document of a request, and the offset of the request's position in the text."""
    document = server.workspace.get_text_document(params.text_document.uri)
    number, column = params.position.line, params.position.character
    before, rest = 0, document.source
    for line in rest.split("\n")[:number]:
        before += len(line) + 1
    line = rest[before:].partition("\n")[0]
    codec = document.position_codec
    # A column past the end means the end of the line, but pygls recognizes that only if a line
    # ending follows.
    place = codec.position_from_client_units([line + "\n"], lsp.Position(0, column))
    return document, min(before + place.character, len(rest))


def _range(document: TextDocument, place: Place) -> lsp.Range:
    """Convert a place to the client's units, which count lines and columns from 0.

    Rejected alternative: `client_position_at_offset`, which puts the end of the last line one line
    too low.
    """

    def position(offset: int) -> lsp.Position:
        line = text.rfind("\n", 0, offset) + 1
        column = document.position_codec.client_num_units(text[line:offset])
        return lsp.Position(text.count("\n", 0, line), column)

    text = document.source
    return lsp.Range(position(place.start), position(place.end))


def _span(document: TextDocument, place: Location) -> lsp.Range:
    """Return the span to underline for a location.

    If the location is only a point, the span is the word at that point.
    """
    lines = document.source.split("\n")
    number = min(max(place.line, 1), len(lines))
    line = lines[number - 1]
    column = min(max(place.column, 1), len(line) + 1)
    before = sum(len(one) + 1 for one in lines[: number - 1])
    end = min(end_of(place, line, column) - 1, len(line))
    return _range(document, Place(before + column - 1, before + end))


def _diagnostic(document: TextDocument, one: Diagnostic) -> lsp.Diagnostic:
    """Convert a diagnostic to the client's form.

    The notes follow the message. A note about a place in the document is also a link.
    """
    where = one.location if isinstance(one.location, Location) else Location(document.uri, 1, 1)
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(document.uri, _span(document, note.location)), note.message
        )
        for note in one.notes
        if isinstance(note.location, Location) and note.location.source == document.uri
    ]
    return lsp.Diagnostic(
        _span(document, where),
        "\n".join([one.short_message, *(note.short_message for note in one.notes)]),
        _SEVERITIES[one.severity],
        source="tfrt-nb",
        related_information=related or None,
    )


def _overlap(one: lsp.Range, other: lsp.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
