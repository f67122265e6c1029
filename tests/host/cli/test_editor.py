import pytest

from host.cli.editor import Edit, Ended, LineEditor, Submitted


def typed(*pieces: bytes) -> tuple[LineEditor, list[Edit]]:
    editor = LineEditor()
    return editor, [edit for piece in pieces for edit in editor.feed(piece)]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (b"hello", "hello"),
        (b"helo\x1b[Dl", "hello"),
        (b"hello\x7f\x7f", "hel"),
        (b"one two\x17", "one "),
        (b"one two\x15", ""),
        (b"one\x01zero \x05!", "zero one!"),
        (b"one\x1b[H\x1b[3~", "ne"),
        (b"one\x01\x0b", ""),
        (b"one\x1b[5;3~\x1bx\x07two", "onetwo"),
        ("Grüße 日本 😀".encode(), "Grüße 日本 😀"),
        (b"\xff!", "\ufffd!"),
    ],
)
def test_keys_edit_the_line(keys: bytes, text: str) -> None:
    editor, edits = typed(keys)
    assert (editor.text, edits) == (text, [])


def test_keys_may_be_cut_anywhere() -> None:
    keys = "Grüße\x1b[D\x1b[D\x7f😀\x1b[200~a\nb\x1b[201~\r".encode()
    whole, wanted = typed(keys)
    pieces, got = typed(*(bytes([byte]) for byte in keys))
    assert got == wanted == [Submitted("Gr😀a\nbße")]
    assert pieces.text == whole.text == ""


def test_enter_gives_the_line_and_begins_an_empty_one() -> None:
    editor, edits = typed(b"one\rtwo\nthr")
    assert edits == [Submitted("one"), Submitted("two")]
    assert editor.text == "thr"


def test_a_pasted_text_is_one_line_with_its_newlines() -> None:
    editor, edits = typed(b"see: \x1b[200~a\r\tb\x03\x1b[201~")
    assert edits == []
    assert editor.text == "see: a\n    b"
    assert editor.shown == "see: a⏎    b"


def test_ctrl_d_ends_only_on_an_empty_line() -> None:
    assert typed(b"\x04")[1] == [Ended()]
    assert typed(b"a\x04")[1] == []


def test_earlier_lines_come_back_and_what_was_being_written_too() -> None:
    editor, _ = typed(b"one\rtwo\rthr")
    seen = []
    for key in (b"\x1b[A", b"\x1b[A", b"\x1b[A", b"\x1b[B", b"\x1b[B", b"\x1b[B"):
        editor.feed(key)
        seen.append(editor.text)
    assert seen == ["two", "one", "one", "two", "thr", "thr"]


def test_an_empty_line_is_submitted_as_nothing_and_not_remembered() -> None:
    editor, edits = typed(b"  \r\x1b[A")
    assert edits == [Submitted("")]
    assert editor.text == ""
