"""The page of mistakes has words of messages that are tested."""

import re

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.messages.test_messages_of_calls import mistakes as of_calls
from tests_scan_grad.messages.test_messages_of_functions import mistakes as of_functions
from tests_scan_grad.messages.test_messages_of_gradients import mistakes as of_gradients
from tests_scan_grad.messages.test_messages_of_loops import mistakes as of_loops
from tests_scan_grad.messages.test_messages_of_variables import mistakes as of_variables
from tests_scan_grad.messages.test_messages_of_wrong_values import mistakes as of_wrong_values

PARTS = [
    part
    for mistakes in (of_functions, of_calls, of_gradients, of_loops, of_variables, of_wrong_values)
    for mistake in mistakes.values()
    for part in mistake.parts
]


def test_words_of_the_page_are_those_of_messages():
    page = (ROOT / "doc" / "reference" / "mistakes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!the message says)(.*?) \| .* \|$", page, re.MULTILINE)
    assert len(rows) >= 40
    assert not [words for words in rows if not any(words in part for part in PARTS)]
