"""What each repair does, in words for a person."""

from collections.abc import Mapping

from actors.projection import RepairRule

_WORDS: Mapping[str, str] = {
    "empty_text": "leaves out a text that is empty",
    "empty_message": "leaves out the message: it says nothing",
    "empty_result": "puts a short placeholder into the result, which is empty",
    "foreign_reasoning": "leaves out reasoning that another model wrote",
    "lone_reasoning": "leaves out reasoning that nothing follows",
    "unbound_reasoning": "leaves out reasoning, since what stands before it has changed",
    "block_kind": "replaces what a message of this role may not hold, by words where there are some",
    "unicode": "replaces characters that cannot be sent (U+FFFD)",
    "arguments": "makes an object of the arguments of a call",
    "result_moved": "moves the result right behind its call",
    "moved_behind_results": "moves the message behind the results that it keeps from their call",
    "result_missing": "adds a result that says truthfully that the outcome of the call is unknown",
    "result_without_call": "leaves out the result: no call asked for it",
    "result_duplicate": "leaves out the result: its call has one already",
    "call_id_reused": "gives the call and its result an id of their own",
    "system_place": "makes wrapped user text of the system message, which may not stand here",
    "cache_marks": "takes off a cache mark: there are too many",
}


def words_of(rule: RepairRule) -> str:
    """One sentence without a subject; a rule that has none yet is told by its name."""
    return _WORDS.get(rule.value) or rule.value.replace("_", " ")
