"""What the judge allows. A change here changes the policy id, and with it every content id."""

import hashlib

ALLOWED_AXIOMS: dict[str, str] = {
    "propext": "5ebbdcc3b1bd9f362f0a993ec50b83fce45dc2acbaeac389a78b67c134c3681b",
    "Quot.sound": "b9c97b10b22a00051f800dac5b515a0bd33466add4abe45fa57a71041db7717a",
    "Classical.choice": "ef297ca5da672217a46057c85b3f2385baba2791eeca15aa8db186a0149e2f92",
}
"""Axiom → digest of its exact type, so that a library cannot smuggle in another meaning under the name."""

COMPUTED = tuple(
    f"Nat.{name}"
    for name in (
        "succ", "add", "sub", "mul", "div", "mod", "pow", "gcd", "beq", "ble", "land", "lor", "xor", "shiftLeft",
        "shiftRight", "log2",
    )
)  # fmt: skip
"""Names that the kernel computes specially: a trusted library must declare them, so that nobody else can."""

POLICY_VERSION = 1

POLICY_ID = hashlib.sha256(repr((POLICY_VERSION, sorted(ALLOWED_AXIOMS.items()))).encode()).hexdigest()[:16]
"""Names this policy in verdicts and certificates."""

# What honest theorems and definitions leave behind in Lean's environment extensions. Entries never travel into the
# store, whatever they are; an artifact that touches another extension is refused because no accepted text leads to it.
ALLOWED_EXTENSIONS = frozenset({
    "Lean.IR.declMapExt",
    "Lean.Compiler.inlineAttrs",
    "Lean.Compiler.nospecializeAttr",
    "Lean.Compiler.specializeAttr",
    "Lean.aliasExtension",
    "Lean.auxRecExt",
    "Lean.backwardDefeqAttr",
    "Lean.classExtension",
    "Lean.declRangeExt",
    "Lean.defeqAttr",
    "Lean.deprecatedModuleExt",
    "Lean.docStringExt",
    "Lean.matchPatternAttr",
    "Lean.moduleDocExt",
    "Lean.neverExtractAttr",
    "Lean.noConfusionExt",
    "Lean.noncomputableExt",
    "Lean.projectionFnInfoExt",
    "Lean.protectedExt",
    "recExt",
    "reducibilityCore",
    "reducibilityExtra",
})  # fmt: skip
_FAMILIES = ("Lean.Compiler.LCNF.", "_private.Lean.", "Lean.Elab.", "Lean.Meta.", "Lean.Linter.", "Lean.Tactic.")
"""Bookkeeping of the compiler, the elaborator and the tactics."""

_CODE = ("Attribute", "simproc", "Simproc", "unificationHint", "Parser", "InitAttr", "CSimp")
"""What registers code, syntax or unification rules, in whichever family."""


def is_allowed_extension(name: str) -> bool:
    """Return whether an artifact may hold entries of the environment extension `name`."""
    if name in ALLOWED_EXTENSIONS:
        return True
    return name.startswith(_FAMILIES) and not any(word in name for word in _CODE)
