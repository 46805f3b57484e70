"""Tasks divided for an evolution: what is searched on, confirmed on, guarded and kept sealed until the end."""

import random
from collections.abc import Sequence

import msgspec

from bus.errors import BadArguments
from bus.records import Task

from .suite_tasks import statement_hash

SPLITS = ("search", "confirm", "guard", "sealed")


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the tasks each split gets, as relative weights."""

    search: float = 0.4
    confirm: float = 0.35
    guard: float = 0.1
    sealed: float = 0.15


class TaskSplits(msgspec.Struct, frozen=True, kw_only=True):
    """The division; the same tasks, shares and seed give the same one.

    Attributes:
        seed: what chance depended on.
        search: for evidence and comparison.
        confirm: fresh ones for a challenger that passed.
        guard: on which nothing may get worse.
        sealed: used once, at the end.
        left_out: ids of tasks that say the same as another one, or cannot be posed.
    """

    seed: int
    search: list[Task]
    confirm: list[Task]
    guard: list[Task]
    sealed: list[Task]
    left_out: list[str] = []


def split_tasks(
    tasks: Sequence[Task],
    *,
    seed: int,
    shares: Shares | None = None,
    guard: Sequence[str] = (),
    are_families_apart: bool = False,
) -> TaskSplits:
    """Divide tasks by chance. No statement is in two splits.

    Args:
        tasks: all of them.
        seed: what chance depends on.
        shares: sizes of the splits.
        guard: families that are for the guard set, and for nothing else.
        are_families_apart: no family is in two splits.

    Raises:
        BadArguments: nothing is left for the search.
    """
    shares = shares or Shares()
    fresh, left_out = _distinct(tasks)
    found: dict[str, list[Task]] = {name: [] for name in SPLITS}
    found["guard"] = [task for task in fresh if task.family in guard]
    rest = [task for task in fresh if task.family not in guard]
    groups: dict[str, list[Task]] = {}
    for task in rest:
        groups.setdefault(task.family if are_families_apart else task.id, []).append(task)
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    names = [name for name in SPLITS if getattr(shares, name) > 0 and not (guard and name == "guard")]
    weight = sum(getattr(shares, name) for name in names)
    for group in order:
        # the split that is furthest behind its share
        behind = {name: getattr(shares, name) / weight * len(rest) - len(found[name]) for name in names}
        found[max(names, key=lambda name: behind[name])].extend(groups[group])
    if not found["search"]:
        raise BadArguments("no task is left to search on", hint="name more tasks, or another share")
    return TaskSplits(seed=seed, left_out=left_out, **{name: _sorted(found[name]) for name in SPLITS})


def _distinct(tasks: Sequence[Task]) -> tuple[list[Task], list[str]]:
    fresh: dict[str, Task] = {}
    left_out: list[str] = []
    for task in tasks:
        digest = task.statement_hash or statement_hash(task.path)
        if not digest or digest in fresh:
            left_out.append(task.id)
        else:
            fresh[digest] = msgspec.structs.replace(task, statement_hash=digest)
    return list(fresh.values()), left_out


def _sorted(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: task.id)
