"""Colours and styles of pages and pictures, on light screens and on dark ones."""

from __future__ import annotations

# A colour for each state of a loop, in turn; they are distinguished on both backgrounds.
STATE_COLOURS = ("#3b82c4", "#c2702e", "#3f9a5b", "#a45bb5", "#b8922a", "#c24f6a")

_LIGHT = (
    "--tn-paper:#ffffff;--tn-ink:#1d2733;--tn-faint:#5d6b7a;--tn-line:#c6ced8;--tn-frame:#f3f6f9;"
    "--tn-box:#ffffff;--tn-outside:#e4f1e6;--tn-free:#fdeedd;--tn-bar:#8fb8de"
)
_DARK = (
    "--tn-paper:#14181d;--tn-ink:#e4e9ef;--tn-faint:#93a1b0;--tn-line:#46515e;--tn-frame:#1c2229;"
    "--tn-box:#262e37;--tn-outside:#203a28;--tn-free:#45331f;--tn-bar:#3f6a92"
)

# The last is what JupyterLab says of its own theme, which need not be the system's.
STYLE = f"""
.tn {{{_LIGHT}}}
@media (prefers-color-scheme: dark) {{.tn {{{_DARK}}}}}
body[data-jp-theme-light="true"] .tn {{{_LIGHT}}}
body[data-jp-theme-light="false"] .tn {{{_DARK}}}
.tn text {{fill:var(--tn-ink);font:11px "DejaVu Sans Mono",Menlo,Consolas,monospace}}
.tn .tn-title {{font-weight:bold}}
.tn .tn-note {{fill:var(--tn-faint)}}
.tn .tn-frame {{fill:var(--tn-frame);stroke:var(--tn-line)}}
.tn .tn-box {{fill:var(--tn-box);stroke:var(--tn-line)}}
.tn .tn-outside {{fill:var(--tn-outside);stroke:var(--tn-line)}}
.tn .tn-free {{fill:var(--tn-free);stroke:var(--tn-line);stroke-dasharray:4 2}}
.tn .tn-arc {{fill:none;stroke:var(--tn-faint)}}
.tn .tn-head {{fill:var(--tn-faint)}}
.tn .tn-paper {{fill:var(--tn-paper)}}
"""

PAGE_STYLE = """
div.tn {background:var(--tn-paper);color:var(--tn-ink);padding:1em 1.4em;
font:14px/1.5 "DejaVu Sans",Helvetica,Arial,sans-serif}
div.tn h1 {font-size:1.4em} div.tn h2 {font-size:1.15em;margin:1.6em 0 .3em}
div.tn h3 {font-size:1em;margin:1em 0 .2em}
div.tn p {margin:.3em 0} div.tn .tn-faint {color:var(--tn-faint)}
div.tn code, div.tn td {font:12px "DejaVu Sans Mono",Menlo,Consolas,monospace}
div.tn table {border-collapse:collapse;margin:.3em 0 .8em;background:none}
div.tn th, div.tn td {text-align:left;vertical-align:top;padding:.15em .9em .15em 0;
border-bottom:1px solid var(--tn-line);background:none;color:var(--tn-ink)}
div.tn td.tn-number, div.tn th.tn-number {text-align:right;font-variant-numeric:tabular-nums}
div.tn .tn-share {display:inline-block;width:3.6em} div.tn .tn-bar {display:inline-block;height:.7em;background:var(--tn-bar)}
div.tn .tn-whole {white-space:nowrap} div.tn a {color:var(--tn-ink)}
div.tn .tn-wide {overflow-x:auto} div.tn svg {max-width:100%;height:auto}
"""
