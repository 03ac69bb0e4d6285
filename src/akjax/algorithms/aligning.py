"""Arrays that were selected by different conditions, made to stand in the same slots.

Awkward pairs what is left by position. Where two masks have one value number their elements are paired as they
stand, at no cost. Elsewhere that is asked at run time: in place when the masks are equal, otherwise what
exists is moved to the front on both sides. Lists that do not keep as many elements on both sides, where
Awkward raises, become NaN (missing, where there is no NaN) and are told to `runtime_errors`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries, parents
from ..nodes.kinds import Empty, Indexed, Jagged, List, Live, Masked, Node, Option, Regular, Union, replace
from ..nodes.moving import carry, offsets_of, project
from ..nodes.static import Static, static
from ..nodes.walk import has_run_time_structure, iterate
from ..structure.spec import split_leaves
from .gathering import Reach, spoiled, take_rows
from .numbering import note, same
from .ranks import Ranks, positions_in, split_live
from .repeating import Repeating, is_one_row
from .runtime import as_list, as_regular, dead_of, depth_of, is_text, masked
from .runtime_errors import check
from .standing import OTHER_LISTS

UNEQUAL = "cannot broadcast nested list: two selections keep different numbers of elements at run time"


@dataclasses.dataclass(frozen=True)
class _Terms:
    """How arrays are lined up, at the level that is looked at.

    Attributes:
        levels: how many more levels there are to look at; None for all.
        judged: for each array, whether it loses its values where the lists do not fit.
        error: what eager Awkward raises then.
    """

    levels: int | None
    judged: list[bool]
    error: tuple[type[Exception], str]

    def of(self, which: list[int], deeper: bool = False) -> _Terms:
        """The same for some of the arrays."""
        levels = self.levels if not deeper or self.levels is None else self.levels - 1
        return _Terms(levels, [self.judged[k] for k in which], self.error)


def line_up(
    nodes: list[Node],
    levels: int | None = None,
    judged: int | None = None,
    error: tuple[type[Exception], str] = (ValueError, UNEQUAL),
) -> list[Node]:
    """The same arrays, with their elements in the same slots where they were selected differently.

    Args:
        nodes: the arrays.
        levels: how many levels to look at, from the rows on; None for all that several arrays have.
        judged: how many of the arrays, from the first on, lose their values where they do not fit; None for all.
        error: the class and text of what eager Awkward raises where they do not fit.

    Returns:
        As many arrays. Those without run-time structure, and those selected alike, are what they were.
    """
    if len(nodes) < 2 or levels == 0 or not any(map(has_run_time_structure, nodes)):
        return nodes
    terms = _Terms(levels, [judged is None or k < judged for k in range(len(nodes))], error)
    longer = [k for k, node in enumerate(nodes) if not is_one_row(node)]
    if 0 < len(longer) < len(nodes):
        return _with_one_row(nodes, longer, terms)
    rows = [List(static(np.array([0, node.length])), node) for node in nodes]
    single = [node.length == 1 and not isinstance(node, Live) for node in nodes]
    return [lists.content for lists in _lists(rows, single, terms)]


def _with_one_row(nodes: list[Node], longer: list[int], terms: _Terms) -> list[Node]:
    """Line up arrays of which some have one row where that is known while tracing: it is repeated for the others."""
    several = line_up([nodes[k] for k in longer], terms.levels, sum(terms.judged[k] for k in longer), terms.error)
    pattern = max(several, key=lambda node: (node.length, depth_of(node)))
    found = dict(zip(longer, several, strict=True))
    return [
        found[k] if k in found else Repeating(judged, terms.error).rows(node, pattern, terms.levels)
        for k, (node, judged) in enumerate(zip(nodes, terms.judged, strict=True))
    ]


def _lists(several: list[List], single: list[bool], terms: _Terms) -> list[List]:
    """Line up the elements of lists that belong together, then what is inside of them.

    `single` says of which lists broadcasting repeats the one element.
    """
    several = [replace(lists, content=project(lists.content)) for lists in several]
    longer = [k for k, one in enumerate(single) if not one]
    if longer:
        for k, lists in zip(longer, _paired([several[k] for k in longer], terms.of(longer)), strict=True):
            several[k] = lists
        pattern = several[longer[0]]
        for k, lists in enumerate(several):
            if k not in longer and has_run_time_structure(lists) and lists.length == pattern.length:
                several[k] = _repeated(lists, pattern)
    if terms.levels != 1 and all(lists.offsets is several[0].offsets for lists in several):
        contents = _inside([lists.content for lists in several], terms)
        several = [replace(lists, content=content) for lists, content in zip(several, contents, strict=True)]
    return several


def _repeated(lists: List, pattern: List) -> List:
    """The one element of each list as often as there are elements in the lists of another array."""
    index = parents(pattern.offsets)
    content = carry(lists.content, index) if isinstance(index, np.ndarray) else take_rows(lists.content, index, None)
    if isinstance(pattern.content, Live):
        content = Live(pattern.content.dead, content)
    return replace(pattern, content=content, parameters=lists.parameters)  # type: ignore[no-any-return]


def _inside(nodes: list[Node], terms: _Terms) -> list[Node]:
    """Go on with those elements of the same lists that are lists themselves."""
    opened = [_open(node) for node in nodes]
    deeper = [k for k, (_, inner) in enumerate(opened) if isinstance(inner, List | Regular)]
    if len(deeper) > 1:
        before = [as_list(opened[k][1]) for k in deeper]
        single = [isinstance(opened[k][1], Regular) and opened[k][1].size == 1 for k in deeper]  # type: ignore[union-attr]
        single = [one and not isinstance(lists.content, Live) for one, lists in zip(single, before, strict=True)]  # type: ignore[union-attr]
        after = _lists(before, single, terms.of(deeper, deeper=True))  # type: ignore[arg-type]
        for k, old, new in zip(deeper, before, after, strict=True):
            if new.content is not old.content:  # type: ignore[union-attr]
                nodes[k] = _close(opened[k][0], new)
    return nodes


def _open(node: Node) -> tuple[list[Any], Node]:
    """What stands on the elements of an array, and the elements."""
    around: list[Any] = []
    while True:
        node = as_regular(project(node))
        if isinstance(node, Option) and has_run_time_structure(node):
            node = masked(node)
        if not isinstance(node, Live | Masked):
            return around, Empty() if is_text(node) else node
        around.append(node)
        node = node.content


def _close(around: list[Any], node: Node) -> Node:
    for outer in reversed(around):
        node = replace(outer, content=node)
    return node


# ------------------------------------------------------------------------------- by position


def _paired(several: list[List], terms: _Terms) -> list[List]:
    """Lists with what exists in them paired by position."""
    first, *others = several
    dead = split_live(first.content)[0]
    here = all(lists.offsets is first.offsets for lists in others)
    if here and all(same(split_live(lists.content)[0], dead) for lists in others):
        return several
    if len({lists.length for lists in several}) > 1 or not any(isinstance(x.content, Live) for x in several):
        return several  # Awkward says that they do not fit
    ranks = [Ranks(lists, split_live(lists.content)[0]) for lists in several]
    counts = ranks[0].counts
    fit = jnp.ones(first.length, bool)
    for other in ranks[1:]:
        fit, counts = fit & (other.counts == ranks[0].counts), jnp.maximum(counts, other.counts)
    check(fit, *terms.error)
    asked = _room(several)
    gone = dead_of(positions_in(asked) < take(jnp.asarray(counts), parents(asked)))
    contents = [split_live(lists.content)[1] for lists in several]
    moved: list[Node] | None = None
    if here and not any(
        isinstance(n, List | Option | Indexed | Union) for content in contents for n in iterate(content)
    ):
        gone, moved = _in_place_or_moved(ranks, contents, gone)
    if moved is None:
        moved = [_moved(one, content, asked) for one, content in zip(ranks, contents, strict=True)]
    numbers = [mask for lists in several if (mask := split_live(lists.content)[0]) is not None]
    note(("lined up", *(lists.offsets for lists in several)), numbers, gone)
    valid = take(fit, parents(asked))
    return [
        replace(lists, offsets=asked, content=Live(gone, spoiled(content, valid) if judge else content))
        for lists, content, judge in zip(several, moved, terms.judged, strict=True)
    ]


def _room(several: list[List]) -> Static | Boundaries:
    """Lists as long as they can be when all are equally long; one element where only some are empty, to say so."""
    offsets = several[0].offsets
    if all(lists.offsets is offsets for lists in several):
        return offsets
    if any(isinstance(lists, Jagged) for lists in several):
        raise StructureError(OTHER_LISTS)
    lengths = np.stack([np.diff(lists.offsets.array) for lists in several])
    shortest = lengths.min(axis=0)
    if all(lists.content.length for lists in several):
        shortest = np.maximum(shortest, np.minimum(lengths.max(axis=0), 1))
    return offsets_of(shortest)


def _moved(ranks: Ranks, content: Node, asked: Static | Boundaries) -> Node:
    """The elements of lists, what exists first, in lists that are as long as asked for."""
    if isinstance(asked, Boundaries):
        return take_rows(content, ranks.order(), None)
    offsets = ranks.offsets.array
    slots = offsets[:-1].astype(np.int32)[parents(asked)] + positions_in(asked)
    slots = np.minimum(slots, content.length - 1)
    reach = Reach(parents(asked), offsets[:-1], offsets[1:])
    if ranks.is_static:
        return carry(content, slots)
    return take_rows(content, take(ranks.order(), slots), None, reach)


def _in_place_or_moved(ranks: list[Ranks], contents: list[Node], gone: Any) -> tuple[Any, list[Node]]:
    """Elements of the same lists: where they are if the masks are equal, else what exists in front."""
    parts = [split_leaves(content, None, None) for content in contents]
    asked: Any = ranks[0].offsets

    def in_place(several: list[list[Any]]) -> Any:
        return dead_of(ranks[0].live), several

    def move(several: list[list[Any]]) -> Any:
        nodes = [spec.build(leaves) for leaves, (_, spec) in zip(several, parts, strict=True)]
        moved = [_moved(one, node, asked) for one, node in zip(ranks, nodes, strict=True)]
        return gone, [split_leaves(node, None, None)[0] for node in moved]

    equal = jnp.asarray(True)
    for other in ranks[1:]:
        equal = equal & (other.live == ranks[0].live).all()
    leaves = [[jnp.asarray(leaf) for leaf in part] for part, _ in parts]
    gone, leaves = lax.cond(equal, in_place, move, leaves)
    return gone, [spec.build(part) for part, (_, spec) in zip(leaves, parts, strict=True)]
