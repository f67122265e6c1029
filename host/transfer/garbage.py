"""What a file is that is no export, by its first bytes: for an error that helps. Pure."""

from host.transfer.format import FIRST_FIELD

_KINDS = (
    (b"\x1f\x8b", "a gzip file: unpack it first (gunzip -c FILE | callboard import -)"),
    (b"\x28\xb5\x2f\xfd", "a zstd file: unpack it first (zstd -dc FILE | callboard import -)"),
    (b"\xfd7zXZ\x00", "an xz file: unpack it first (xz -dc FILE | callboard import -)"),
    (b"BZh", "a bzip2 file: unpack it first (bzip2 -dc FILE | callboard import -)"),
    (b"PK\x03\x04", "a zip file: unpack it first"),
    (b"SQLite format 3\x00", "an SQLite file; a whole store is opened with --store, not imported"),
    (b"\xef\xbb\xbf", "a file that begins with a byte order mark: something has rewritten it on its way"),
    (b"\xff\xfe", "a file in UTF-16: something has rewritten it on its way"),
    (b"\xfe\xff", "a file in UTF-16: something has rewritten it on its way"),
)
_SHOWN_BYTES = 40


def what_it_is(first_line: bytes) -> str | None:
    """What was taken for an export, in words; None where the line may be the header of one."""
    for magic, what in _KINDS:
        if first_line.startswith(magic):
            return what
    if not first_line.lstrip(b" \t").startswith(b"{"):
        return f"something else, which begins with {_shown(first_line)}"
    if f'"{FIRST_FIELD}"'.encode() not in first_line:
        return f"something else: its first line has no field {FIRST_FIELD!r}"
    if first_line.endswith(b"\r\n"):
        return "a file whose lines end in CR LF: something has rewritten it on its way"
    return None


def _shown(data: bytes) -> str:
    text = data[:_SHOWN_BYTES].decode("utf-8", "ignore").rstrip("\n")
    return repr(text) if text.strip() and text.isprintable() else f"the bytes {data[:12].hex(' ')}"
