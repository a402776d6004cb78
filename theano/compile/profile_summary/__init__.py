"""The summary of a profile, one file for each of its parts."""

from theano.support.lazy_names import lazy_names

_LAZY = {
    "GraphOfStep": ".loops",
    "debugprint": "theano.printing.text",
    "graph_of_step": ".loops",
    "measurements_of": "theano.link.native.run.profile",
    "write_classes": ".tables",
    "write_compilation": ".compilation",
    "write_memory": ".memory",
    "write_nodes": ".tables",
    "write_operations": ".tables",
    "write_scan_overhead": ".loops",
    "write_step_summary": ".loops",
    "write_tips": ".tips",
}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)
