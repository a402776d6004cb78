"""Tests of examples/char_rnn.py, whose modules are found next to it."""

import sys

from tests_scan_grad.fresh_process import ROOT

EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))
