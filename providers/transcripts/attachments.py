"""Images and documents as each format writes them."""

import re

from providers.model import FileBlock, ImageBlock
from providers.reading import JsonObject
from providers.transcripts.fields import Notes, shown
from providers.transcripts.model import NoteRule, Path

_MEDIA_TYPE = re.compile(r"data:([\w.+-]+/[\w.+-]+)[;,]")
_ANTHROPIC_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
SOME_IMAGE = "image/*"
SOME_FILE = "application/octet-stream"


def image_of_url(url: str) -> ImageBlock:
    """An image by its URL, which may hold it; of another one the type is not known."""
    return ImageBlock(_media_type(url, SOME_IMAGE), url)


def file_of_url(url: str, name: str | None) -> FileBlock:
    return FileBlock(_media_type(url, SOME_FILE), data_url=url, name=name)


def _media_type(url: str, otherwise: str) -> str:
    found = _MEDIA_TYPE.match(url)
    return found[1] if found else otherwise


def anthropic_image(fields: JsonObject, path: Path, notes: Notes) -> ImageBlock:
    media_type, url = _source(fields, path, notes)
    if media_type and media_type not in _ANTHROPIC_IMAGES:
        text = f"an image is jpeg, png, gif or webp, not {shown(media_type)}"
        notes.add(NoteRule.MEDIA_TYPE, path, text)
    return ImageBlock(media_type or SOME_IMAGE, url)


def anthropic_document(fields: JsonObject, path: Path, notes: Notes) -> FileBlock:
    """A document; where its source is a text, with the text."""
    name = notes.optional_text(fields, "title", path)
    source = fields.get("source")
    if isinstance(source, dict) and source.get("type") == "text":
        return FileBlock("text/plain", text=notes.text(source, "data", (*path, "source")), name=name)
    if isinstance(source, dict) and source.get("type") == "content":
        return FileBlock("text/plain", text=_texts(source, (*path, "source"), notes), name=name)
    media_type, url = _source(fields, path, notes)
    return FileBlock(media_type or SOME_FILE, data_url=url, name=name)


def _texts(source: JsonObject, path: Path, notes: Notes) -> str:
    if isinstance(content := source.get("content"), str):
        return content
    texts = []
    for at, block in notes.objects(content, (*path, "content"), "a block"):
        is_text = block.get("type") == "text"
        texts.append(
            notes.text(block, "text", at) if is_text else notes.unknown_type(notes.type_of(block, at), at)
        )
    return "\n".join(texts)


def _source(fields: JsonObject, path: Path, notes: Notes) -> tuple[str | None, str]:
    """Media type and URL of a source: what it holds, where it lies, or the id of an uploaded file."""
    path = (*path, "source")
    source = notes.object(fields.get("source"), path, "a source")
    if source is None:
        return None, ""
    match source.get("type"):
        case "base64":
            media_type = notes.text(source, "media_type", path)
            return media_type, f"data:{media_type};base64,{notes.text(source, 'data', path)}"
        case "url":
            return None, notes.text(source, "url", path)
        case "file":
            return None, f"file_id:{notes.text(source, 'file_id', path)}"
        case other:
            text = f"the source type {shown(other)} is not known here and was not judged"
            notes.add(NoteRule.UNKNOWN_TYPE, path, text, is_refused=False)
            return None, ""
