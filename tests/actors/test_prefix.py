"""Which leading entries are a prefix that an import brought; the recorded ones are in the vectors."""

from dataclasses import replace

from actors.history import Presentation
from actors.prefix import prefix_length
from providers.model import Content, FileBlock, Role, TextBlock
from tests.actors.projection.entries import said, user

_TAGGED = "<system-reminder>\nx\n</system-reminder>"


def _length(content: Content, *, presentation: str | None = None) -> int:
    return prefix_length((replace(said(Role.USER, content), presentation=presentation), user("u")))


def test_a_message_that_begins_with_the_tag_is_prefix_unless_it_was_presented() -> None:
    assert _length(_TAGGED) == 1
    assert _length(_TAGGED, presentation=Presentation.SUBAGENT_REPLY.value) == 0


def test_a_message_without_content_is_no_prefix() -> None:
    assert _length(None) == 0


def test_a_file_without_text_before_the_tag_says_nothing() -> None:
    assert _length((FileBlock("application/pdf", name="a.pdf"), TextBlock(_TAGGED))) == 1
    assert _length((FileBlock("text/plain", text="t"), TextBlock(_TAGGED))) == 0
