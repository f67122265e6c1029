"""What every conversation begins with: values in, prefix out.

`actors.context.source` is not named here: it is the one module that looks at
the machine, and whoever needs it imports it by its own name.
"""

from actors.context.builder import build
from actors.context.section import CacheHint, Form, GoesTo, Prefix, Section, SectionReport
from actors.context.snapshot import (
    Diagnostic,
    GitState,
    InstructionFile,
    Scope,
    Snapshot,
    Unknown,
    snapshot_from_json,
    snapshot_to_json,
)
from actors.context.values import (
    ContextValues,
    DesktopContext,
    MemoryInfo,
    OutputStyle,
    SkillInfo,
    TypePrompt,
)
from actors.context.variants import Variant, variant_for

__all__ = [
    "CacheHint",
    "ContextValues",
    "DesktopContext",
    "Diagnostic",
    "Form",
    "GitState",
    "GoesTo",
    "InstructionFile",
    "MemoryInfo",
    "OutputStyle",
    "Prefix",
    "Scope",
    "Section",
    "SectionReport",
    "SkillInfo",
    "Snapshot",
    "TypePrompt",
    "Unknown",
    "Variant",
    "build",
    "snapshot_from_json",
    "snapshot_to_json",
    "variant_for",
]
