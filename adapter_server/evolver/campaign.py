"""The run loop: calibrate, propose, refuse or measure, confirm, promote; everything it knows is in the ledger."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bus.errors import BadPatch, BudgetExhausted, InfraPause

from .budget import challenger_episodes, expected_cost, reservation_gate
from .comparing import Stages
from .comparison import collect, score
from .events import NothingProposed, Proposed, RunStopped, StaticRejected
from .gate_result import GateResult
from .gates import calibration_gate
from .journal import Journal
from .measuring import Measure
from .patch import NoChange, Patch
from .plan import Amounts
from .promoting import Pointer, promote, recover
from .proposing import Fate, LearningProposer, ProposalContext, Proposer
from .spending import settle_lost
from .state import Proposal, State


class Workshop(Protocol):
    """What a campaign needs of adapter versions and of those who propose changes of them."""

    def files(self, bundle: str) -> Mapping[str, bytes]:
        """The files of a version."""
        ...

    def stage(self, files: Mapping[str, bytes]) -> str:
        """Keep a version; its id."""
        ...

    def static_gates(self, files: Mapping[str, bytes], patch: Patch) -> list[GateResult]:
        """G0 to G2; the first that fails is the last."""
        ...

    def changed(self, files: Mapping[str, bytes], patch: Patch) -> Mapping[str, bytes]:
        """The files with the change."""
        ...

    def context(self, state: State) -> ProposalContext:
        """What a proposer may know now."""
        ...


class Campaign:
    """One evolver on one ledger."""

    def __init__(
        self, journal: Journal, *, measure: Measure, pointer: Pointer, workshop: Workshop, proposers: Sequence[Proposer]
    ) -> None:
        self._journal = journal
        self._measure = measure
        self._pointer = pointer
        self._workshop = workshop
        self._proposers = proposers
        self._stages = Stages(journal, measure)
        self._observed: set[str] = set()

    @property
    def state(self) -> State:
        """All that is known."""
        return self._journal.state

    async def start(self) -> None:
        """Clear up after whatever ended the last process, and tell proposers what became of their proposals."""
        await recover(self._journal, self._pointer)
        settle_lost(self._journal)
        await self._tell()

    async def calibrate(self, *, is_forced: bool = False) -> GateResult:
        """Compare the champion with itself, unless that is done for what results depend on now.

        Raises:
            BudgetExhausted, InfraPause: as `run_pairs`.
        """
        gate = calibration_gate(self.state, self._measure.key)
        if self._measure.key in self.state.calibrations and not is_forced:
            return gate
        await self._stages.calibrate()
        return calibration_gate(self.state, self._measure.key)

    async def run(self, *, rounds: int | None = None) -> str:
        """Go on until something ends the run, or so many proposals were dealt with; the reason why it ended.

        Raises:
            InfraPause: episodes cannot be run now; the next run goes on where this one stopped.
        """
        await self.start()
        begun = self.state.rounds
        while True:
            try:
                reason = await self._step(is_last=rounds is not None and self.state.rounds - begun >= rounds)
            except BudgetExhausted as error:
                reason = error.message
            except InfraPause as pause:
                self._journal.write(RunStopped(reason=f"paused: {pause.message}"))
                raise
            if reason:
                self._journal.write(RunStopped(reason=reason))
                return reason

    async def _step(self, *, is_last: bool) -> str:
        """One thing that the state calls for; why the run ends, if it does."""
        state, plan = self.state, self.state.started.plan
        if state.frozen:
            return f"frozen: {state.frozen}"
        if waiting := waiting_for_approval(state):
            if not plan.is_auto:
                return f"{waiting} waits for approval"
            await promote(self._journal, self._pointer, waiting, by="")
        elif undecided := open_proposal(state):
            await self._advance(undecided)
        elif is_last:
            return "the rounds are over"
        elif reason := await self._why_not_propose():
            return reason
        else:
            await self._propose()
        await self._tell()
        return ""

    async def _why_not_propose(self) -> str:
        state, plan = self.state, self.state.started.plan
        if state.gated >= plan.max_challengers:
            return (
                f"{state.gated} challengers were at the gate for this champion, which is all that the error rate allows"
            )
        if state.failures >= plan.max_failures:
            return f"{state.failures} proposals in a row were not worth a comparison"
        gate = await self.calibrate()
        if not gate.is_passed:
            return f"the calibration failed: {'; '.join(gate.reasons)}"
        _, longest = challenger_episodes(state)
        cost = expected_cost(state, self._measure.key)
        whole: Amounts = {unit: amount * longest for unit, amount in cost.items()}
        paid = reservation_gate(state, whole)
        return "" if paid.is_passed else f"the budget does not buy one more challenger: {'; '.join(paid.reasons)}"

    async def _propose(self) -> None:
        state = self.state
        proposer = self._proposers[state.rounds % len(self._proposers)]
        try:
            found = await proposer.propose(self._workshop.context(state))
        except BadPatch as error:
            failure = GateResult(gate="G0", is_passed=False, reasons=[error.message], facts={"cause": "proposer_error"})
            self._journal.write(StaticRejected(proposer=proposer.name, results=[failure]))
            return
        if isinstance(found, NoChange):
            self._journal.write(NothingProposed(proposer=proposer.name, reason=found.reason))
            return
        name = f"p{len(state.proposals) + 1}"
        champion = state.champion.bundle
        self._journal.write(Proposed(proposal=name, proposer=proposer.name, champion=champion, patch=found))

    async def _advance(self, proposal: Proposal) -> None:
        """Static gates once, then stage after stage."""
        if not proposal.comparisons:
            results = self._static_results(proposal)
            if not all(result.is_passed for result in results):
                name = proposal.proposed.proposal
                self._journal.write(StaticRejected(proposer=proposal.proposed.proposer, results=results, proposal=name))
                return
        patch = proposal.proposed.patch
        files = self._workshop.changed(self._workshop.files(proposal.proposed.champion), patch)
        await self._stages.advance(proposal, challenger=self._workshop.stage(files))

    def _static_results(self, proposal: Proposal) -> list[GateResult]:
        files = self._workshop.files(proposal.proposed.champion)
        patch = proposal.proposed.patch
        results = self._workshop.static_gates(files, patch)
        if not all(result.is_passed for result in results):
            return results
        challenger = self._workshop.stage(self._workshop.changed(files, patch))
        twins = [
            name for name, other in self.state.proposals.items() if other.challenger == challenger and _is_judged(other)
        ]
        reasons = [f"the same version was judged as {twins[0]}"] if twins else []
        return [
            *results,
            GateResult(gate="G2", is_passed=not reasons, reasons=reasons, facts={"challenger": challenger}),
        ]

    async def _tell(self) -> None:
        """Let proposers that learn know the fates that they have not heard of."""
        for name, proposal in self.state.proposals.items():
            if name in self._observed or proposal.fate in ("open", "waiting for approval"):
                continue
            self._observed.add(name)
            for proposer in self._proposers:
                if proposer.name == proposal.proposed.proposer and isinstance(proposer, LearningProposer):
                    await proposer.observe(fate_of(self.state, proposal))


def fate_of(state: State, proposal: Proposal) -> Fate:
    """What proposers learn about a proposal: never anything of single confirmation or sealed tasks."""
    comparisons = [state.comparisons[name] for name in proposal.comparisons]
    closed = [comparison.closed for comparison in comparisons if comparison.closed]
    results = proposal.rejected.results if proposal.rejected else [one.result for one in closed]
    pairs = [pair for comparison in comparisons for pair in collect(comparison).pairs.values()]
    return Fate(
        patch=proposal.proposed.patch,
        verdict=proposal.fate,
        reasons=[reason for result in results for reason in result.reasons],
        facts={result.gate: result.facts for result in results},
        score=score(pairs),
        bundle=proposal.challenger,
    )


def waiting_for_approval(state: State) -> str:
    """The proposal that could be promoted now; empty without one."""
    for name, proposal in state.proposals.items():
        if proposal.fate == "waiting for approval" and proposal.proposed.champion == state.champion.bundle:
            return name
    return ""


def open_proposal(state: State) -> Proposal | None:
    """The proposal that is neither refused nor judged, against the champion of now."""
    for proposal in reversed(state.proposals.values()):
        if proposal.fate == "open":
            return proposal if proposal.proposed.champion == state.champion.bundle else None
    return None


def _is_judged(proposal: Proposal) -> bool:
    return proposal.fate not in ("open", "void")
