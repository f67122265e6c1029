"""The command `context`: what it shows of sent requests, and that it only reads."""

import re
from dataclasses import replace

import anyio
import pytest
from pydantic import JsonValue
from rich.cells import cell_len

from actors.address import Address, AgentId
from actors.agent import Agent
from actors.history import Authority, Entry, EntryId, MessageEntry, Origin, Presentation, ReminderEntry
from actors.ports import SpawnOrder
from actors.projection import ProjectionOptions, compare, project
from actors.projection.thinking import Trace
from actors.records import (
    AgentOpened,
    AgentRole,
    EntriesAppended,
    PrefixBuilt,
    Record,
    RequestMade,
    TurnId,
)
from actors.sent import sent_request
from actors.tools import tool
from host.cli.context_diff_view import diff_lines
from host.cli.context_row import rows_of, unsent_of
from host.cli.context_view import Style, request_lines
from host.store import SqliteStore
from providers.model import CacheMark, Message, ReasoningBlock, Role, TextBlock, ToolCall, ToolSpec
from providers.scripted import ScriptedProvider, call, otherwise, routes, say
from providers.tokens import EstimateCounter
from tests.host.cli.commands import Call, caller
from tests.host.cli.processes import Home, events_of
from tests.host.hosts import scripted_host

READ = ToolSpec("read_page", "Reads a page.", {"type": "object"})
SYSTEM = Message(Role.SYSTEM, "You answer questions about the manual.", cache=CacheMark())


@pytest.fixture
def context(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs the command in this process."""
    run = caller(home, monkeypatch, capfd)
    return lambda *arguments: run("context", *arguments)


def said(
    number: int,
    role: Role,
    content: str | tuple[ReasoningBlock | TextBlock, ...],
    *calls: ToolCall,
    call_id: str | None = None,
    presentation: Presentation | None = None,
) -> MessageEntry:
    origin = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.MODEL, Role.TOOL: Origin.TOOL}[role]
    authority = Authority.USER if role is Role.USER else Authority.DATA
    name = None if call_id is None else "read_page"
    message = Message(role, content, calls, call_id, name, None if call_id is None else False)
    return MessageEntry(
        EntryId(f"ent_{number:022x}"), message, origin, authority, None, presentation, sender="user"
    )


PREFIX = MessageEntry(EntryId("prefix-0"), SYSTEM, Origin.HOST, Authority.HOST)
PAGES = (
    ToolCall("toolu_01A09q90qw90lq9178abcdef", "read_page", {"page": 12}),
    ToolCall("toolu_2", "read_page", {"page": 13}),
)
FIRST: tuple[Entry, ...] = (
    said(1, Role.USER, "How do I reset it?"),
    ReminderEntry(EntryId("ent_d"), "date_change", "It is Tuesday."),
)
LATER: tuple[Entry, ...] = (
    said(2, Role.ASSISTANT, (ReasoningBlock("Two pages."), TextBlock("Two pages may tell.")), *PAGES),
    said(3, Role.USER, "Page 12 is enough.\x1b[2J", presentation=Presentation.USER_STEER),
    said(4, Role.TOOL, "Hold the button for ten seconds.", call_id=PAGES[0].id),
    said(5, Role.TOOL, "Nobody asked.", call_id="toolu_9"),
    said(6, Role.ASSISTANT, ""),
)


def made(
    entries: tuple[Entry, ...],
    *,
    fingerprint: str | None = None,
    marks: bool = True,
    midway: bool = False,
    reader: str = "reader",
) -> RequestMade:
    options = ProjectionOptions(
        mid_conversation_system=midway, apply_cache_control=marks, model=reader, tools=(READ,)
    )
    messages = project((PREFIX, *entries), options).messages
    trace = Trace((READ,))
    trace.take(messages)
    return RequestMade(
        turn_id=TurnId("turn_1"),
        model="some:reader",
        reader=reader,
        mid_conversation_system=midway,
        peers_may_use_system_role=False,
        cache_marks=marks,
        n_messages=len(messages),
        n_tokens=1_234,
        fingerprint=fingerprint or trace.fingerprint(),
        at=1_800_000_000.0,
    )


RECORDS: tuple[Record, ...] = (
    EntriesAppended(FIRST),
    PrefixBuilt((PREFIX,), (READ,)),
    made(FIRST),
    EntriesAppended(LATER),
    made((*FIRST, *LATER)),
)


def stored(home: Home, *records: Record, name: str = "main", session_id: str = "sess_1") -> None:
    """A session of this name with these records behind its first one."""

    async def store_them() -> None:
        root = AgentId(session_id)
        async with SqliteStore(home.store) as store, await store.lease(root):
            opened = AgentOpened(root, Address(name), AgentRole.MAIN, root, None, {}, "/", 1.0)
            log = await store.create(opened)
            if records:
                log.submit(records, lambda error: None)

    anyio.run(store_them)


SHOWN = """\
session sess_1 · agent main · request 2 of 2
TIME · some:reader · 1,234 tokens expected
7 messages · 2 cache marks · 168 tokens by estimate
as it was sent

#  role       origin  authority  tokens  mark  text
   tools                             14        1: read_page
1  system     host    host           13  *     You answer questions about the m…
2  user       host    host           17        [date_change] It is Tuesday.
      moved: date_change stands where its turn begins
3  user       user    user            6        How do I reset it?
4  assistant  model   data           23        [thinking] Two pages may tell.
      → read_page …abcdef {"page": 12}
      → read_page toolu_2 {"page": 13}
      repair: adds a result that says truthfully that the outcome of the call is
        unknown
5  tool       tool    data           11        read_page …abcdef: Hold the butt…
6  tool       host    host           32        [made up] read_page toolu_2 fail…
7  user       user    user           52  *     [user_steer] Page 12 is enough.[…
      moved: nothing may stand between a call and its results

in the history, and not sent:
      tool …000005: no call asked for this result · Nobody asked.
      assistant …000006: it says nothing
"""
DIFFERENCE = """\
session sess_1 · agent main · requests 1 → 2 of 2
request 1: TIME · some:reader · 3 messages
request 2: TIME · some:reader · 7 messages

the same: 1 tool, the first 3 messages; 50 tokens by estimate
first difference: message 4 (new), new in the history

was  now        role       tokens  text
  3    3  mark  user            6  How do I reset it?
           the mark moved away
  –    4  new   assistant      23  [thinking] Two pages may tell.
  –    5  new   tool           11  read_page …abcdef: Hold the button for ten s…
  –    6  new   tool           32  [made up] read_page toolu_2 failed: No resul…
           stands for a result that is not there
  –    7  new   user           52  [user_steer] Page 12 is enough.[2J
"""


def shown(records: tuple[Record, ...], width: int | None, *, is_full: bool = False) -> list[str]:
    counter = EstimateCounter()
    sent = sent_request(records)
    rows, style = rows_of(sent, counter), Style(width, is_full)
    return list(request_lines("session s · agent a", sent, rows, unsent_of(sent), counter, style))


def difference(records: tuple[Record, ...], width: int | None) -> list[str]:
    counter = EstimateCounter()
    requests = sent_request(records, 1), sent_request(records, 2)
    rows = rows_of(requests[0], counter), rows_of(requests[1], counter)
    return list(diff_lines("session s", requests, rows, compare(*requests), counter, Style(width)))


def _timeless(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text).replace("\r\n", "\n")


@pytest.mark.real
@pytest.mark.parametrize(("arguments", "wanted"), [((), SHOWN), (("--diff", "1"), DIFFERENCE)])
def test_a_person_sees_every_message_of_a_request_and_what_changed(
    home: Home, arguments: tuple[str, ...], wanted: str
) -> None:
    stored(home, *RECORDS)
    with home.terminal("context", "main", *arguments, COLUMNS="80") as terminal:
        assert terminal.ends() == 0
        assert _timeless(terminal.text) == wanted


@pytest.mark.parametrize("width", [80, 100, 200])
def test_lines_fit_the_terminal_and_use_its_width(width: int) -> None:
    calls = (ToolCall("c1", "read_page", {"pages": list(range(100))}),)
    long = (said(1, Role.USER, "word " * 100), said(2, Role.ASSISTANT, "so " * 100, *calls))
    records = (EntriesAppended(long), PrefixBuilt((PREFIX,), (READ,)), made(long))
    lines = shown(records, width)
    assert max(map(len, lines)) == width
    (call_line,) = (line for line in lines if "→ read_page" in line)
    assert (len(call_line), call_line[-1]) == (width, "…")
    assert max(map(len, difference(RECORDS, width))) <= width


WIDE = "手順書の十二頁を読んでください。🙂 "


@pytest.mark.parametrize("width", [5, 12, 20, 30, 40, 41, 60, 80])
@pytest.mark.parametrize("words", ["word ", WIDE])
def test_no_line_takes_more_cells_than_the_terminal_has(width: int, words: str) -> None:
    calls = (ToolCall("c1", words.strip(), {"pages": words * 9}),)
    entries = (
        said(1, Role.USER, words * 30, presentation=Presentation.USER_STEER),
        said(2, Role.ASSISTANT, words * 30, *calls),
        said(3, Role.TOOL, words * 30, call_id="c1"),
        said(4, Role.TOOL, words * 30, call_id="c9"),
    )
    first = (PrefixBuilt((PREFIX,), (READ,)), EntriesAppended(entries[:1]), made(entries[:1]))
    records = (*first, EntriesAppended(entries[1:]), made(entries))
    for lines in (shown(records, width), difference(records, width)):
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (80, ["#", "role", "origin", "authority", "tokens", "mark", "text"]),
        (50, ["#", "role", "origin", "tokens", "mark", "text"]),
        (40, ["#", "role", "tokens", "mark", "text"]),
        (30, ["#", "role", "text"]),
        (16, ["#", "text"]),
        (10, ["text"]),
    ],
)
def test_a_narrow_terminal_shows_the_columns_that_matter_most(width: int, heads: list[str]) -> None:
    lines = shown(RECORDS, width)
    assert heads in [line.split() for line in lines]


def test_columns_stand_below_each_other_where_characters_are_wide() -> None:
    entries = (said(1, Role.USER, WIDE * 9), said(2, Role.ASSISTANT, "so " * 99))
    lines = shown((EntriesAppended(entries), made(entries)), 60)[-3:]
    assert {cell_len(line) for line in lines[-2:]} <= {59, 60}


def test_in_a_pipe_nothing_is_cut_and_cells_are_parted_by_tabs(home: Home, context: Call) -> None:
    text = "word " * 500
    entries = (said(1, Role.USER, text),)
    stored(home, EntriesAppended(entries), PrefixBuilt((PREFIX,), (READ,)), made(entries))
    done = context("main")
    assert (done.stderr, done.code) == ("", 0)
    last = done.stdout.splitlines()[-1].split("\t")
    assert last[:4] == ["2", "user", "user", "user"]
    assert last[6] == text.strip()


def test_nothing_of_a_text_steers_the_terminal(home: Home, context: Call) -> None:
    stored(home, *RECORDS)
    for arguments in ((), ("--full",), ("--diff", "1"), ("--diff", "1", "--full")):
        assert "\x1b" not in context("main", *arguments).stdout


def test_in_full_the_words_are_those_that_the_model_got(home: Home, context: Call) -> None:
    stored(home, *RECORDS)
    done = context("main", "--full")
    assert "      | <system-reminder>\n      | It is Tuesday.\n" in done.stdout
    assert "      | [thinking] Two pages.\n      | Two pages may tell.\n" in done.stdout
    assert f"      → read_page {PAGES[0].id} " in done.stdout
    assert "entry ent_0000000000000000000003\n" in done.stdout


def test_programs_get_one_object_for_the_request_and_one_for_each_message(home: Home, context: Call) -> None:
    stored(home, *RECORDS)
    request, *others = events_of(context("main", "--json").stdout)
    assert {key: request[key] for key in ("type", "number", "requests", "as_sent", "marks", "tools")} == {
        "type": "request",
        "number": 2,
        "requests": 2,
        "as_sent": True,
        "marks": [1, 7],
        "tools": ["read_page"],
    }
    assert [one["type"] for one in others] == ["message"] * 7 + ["not_sent"] * 2
    assert others[1] == {
        "type": "message",
        "number": 2,
        "role": "user",
        "origins": ["host"],
        "authority": "host",
        "tokens": 17,
        "mark": None,
        "entries": ["ent_d"],
        "kinds": ["date_change"],
        "moved": [{"entry": "ent_d", "why": "date_change stands where its turn begins"}],
        "repaired": [],
        "text": "<system-reminder>\nIt is Tuesday.\n</system-reminder>",
        "calls": [],
        "call_id": None,
        "tool": None,
        "is_error": None,
    }
    assert others[3]["calls"] == [{"id": c.id, "name": c.name, "input": c.input} for c in PAGES]
    assert [one["why"] for one in others[7:]] == ["no call asked for this result", "it says nothing"]


def test_programs_get_one_object_for_each_change(home: Home, context: Call) -> None:
    stored(home, *RECORDS)
    diff, *changed = events_of(context("main", "--json", "--diff", "-2").stdout)
    assert (diff["type"], diff["same_messages"], diff["same_messages_tokens"]) == ("diff", 3, 36)
    first: dict[str, JsonValue] = {"kind": "added", "before": None, "after": 4}
    assert diff["first"] == first | {"says_same": False, "reasons": ["new in the history"]}
    assert [one["kind"] for one in changed] == ["mark"] + ["added"] * 4
    assert changed[1]["before_message"] is None


def test_a_request_that_would_be_another_today_is_told_as_one(home: Home, context: Call) -> None:
    stored(home, *RECORDS[:2], made(FIRST, fingerprint="another"))
    assert "NOT as it was sent" in context("main").stdout
    assert "NOT as it was sent" in context("main", "--diff", "1").stdout
    assert events_of(context("main", "--json").stdout)[0]["as_sent"] is False


def test_other_tools_another_model_and_a_new_prefix_say_what_no_cache_gives_back() -> None:
    other = MessageEntry(EntryId("prefix-0"), Message(Role.SYSTEM, "Else."), Origin.HOST, Authority.HOST)
    records = (*RECORDS[:3], PrefixBuilt((other,), ()), made(FIRST, marks=False))
    lines = difference(records, 200)
    assert "tool gone: read_page" in lines
    assert "cache marks: off, was on" in lines
    assert "the same: the first 0 messages; 0 tokens by estimate" in lines
    assert any(line.startswith("which no cache can give back") for line in lines)
    assert "first difference: message 1 (changed), the prefix was built anew and says something else" in lines


def test_another_model_and_one_tool_more_each_cost_the_cache() -> None:
    before = RECORDS[:3]
    lines = difference((*before, made(FIRST, reader="other")), 200)
    assert "the model is other, was reader" in lines
    assert "the same: 1 tool, the first 3 messages; 50 tokens by estimate" in lines
    assert any(line.startswith("which no cache can give back") for line in lines)
    more = PrefixBuilt((PREFIX,), (READ, ToolSpec("look", "Looks.", {"type": "object"})))
    lines = difference((*before, more, made(FIRST)), 200)
    assert "tool new: look" in lines
    assert "the same: the first 3 messages; 36 tokens by estimate" in lines
    assert any(line.startswith("which no cache can give back") for line in lines)
    lines = difference((*before, made(FIRST)), 200)
    assert not any("cache" in line for line in lines)


def test_what_is_joined_has_the_least_authority_of_its_parts() -> None:
    steer = said(3, Role.USER, "Page 12 is enough.", presentation=Presentation.USER_STEER)
    note = ReminderEntry(EntryId("ent_n"), "goal_state_change", "The goal is met.")
    entries = (FIRST[0], steer, note)
    lines = shown((EntriesAppended(entries), made(entries, midway=True)), 200)
    assert "the model takes system messages mid-conversation" in lines
    (line,) = (line for line in lines if "[user_steer]" in line)
    assert line.split()[1:4] == ["system", "user+host", "user"]
    assert line.endswith("[user_steer] [goal_state_change] Page 12 is enough. / The goal is met.")


def test_many_origins_leave_room_for_the_text() -> None:
    entries: tuple[Entry, ...] = (FIRST[0],)
    for number, origin in enumerate(Origin):
        entries += (ReminderEntry(EntryId(f"ent_{number}"), "goal_state_change", "words", origin),)
    lines = shown((EntriesAppended(entries), made(entries, midway=True)), 80)
    assert max(map(len, lines)) == 80
    assert any("host+user+coo…" in line for line in lines)


def test_an_answer_that_was_cut_off_is_told_as_one() -> None:
    entries = (FIRST[0], replace(said(2, Role.ASSISTANT, "Hold the"), is_partial=True))
    lines = shown((EntriesAppended(entries), made(entries)), 200)
    assert lines[-1].endswith("[cut off] Hold the")


def test_agents_of_other_sessions_are_not_of_this_one(home: Home, context: Call) -> None:
    stored(home, *RECORDS)
    stored(home, *RECORDS, name="other", session_id="sess_2")
    done = context("main", "--agent", "other")
    assert (done.stdout, done.code) == ("", 2)
    assert done.stderr.endswith("there are: main\n")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("nobody",), "the store has no session 'nobody'"),
        (("main", "--agent", "no\x1bbody"), "there are: main"),
        (("main", "--request", "3"), "no request 3: there are requests 1 to 2"),
        (("main", "--request", "0"), "no request 0"),
        (("main", "--diff", "-9"), "no request -9"),
        (("main", "--store", "nowhere.db"), "there is no store"),
        (("main", "--store", ":memory:"), "a store in a file wanted, got :memory:"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    home: Home, context: Call, arguments: tuple[str, ...], wanted: str
) -> None:
    stored(home, *RECORDS)
    done = context(*arguments)
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (home.folder / "nowhere.db").exists()


def test_a_log_from_before_requests_were_noted_is_told(home: Home, context: Call) -> None:
    stored(home, EntriesAppended((*FIRST, *LATER)))
    done = context("main")
    assert (done.stdout, done.code) == ("", 2)
    assert "before requests were noted" in done.stderr


def test_a_session_that_asked_nothing_is_told(home: Home, context: Call) -> None:
    stored(home)
    assert "made no request yet" in context("sess").stderr


@tool
async def read_page(page: int) -> str:
    """The text of one page of the manual."""
    return f"Page {page}."


@pytest.mark.real
def test_a_session_can_be_read_while_it_is_at_work(home: Home, real_backend: str) -> None:
    provider = ScriptedProvider(
        routes(
            ("count the doors", ["Seven."]),
            (otherwise, [[say("I look."), call("read_page", {"page": 12})], "Done."]),
        )
    )

    async def main() -> None:
        async with scripted_host(provider, store=SqliteStore(home.store)) as host:
            guide = await host.start(Agent("guide", tools=[read_page]))
            await guide.ask("How?")
            await host.spawn(guide, SpawnOrder("doors", "count the doors", name="counter"))
            done = await anyio.to_thread.run_sync(home.run, "context", "guide", "--json")
            assert (done.stderr, done.code) == ("", 0)
            texts = [row["text"] for row in events_of(done.stdout) if row["type"] == "message"]
            assert texts[-3:] == ["How?", "I look.", "Page 12."]
            below = await anyio.to_thread.run_sync(
                home.run, "context", guide.id, "--agent", "counter", "--json"
            )
            assert events_of(below.stdout)[0]["agent"] == "counter"
            assert "count the doors" in below.stdout
            alone = await anyio.to_thread.run_sync(home.run, "context", "counter")
            assert (alone.stdout, alone.code) == ("", 2)
            await guide.tell("Still there?")

    anyio.run(main, backend=real_backend)
