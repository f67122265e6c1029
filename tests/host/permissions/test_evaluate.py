import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.address import AgentId
from host.errors import ConfigInvalid
from host.permissions import (
    Decision,
    Grant,
    PermissionMode,
    Rule,
    RuleSet,
    Scope,
    evaluate,
    narrowest,
    parse_rule,
)
from host.permissions.evaluate import Verdict, strictest
from tests.host.permissions.questions import CWD, question

PLAN, DEFAULT, ACCEPT, BYPASS = PermissionMode
ALLOW, ASK, DENY = Decision


def rules(
    allow: tuple[str, ...] = (), ask: tuple[str, ...] = (), deny: tuple[str, ...] = (), home: str = "/home/u"
) -> RuleSet:
    return RuleSet(*(tuple(parse_rule(text, "test", home) for text in texts) for texts in (allow, ask, deny)))


def decide(tool: str, subject: str | None, mode: PermissionMode, given_rules: RuleSet) -> Decision:
    return evaluate(question(tool, subject), mode, given_rules, (), CWD).decision


@pytest.mark.parametrize(
    ("tool", "subject", "plan", "default", "accept", "bypass"),
    [
        ("Read", "a.txt", ALLOW, ALLOW, ALLOW, ALLOW),
        ("SendMessage", None, ALLOW, ALLOW, ALLOW, ALLOW),
        ("lookup", None, DENY, ALLOW, ALLOW, ALLOW),
        ("Edit", "a.txt", DENY, ASK, ALLOW, ALLOW),
        ("Edit", f"{CWD}/src/a.py", DENY, ASK, ALLOW, ALLOW),
        ("Edit", "../other/a.txt", DENY, ASK, ASK, ALLOW),
        ("Edit", "src/../../a.txt", DENY, ASK, ASK, ALLOW),
        ("Edit", "/etc/passwd", DENY, ASK, ASK, ALLOW),
        ("Edit", "/work/project-two/a", DENY, ASK, ASK, ALLOW),
        ("Edit", CWD, DENY, ASK, ASK, ALLOW),
        ("Edit", ".git/hooks/pre-commit", DENY, ASK, ASK, ALLOW),
        ("Edit", "sub/.callboard/config.toml", DENY, ASK, ASK, ALLOW),
        ("Edit", None, DENY, ASK, ASK, ALLOW),
        ("Bash", "ls", DENY, ASK, ASK, ALLOW),
    ],
)
def test_the_mode_decides_by_the_class_of_the_tool(
    tool: str,
    subject: str | None,
    plan: Decision,
    default: Decision,
    accept: Decision,
    bypass: Decision,
) -> None:
    got = [decide(tool, subject, mode, RuleSet()) for mode in (PLAN, DEFAULT, ACCEPT, BYPASS)]
    assert got == [plan, default, accept, bypass]


@pytest.mark.parametrize(
    ("rule", "tool", "subject", "is_allowed"),
    [
        ("Bash", "Bash", "rm -rf / ; anything", True),
        ("Bash(git:*)", "Bash", "git status", True),
        ("Bash(git:*)", "Bash", "git", True),
        ("Bash(git:*)", "Bash", " git log ", True),
        ("Bash(git:*)", "Bash", "gitk", False),
        ("Bash(git:*)", "Bash", "git-evil status", False),
        ("Bash(git:*)", "Bash", "FOO=1 git status", False),
        ("Bash(git:*)", "Bash", "git status; rm -rf /", False),
        ("Bash(git:*)", "Bash", "git log > /etc/passwd", False),
        ("Bash(git:*)", "Bash", "git log $(rm x)", False),
        ("Bash(git:*)", "Bash", "git commit -m 'fix; now'", True),
        ("Bash(git diff:*)", "Bash", "git diff --stat", True),
        ("Bash(git diff:*)", "Bash", "git push", False),
        ("Bash(npm run *)", "Bash", "npm run test", True),
        ("Bash(npm run *)", "Bash", "npm run test && rm x", False),
        ("Bash(make && make test)", "Bash", "make && make test", True),
        ("Bash(make && *)", "Bash", "make && rm x", False),
        ("Bash(*)", "Bash", None, False),
        ("Edit(docs/**)", "Edit", "docs/a/b.md", True),
        ("Edit(docs/**)", "Edit", f"{CWD}/docs/a.md", True),
        ("Edit(docs/**)", "Edit", "docs/../src/a.py", False),
        ("Edit(docs/**)", "Edit", "docs-two/a.md", False),
        ("Edit(docs/*)", "Edit", "docs/a.md", True),
        ("Edit(docs/*)", "Edit", "docs/a/b.md", False),
        ("Edit(*.py)", "Edit", "a.py", True),
        ("Edit(*.py)", "Edit", "src/a.py", False),
        ("Edit(**/*.py)", "Edit", "/elsewhere/src/a.py", True),
        ("Edit(./src/**/test_?.py)", "Edit", "src/x/y/test_a.py", True),
        ("Edit(/tmp/**)", "Edit", "/tmp/x", True),
        ("Edit(/tmp/**)", "Edit", "/tmp/../etc/x", False),
        ("Edit(~/notes/**)", "Edit", "/home/u/notes/a", True),
        ("Edit(docs/**)", "Read", "docs/a.md", True),  # reading never asked
        ("Read(docs/**)", "Edit", "docs/a.md", False),
        ("Edit(a[b].py)", "Edit", "a[b].py", True),
    ],
)
def test_an_allow_rule_covers_only_what_it_says(
    rule: str, tool: str, subject: str | None, is_allowed: bool
) -> None:
    got = decide(tool, subject, DEFAULT, rules(allow=(rule,)))
    assert got is (ALLOW if is_allowed else ASK)


@pytest.mark.parametrize(
    ("rule", "tool", "subject", "is_denied"),
    [
        ("Bash(rm:*)", "Bash", "rm -rf x", True),
        ("Bash(rm:*)", "Bash", "ls && sudo /bin/rm x", True),
        ("Bash(rm:*)", "Bash", 'echo "$(rm x)"', True),
        ("Bash(rm:*)", "Bash", "r''m x", True),
        ("Bash(rm:*)", "Bash", "ls rm", False),
        ("Bash(rm:*)", "Bash", "git commit -m 'rm x; rm y'", False),
        ("Bash(git push:*)", "Bash", "cd x; git   push --force", True),
        ("Bash(git push:*)", "Bash", "git pull", False),
        ("Bash(curl *)", "Bash", "true | curl http://x", True),
        ("Bash(/usr/bin/id:*)", "Bash", "/usr/bin/id -u", True),
        ("Bash(rm:*)", "Bash", None, True),
        ("Read(**/.env)", "Read", "a/b/.env", True),
        ("Read(**/.env)", "Read", "/x/.env", True),
        ("Read(**/.env)", "Read", "a/.environment", False),
        ("Read(secrets/**)", "Read", "a/../secrets/k", True),
        ("Read(secrets/**)", "Read", "secrets", True),
        ("lookup", "lookup", None, True),
        ("lookup(x*)", "lookup", "xyz", True),
        ("lookup(x*)", "lookup", "yz", False),
    ],
)
@pytest.mark.parametrize("mode", list(PermissionMode))
def test_a_deny_rule_holds_in_every_mode(
    rule: str, tool: str, subject: str | None, is_denied: bool, mode: PermissionMode
) -> None:
    verdict = evaluate(question(tool, subject), mode, rules(allow=(tool,), deny=(rule,)), (), CWD)
    assert (verdict.decision is DENY and rule in verdict.reason) == is_denied


def test_deny_goes_before_ask_and_ask_before_allow() -> None:
    everything = rules(allow=("Bash",), ask=("Bash(git:*)",), deny=("Bash(git push:*)",))
    assert decide("Bash", "git push", BYPASS, everything) is DENY
    assert decide("Bash", "git pull", BYPASS, everything) is ASK
    assert decide("Bash", "ls", DEFAULT, everything) is ALLOW


def test_an_ask_rule_asks_even_where_the_mode_would_not() -> None:
    assert decide("Read", "a", DEFAULT, rules(ask=("Read",))) is ASK
    assert decide("lookup", None, BYPASS, rules(ask=("lookup",))) is ASK


def test_plan_mode_is_not_opened_by_rules_or_grants() -> None:
    grant = Grant(Rule("Edit"), AgentId("id-of-main"), "main", Scope.TREE, is_allowed=True)
    verdict = evaluate(question("Edit", "a"), PLAN, rules(allow=("Edit",)), (grant,), CWD)
    assert verdict.decision is DENY


@pytest.mark.parametrize(
    ("scope", "agent_path", "is_reached"),
    [
        (Scope.SESSION, "main", True),
        (Scope.SESSION, "main/child", False),
        (Scope.TREE, "main/child", True),
        (Scope.TREE, "mainly", False),
        (Scope.ONCE, "main", False),
    ],
)
def test_a_grant_reaches_as_far_as_its_scope(scope: Scope, agent_path: str, is_reached: bool) -> None:
    grant = Grant(
        Rule("Bash", "a | b", is_literal=True), AgentId("id-of-main"), "main", scope, is_allowed=True
    )
    verdict = evaluate(question("Bash", "a | b", agent_path), DEFAULT, RuleSet(), (grant,), CWD)
    assert (verdict.decision is ALLOW) == is_reached


def test_a_grant_answers_an_ask_rule_but_never_a_deny_rule() -> None:
    grant = Grant(Rule("Bash"), AgentId("id-of-main"), "main", Scope.SESSION, is_allowed=True)
    asked, denied = rules(ask=("Bash",)), rules(deny=("Bash",))
    assert evaluate(question("Bash", "ls"), DEFAULT, asked, (grant,), CWD).decision is ALLOW
    assert evaluate(question("Bash", "ls"), DEFAULT, denied, (grant,), CWD).decision is DENY


def test_a_standing_refusal_goes_before_a_grant() -> None:
    no = Grant(Rule("Bash"), AgentId("id-of-main"), "main", Scope.SESSION, is_allowed=False, reason="never")
    yes = Grant(Rule("Bash"), AgentId("id-of-main"), "main", Scope.TREE, is_allowed=True)
    verdict = evaluate(question("Bash", "ls"), BYPASS, RuleSet(), (yes, no), CWD)
    assert verdict.decision is DENY
    assert "never" in verdict.reason


def test_a_child_gets_the_narrowest_mode() -> None:
    assert narrowest(BYPASS, DEFAULT) is DEFAULT
    assert narrowest(ACCEPT, PLAN, BYPASS) is PLAN


def test_the_strictest_verdict_wins() -> None:
    allow, ask, deny = (Verdict(decision, "") for decision in Decision)
    assert strictest(allow, deny, ask) is deny
    assert strictest(allow, ask) is ask


@pytest.mark.parametrize("text", ["", "Bash(", "Bash()", "Bash( )", "Ba sh", "(git)", "Bash(git)x", "1x"])
def test_what_is_no_rule_is_refused_with_its_source(text: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"config\.toml: a permission rule is written"):
        parse_rule(text, "config.toml")


_TEXT = st.text(alphabet="git rm-;&|$()`<>'\"\\\n*/.~", max_size=30)


@given(_TEXT, st.sampled_from(list(PermissionMode)))
def test_no_command_slips_past_a_denial_of_its_whole_tool(command: str, mode: PermissionMode) -> None:
    assert decide("Bash", command, mode, rules(allow=("Bash",), deny=("Bash",))) is DENY


@given(_TEXT, st.sampled_from([";", "&&", "||", "|", "&", "\n", ">", "<", "`", "$(", "("]), _TEXT)
def test_no_allowed_prefix_covers_what_stands_behind_an_operator(
    before: str, operator: str, after: str
) -> None:
    if not {"'", '"', "\\"} & set(before + after):
        assert (
            decide("Bash", f"git {before}{operator}x{after}", DEFAULT, rules(allow=("Bash(git:*)",))) is ASK
        )


@given(st.text(max_size=50), st.text(min_size=1, max_size=30))
def test_any_rule_and_any_path_have_a_verdict(path: str, pattern: str) -> None:
    some = RuleSet(allow=(Rule("Edit", pattern),), deny=(Rule("Read", pattern),))
    assert decide("Edit", path, DEFAULT, some) in (ALLOW, ASK)
    assert decide("Read", path, DEFAULT, some) in (ALLOW, DENY)
