"""Names that the kernel computes specially: a trusted library must declare them, so that nobody else can."""

from bus.errors import BadProblem

from .judge import Judge

COMPUTED = tuple(
    f"Nat.{name}"
    for name in (
        "succ", "add", "sub", "mul", "div", "mod", "pow", "gcd", "beq", "ble", "land", "lor", "xor", "shiftLeft",
        "shiftRight", "log2",
    )
)  # fmt: skip


async def refuse_free_names(judge: Judge) -> None:
    """Return when the library that `judge` has replayed declares everything that the kernel computes by name.

    Raises:
        BadProblem: a text could declare such a name, and the kernel would believe it to be the usual function.
    """
    for name in COMPUTED:
        if (await judge.look_up(name)).status != "done":
            hint = "import all of the toolchain's core: Init, or MiniCore"
            raise BadProblem(f"the imports leave the name {name} free, which the kernel computes specially", hint=hint)
