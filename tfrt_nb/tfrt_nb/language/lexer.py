"""A Pygments lexer for programs in terminals and on pages that nbconvert creates."""

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)


class TfrtLexer(RegexLexer):  # type: ignore[misc]
    """Programs in MLIR, with or without a line `%%tfrt` above them."""

    name = "TFRT host programs and MLIR"
    aliases = ["tfrt", "mlir"]  # noqa: RUF012  Pygments reads it
    filenames = ["*.mlir"]  # noqa: RUF012

    tokens = {  # noqa: RUF012
        "root": [
            (r"\A(%%\w+|%tfrt\w*)([^\n]*)", bygroups(Name.Function.Magic, String)),
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"[A-Za-z_][\w$]*(?:\.[\w$]+)+"(?=\s*\()', Name.Function),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r"%[\w$.-]+(?:#\d+)?", Name.Variable),
            (r'@(?:[\w$.-]+|"[^"\n]*")', Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"![\w$.]+", Keyword.Type),
            (r"#[\w$.]+", Name.Constant),
            (r"\b[A-Za-z_][\w$]*(?:\.[\w$]+)+", Name.Builtin),
            (r"(?:[su]?i\d+|b?f\d+|index|none|memref|tensor|vector|complex)\b", Keyword.Type),
            (r"\b(?:true|false|unit|dense)\b", Keyword.Constant),
            (r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", Number),
            (r"[?*]?x(?=[iu\d?bf!])", Punctuation),
            (
                r"\b(?:private|public|nested|attributes|to|step|do|else|then|loc|func|module)\b(?!\.)",
                Keyword,
            ),
            (r"[A-Za-z_$][\w$]*", Name.Attribute),
            (r"->|[=:+*/?|&;-]", Operator),
            (r"[(){}<>\[\],.]", Punctuation),
            (r".", Text),
        ]
    }
