"""What an episode cost: time, checks, calls, and what models used; None where a host did not say."""

from collections.abc import Sequence

from bus.records import Spent

from .run_record import RunRecord
from .team import parse_team


def spent_in(records: Sequence[RunRecord], *, team: str, checks: int) -> Spent:
    """Sums over all agents, also of several runs that make up one episode."""
    hosted = sum(member.kind != "tactician" for member in parse_team(team))
    agents = [agent for record in records for agent in record.agents.values()]
    known = [agent.session for agent in agents if agent.session is not None and agent.session.sessions]
    is_known = bool(records) and len(known) == hosted
    prices = [account.cost_usd for account in known]
    return Spent(
        seconds=round(max((record.seconds for record in records), default=0.0), 3),
        checks=checks,
        calls=sum(agent.calls for agent in agents),
        tokens_in=sum(account.usage.input for account in known) if is_known else None,
        tokens_cached=sum(account.usage.cached for account in known) if is_known else None,
        tokens_out=sum(account.usage.output for account in known) if is_known else None,
        usd=sum(price or 0.0 for price in prices) if is_known and None not in prices else None,
    )
