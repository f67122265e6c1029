"""What a record of a page may hold."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from host.demo.candidates import MAX_SENTENCES, SENTENCE_CHARACTERS, Record, Topic, candidates_of
from host.demo.pages import pages_of
from host.typed import ResultType

PAGE = """\
# Doors and windows

A door opens when somebody pushes it, and closes by itself. It never
waits for longer than a minute. Short one.

```python
# not a heading
print("This is code and no sentence of the page at all.")
```

## How to open one ##

- a list item that is long enough to be a sentence.
| a table | that is also long enough to be taken for prose. |
The last sentence was cut off by the end of the exc"""


def test_headings_and_whole_sentences_are_found_and_nothing_else() -> None:
    found = candidates_of(PAGE)
    assert found is not None
    assert found.titles == ("Doors and windows", "How to open one")
    assert found.sentences == (
        "A door opens when somebody pushes it, and closes by itself.",
        "It never waits for longer than a minute.",
    )


@pytest.mark.parametrize("text", ["", "\n \n", "###", "```\ncode\n```"])
def test_a_page_without_words_offers_nothing(text: str) -> None:
    assert candidates_of(text) is None


def test_a_page_without_headings_or_sentences_offers_its_first_line() -> None:
    found = candidates_of("word " * 100)
    assert found is not None
    assert found.titles == found.sentences
    assert len(found.titles) == 1
    assert len(found.titles[0]) < SENTENCE_CHARACTERS.stop


def test_there_are_never_more_than_a_few_and_none_twice() -> None:
    found = candidates_of("# A\n# A\n" + "This sentence stands here again and again. " * 9)
    assert found is not None
    assert found.titles == ("A",)
    assert len(found.sentences) == 1
    found = candidates_of("".join(f"This is sentence number {n} of the page. " for n in range(9)))
    assert found is not None
    assert len(found.sentences) == MAX_SENTENCES


def test_the_record_takes_a_candidate_and_nothing_else() -> None:
    found = candidates_of(PAGE)
    assert found is not None
    kind = found.record_type()
    record = kind(title="How to open one", topic=Topic.GUIDE, key_sentence=found.sentences[0])
    assert isinstance(record, Record)
    assert found.allow(record)
    assert not found.allow(Record(title="Annex", topic=Topic.GUIDE, key_sentence=found.sentences[0]))
    with pytest.raises(ValidationError, match="one of"):
        kind(title="Annex", topic=Topic.GUIDE, key_sentence=found.sentences[0])


def test_the_schema_has_an_enum_for_every_field_even_for_a_single_candidate() -> None:
    found = candidates_of("one line")
    assert found is not None
    schema = ResultType(found.record_type()).schema
    text = json.dumps(schema)
    assert text.count('"enum": ["one line"]') == 2
    assert "const" not in text
    assert all(topic.value in text for topic in Topic)


def test_a_heading_that_the_end_of_the_excerpt_cuts_is_no_candidate(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "# Doors\n\n" + "word " * 176 + "\n\n## How to open one\n"
    (tmp_path / "docs" / "doors.md").write_text(text)
    (page,) = pages_of(tmp_path)
    found = candidates_of(page.excerpt)
    assert found is not None
    assert found.titles == ("Doors",)
