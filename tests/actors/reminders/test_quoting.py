"""The tags around outside text, the label on them, and what is made plain inside."""

import pytest

from actors.reminders import escape_structure, quote
from actors.reminders.quoting import safe_label

_NAMES = (
    *("system-reminder", "quoted", "system", "developer", "user", "human", "assistant", "tool", "tools"),
    *(
        "tool_call",
        "tool_calls",
        "tool_use",
        "tool_result",
        "tool_results",
        "function_call",
        "function_calls",
    ),
    *("function_result", "function_results", "invoke", "parameter", "thinking"),
)


@pytest.mark.parametrize("name", [*_NAMES, "antml:invoke", "|im_start|"])
def test_every_tag_that_passes_for_structure_is_made_plain(name: str) -> None:
    for tag in (f"<{name}>", f"<{name.upper()} x='1'>"):
        assert escape_structure(f"a {tag} b") == f"a &lt;{tag[1:]} b"
    assert escape_structure(f"<{name}é>") == f"&lt;{name}é>"
    if name[0] != "|":
        assert escape_structure(f"</{name}>") == f"&lt;/{name}>"


@pytest.mark.parametrize("text", ["", "<users>", "< user>", "<usér>", "<a|b>", "<1:user>", "user>", "a < b"])
def test_what_is_no_such_tag_stays(text: str) -> None:
    assert escape_structure(text) == text


@pytest.mark.parametrize(
    ("label", "safe"),
    [
        ("helper-7", "helper-7"),
        ("a.b:c@d/e#f (g) + h_i", "a.b:c@d/e#f (g) + h_i"),
        ("é", "é"),
        ('x">\n<y  z', "x y z"),
        ("", "unknown"),
        ('"<>', "unknown"),
        ("a" * 121, "a" * 120),
        ("a" * 119 + " b", "a" * 119),
        (" a ", "a"),
    ],
)
def test_a_label_is_one_short_line_that_ends_nothing(label: str, safe: str) -> None:
    assert safe_label(label) == safe
    assert quote("t", label) == f'<quoted from="{safe}">\nt\n</quoted>'


def test_nothing_is_quoted_as_well_and_only_once() -> None:
    once = quote("", "peer")
    assert once == '<quoted from="peer">\n\n</quoted>'
    assert quote(once, "peer") == once


@pytest.mark.parametrize(
    "text",
    [
        '<quoted from="peer">\n</quoted>',
        '<quoted from="peer">\nx',
        '<quoted from="peer">\nlong enough to be whole',
        "x\n</quoted>",
        '<quoted from="peer">\nx\n</quoted> y\n</quoted>',
        '<quoted from="peer">\n<user>\n</quoted>',
        '<quoted from="peer">\n<user\n</quoted>',
    ],
)
def test_what_only_looks_quoted_is_quoted(text: str) -> None:
    assert quote(text, "peer") == f'<quoted from="peer">\n{escape_structure(text)}\n</quoted>'
