#!/usr/bin/env bash
# pygls: the position of the end of a document without a final newline is a line that does not exist.
#
# Versions: pygls 2.1.1, lsprotocol as pygls requires it, CPython 3.11.
# Behavior: `TextDocument.client_position_at_offset(len(source))` of "a" is line 1, character 0, although the document has
#   only line 0; of "a\nb" it is line 2.  With a final newline it is right.  For an empty document it raises
#   UnboundLocalError.  The way back, `offset_at_position`, clamps, so a round trip hides the fault.
# Why it matters: a diagnostic or an edit that ends where the text ends, such as one that replaces the last word while it is
#   typed, gets a range outside the document.  Editors treat such a range differently, and some refuse the edit.
# Workaround: count newlines before the offset, and convert the characters of that line by `position_codec`.
#
# Output:
#   'a\n' ends at 1:0
#   'a' ends at 1:0 and back at 1
#   'a\nb' ends at 2:0 and back at 3
#   '' UnboundLocalError
set -euo pipefail
expected="'a\\n' ends at 1:0
'a' ends at 1:0 and back at 1
'a\\nb' ends at 2:0 and back at 3
'' UnboundLocalError"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pygls==2.1.1
cat >"$folder/finding.py" <<'PYTHON'
from pygls.workspace import TextDocument

for source in ("a\n", "a", "a\nb", ""):
    document = TextDocument("file:///finding", source)
    try:
        end = document.client_position_at_offset(len(source))
    except UnboundLocalError as problem:
        print(repr(source), type(problem).__name__)
        continue
    back = "" if source.endswith("\n") else f" and back at {document.offset_at_position(end)}"
    print(f"{source!r} ends at {end.line}:{end.character}{back}")
PYTHON
printed=$("$folder/venv/bin/python" "$folder/finding.py")
echo "$printed"
[ "$printed" = "$expected" ] || { echo "this is another output than that of the header" >&2; exit 1; }
