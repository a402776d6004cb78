"""Pooling over windows of images, and its gradients."""

from __future__ import annotations

from theano.link.native.ir.partitions import Share
from theano.link.native.render.registry import renders
from theano.link.native.render.statements.images import one_by_one
from theano.link.native.render.statements.images.planes import along_in_c, for_each_image, planes_of
from theano.link.native.render.statements.images.rows import Rows, fits
from theano.link.native.render.writer import Writer
from theano.link.native.statements.images.pooling import Pooling


@renders(Pooling)
def pooling(statement: Pooling, writer: Writer, share: Share | None) -> list[str]:
    along = [along_in_c(one, writer) for one in statement.along]
    views = [statement.target, *statement.reads]
    target, *reads = planes_of(writer, views, statement.lead)
    given = (
        statement.task,
        statement.target.dtype,
        statement.maximum,
        statement.mean,
        along,
        target,
        reads,
    )
    if fits(statement.task, along[-1]):
        rows = Rows(*given)
        declarations, body = rows.declarations(), rows.lines()
    else:
        declarations, body = [], one_by_one.lines_of_image(*given)
    elements = " * ".join(str(one.length) for one in along)
    images = for_each_image(writer, views, statement.lead, share, body, elements)
    return ["{", *declarations, *images, "}"]
