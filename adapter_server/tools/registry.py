"""Which tools the server has, and what is true of each whatever an adapter version says."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from .arguments import Arguments
from .check import check
from .claim import claim
from .digest import digest
from .feedback import feedback
from .find import find
from .get import get
from .job import job
from .plan import plan
from .refute import refute
from .reply import ToolReply
from .say import say
from .submit import submit
from .wait import wait

Run = Callable[..., Awaitable[ToolReply]]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's function and its nature."""

    run: Run
    """Called with the decoded arguments and the keywords caller, board and lemma_store."""

    is_read_only: bool = False
    """Hosts run such tools in parallel and without asking; they also work on an ended episode."""

    is_repeat_safe: bool = False
    """True when the same arguments again, within the window, can only be a retry."""

    is_followed_up: bool = False
    """Whether parts may close by themselves after it, so that the server looks."""

    uses_jobs: bool = False
    """Whether it is called with the keyword jobs too."""

    def changes(self, arguments: Arguments) -> bool:
        """Whether this very call may change something."""
        return not self.is_read_only and getattr(arguments, "action", None) not in ("show", "status", "grade")


TOOLS: Mapping[str, Tool] = {
    "digest": Tool(run=digest, is_read_only=True),
    "wait": Tool(run=wait, is_read_only=True),
    "plan": Tool(run=plan, is_repeat_safe=True, is_followed_up=True),
    "claim": Tool(run=claim),
    "check": Tool(run=check, is_repeat_safe=True, is_followed_up=True, uses_jobs=True),
    "job": Tool(run=job, is_read_only=True, uses_jobs=True),
    "find": Tool(run=find, is_read_only=True),
    "get": Tool(run=get, is_read_only=True),
    "refute": Tool(run=refute, is_repeat_safe=True, is_followed_up=True),
    "say": Tool(run=say, is_repeat_safe=True),
    "submit": Tool(run=submit, is_followed_up=True),
    "feedback": Tool(run=feedback, is_repeat_safe=True),
}
