import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.permissions.commands import is_plain, parts


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git commit -m 'a; b && c | d > e $(f) `g`'",
        'git commit -m "a; b & c | d > e (f)"',
        r"git log a\;b",
        "grep -n 'it''s' file",
        "ls -l\t--all",
        "echo héllo *.py ~/x",
    ],
)
def test_one_command_and_nothing_else_is_plain(command: str) -> None:
    assert is_plain(command)


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf /",
        "git status && rm x",
        "git status || rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git status \\\n; rm x",
        "git log `rm x`",
        "git log $(rm x)",
        'git log "$(rm x)"',
        'git log "`rm x`"',
        "git log ${x@P}",
        "git log > /etc/passwd",
        "git log >> f",
        "git log < f",
        "git diff <(rm x)",
        "(rm x)",
        "git log 'unbalanced",
        'git log "unbalanced',
        "git log \\",
        "git 'a' ; rm 'b'",
        'git "a\\"; rm b" ; rm c',
        "git \x00 rm",
    ],
)
def test_what_a_shell_takes_as_more_is_not_plain(command: str) -> None:
    assert not is_plain(command)


@given(st.text(alphabet="ab 'x\"\\;&|()<>`$\n\t=-/", max_size=40))
def test_a_plain_command_is_one_part_of_the_words_that_a_shell_sees(command: str) -> None:
    if is_plain(command) and shlex.split(command):
        first = parts(command)[0].words if parts(command) else ()
        words = shlex.split(command)
        assert list(first) == words[len(words) - len(first) :]


@given(
    st.lists(st.sampled_from(["ls", "git status", "echo 'a;b'", 'echo "x && y"', "FOO=1 make"]), max_size=4),
    st.sampled_from([";", "&&", "||", "|", "&", "\n", " ; ", "|&"]),
    st.sampled_from(
        [
            "{}",
            "sudo {}",
            "/bin/{}",
            "A=1 B='x y' {}",
            "( {} )",
            "echo $( {} )",
            'echo "$( {} )"',
            "echo ` {} `",
            "bash -c '{}'",
            'sh -c "ls; {}"',
            "env -i X=1 {}",
            "xargs -n 1 {}",
            "cat < f | {} > g",
            "> g {}",
            "if true; then {}; fi",
            "cat <( {} )",
            "eval '{}'",
            "find . -exec {} ';'",
            r"\{}",
            "timeout 5 nice -n 3 {}",
            "bash <<EOF\n{}\nEOF",
        ]
    ),
    st.integers(0, 4),
)
def test_a_command_is_found_wherever_it_hides(
    others: list[str], operator: str, hiding_place: str, at: int
) -> None:
    pieces = [*others[:at], hiding_place.replace("{}", "rm -rf x"), *others[at:]]
    found = [
        part.words[start:]
        for part in parts(operator.join(pieces))
        for start in range(len(part.words) if part.starts_another else 1)
    ]
    assert any(words[0].rpartition("/")[2] == "rm" and words[1:3] == ("-rf", "x") for words in found)


def test_a_quoted_word_is_no_command() -> None:
    assert [part.words[0] for part in parts("git commit -m 'x; rm -rf y'")] == ["git"]


@pytest.mark.parametrize(
    "piece", ["$(", "`", "sudo ", "( ", "'", '"', "bash -c '", ";", "\\", 'sh -c "$(', "<"]
)
def test_a_huge_command_is_read_in_time_linear_in_its_length(piece: str) -> None:
    began = time.process_time()
    parts(piece * 20_000)
    is_plain(piece * 20_000)
    assert time.process_time() - began < 3
