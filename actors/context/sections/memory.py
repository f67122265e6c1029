"""Where the project's memory lives and what its files look like."""

from actors.context.quoting import one_line
from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues

_FORMAT = """\
Each note is a Markdown file of its own and holds one fact:

```
---
name: a-few-words-with-dashes
description: one line by which to tell whether the note matters
---
The fact, and how it is known.
```

`MEMORY.md` beside them is the index, one line a note: `- [name](name.md): description`. Keep the index \
short: of a long one only the beginning is read.
- Keep what a later session will need and cannot see: what the user prefers, what was decided and why, where \
things are outside this project. Leave out what the code or its history says.
- Before adding a note look for one to correct. Delete what turned out wrong.
- A note tells what was true when it was written: check it before you build on it. Keep no secrets there."""


def memory(values: ContextValues) -> Section | None:
    if values.memory is None:
        return None
    where = f"This project has a memory that outlives the session, in {one_line(values.memory.directory)}."
    return Section("memory", "Memory", f"{where}\n{_FORMAT}", GoesTo.SYSTEM, CacheHint.DYNAMIC)
