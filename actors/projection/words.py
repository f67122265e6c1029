"""What each repair does, in words for a person."""

from collections.abc import Mapping

from actors.projection.model import RepairRule

_R = RepairRule
_WORDS: Mapping[RepairRule, str] = {
    _R.EMPTY_TEXT: "leaves out a text that is empty",
    _R.EMPTY_MESSAGE: "leaves out the message: it says nothing",
    _R.EMPTY_RESULT: "puts a short placeholder into the result, which is empty",
    _R.FOREIGN_REASONING: "leaves out reasoning that another model wrote",
    _R.LONE_REASONING: "leaves out reasoning that nothing follows",
    _R.UNBOUND_REASONING: "leaves out reasoning, since what stands before it has changed",
    _R.REPEATED_REASONING: "leaves out reasoning that stands before it already",
    _R.EMPTY_SIGNATURE: "leaves out reasoning whose signature is empty",
    _R.ATTACHMENT: "says in words that an attachment was here: it holds no data that can be sent",
    _R.BLOCK_KIND: "replaces what a message of this role may not hold, by words where there are some",
    _R.UNICODE: "replaces characters that cannot be sent (U+FFFD)",
    _R.ARGUMENTS: "makes an object of the arguments of a call",
    _R.RESULT_MOVED: "moves the result right behind its call",
    _R.MOVED_BEHIND_RESULTS: "moves the message behind the results that it keeps from their call",
    _R.RESULT_MISSING: "adds a result that says truthfully that the outcome of the call is unknown",
    _R.RESULT_WITHOUT_CALL: "leaves out the result: no call asked for it",
    _R.RESULT_DUPLICATE: "leaves out the result: its call has one already",
    _R.CALL_ID_REUSED: "gives the call and its result an id of their own",
    _R.SYSTEM_PLACE: "makes wrapped user text of the system message, which may not stand here",
    _R.CACHE_MARKS: "takes off a cache mark: there are too many",
}


# These change what the model reads; the others only how it is put.
TELLING: frozenset[RepairRule] = frozenset(
    {
        _R.FOREIGN_REASONING,
        _R.UNBOUND_REASONING,
        _R.EMPTY_SIGNATURE,
        _R.ATTACHMENT,
        _R.BLOCK_KIND,
        _R.UNICODE,
        _R.ARGUMENTS,
        _R.RESULT_MISSING,
        _R.RESULT_WITHOUT_CALL,
        _R.RESULT_DUPLICATE,
    }
)


def words_of(rule: RepairRule) -> str:
    """One sentence without a subject."""
    return _WORDS[rule]
