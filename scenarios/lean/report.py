"""What a run says at its end."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .run_folder import RunFolder
from .run_record import RunRecord


def print_report(record: RunRecord, folder: RunFolder, console: Console) -> None:
    """The result in words; for a solved problem the proof, who contributed what, and the certificate."""
    if record.status == "solved":
        _print_proof(folder, console)
        console.print(credit_table(record))
    console.print(Text(_sentence(record)), soft_wrap=True)
    if record.certificate is not None:
        console.print(Text(f"certificate: {record.certificate}"), soft_wrap=True)
    console.print(Text(f"everything is kept in {folder.path}"), soft_wrap=True)


def credit_table(record: RunRecord) -> Table:
    """Lemma, author, and what uses the lemma."""
    table = Table(title="who contributed what", title_justify="left")
    table.add_column("lemma", overflow="fold")
    table.add_column("author", overflow="fold")
    table.add_column("used by", overflow="fold")
    for credit in record.credit:
        table.add_row(Text(credit.name), Text(credit.author), Text(", ".join(credit.used_by) or "the theorem itself"))
    return table


def _print_proof(folder: RunFolder, console: Console) -> None:
    if folder.proof_file.exists():
        console.print(Text(folder.proof_file.read_text(encoding="utf-8").rstrip()), soft_wrap=True)
        console.print()


def _sentence(record: RunRecord) -> str:
    counts = f"{record.lemmas} lemmas, {record.checks} checks"
    match record.status:
        case "solved":
            used = sum(1 for agent in record.agents.values() if agent.used)
            return f"solved in {record.seconds:.1f} s: {counts}; {used} agents contributed to the proof"
        case "interrupted":
            return f"interrupted after {record.seconds:.1f} s: {counts}"
        case _:
            return (
                f"{record.status} after {record.seconds:.1f} s: {counts}{f'; {record.reason}' if record.reason else ''}"
            )
