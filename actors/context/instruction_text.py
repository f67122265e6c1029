"""Bytes of an instruction file as text, cut at a limit between two characters."""

import codecs

LIMIT_BYTES = 100 * 1024


def read_text(data: bytes) -> tuple[str, bool]:
    """The text of the first 100 KiB, and whether anything was behind them.

    A byte order mark is no part of the text.

    Raises:
        UnicodeDecodeError: the bytes before the cut are not UTF-8.
    """
    is_cut = len(data) > LIMIT_BYTES
    decoder = codecs.getincrementaldecoder("utf-8")()
    return decoder.decode(data[:LIMIT_BYTES], final=not is_cut).removeprefix("\ufeff"), is_cut
