"""Under which headings a report prints what rewrites did to a loop."""

HOISTED = "hoisted before the loop"
PUSHED_OUT = "pushed out after the loop"
MERGED = "merged"
SPLIT = "split"
SHORTENED = "shortened"

# The order in a report; a rewrite may have its own heading, which comes after these.
IN_ORDER = (SPLIT, HOISTED, PUSHED_OUT, MERGED, SHORTENED)
LEFT = "left as it was"
