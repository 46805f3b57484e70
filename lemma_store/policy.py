"""What the judge allows. A change here changes the policy id, and with it every content id."""

import hashlib

ALLOWED_AXIOMS: dict[str, str] = {
    "propext": "5ebbdcc3b1bd9f362f0a993ec50b83fce45dc2acbaeac389a78b67c134c3681b",
    "Quot.sound": "b9c97b10b22a00051f800dac5b515a0bd33466add4abe45fa57a71041db7717a",
    "Classical.choice": "ef297ca5da672217a46057c85b3f2385baba2791eeca15aa8db186a0149e2f92",
}
"""Axiom → digest of its exact type, so that a library cannot smuggle in another meaning under the name."""

POLICY_VERSION = 1

POLICY_ID = hashlib.sha256(repr((POLICY_VERSION, sorted(ALLOWED_AXIOMS.items()))).encode()).hexdigest()[:16]
"""Names this policy in verdicts and certificates."""

# Extensions that honest theorems and definitions touch. Entries never travel into the store, whatever they are;
# an artifact that touches another extension is refused because nothing an agent may write needs it.
ALLOWED_EXTENSIONS = frozenset({
    "Lean.auxRecExt",
    "Lean.noConfusionExt",
    "Lean.declRangeExt",
    "Lean.protectedExt",
    "Lean.aliasExtension",
    "Lean.noncomputableExt",
    "Lean.classExtension",
    "reducibilityCore",
    "recExt",
    "Lean.Compiler.inlineAttrs",
    "Lean.projectionFnInfoExt",
    "Lean.deprecatedModuleExt",
    "Lean.backwardDefeqAttr",
    "Lean.defeqAttr",
    "Lean.IR.declMapExt",
    "Lean.Meta.congrKindsExt",
    "Lean.Meta.simpExtension",
    "Lean.Meta.completionBlackListExt",
    "Lean.Meta.instanceExtension",
    "Lean.Meta.Match.Extension.extension",
    "Lean.Meta.Grind.grindExt",
    "Lean.Meta.globalInstanceExtension",
    "Lean.Meta.unificationHintExtension",
    "Lean.docStringExt",
    "Lean.Elab.Structural.eqnInfoExt",
    "Lean.Elab.WF.eqnInfoExt",
    "Lean.Elab.PartialFixpoint.eqnInfoExt",
})  # fmt: skip
ALLOWED_EXTENSION_PREFIXES = ("Lean.Compiler.LCNF.", "_private.Lean.", "Lean.Elab.", "Lean.Meta.", "Lean.Linter.")
"""Families of bookkeeping extensions; those that register native code or parsers are not among them."""

REFUSED_EXTENSIONS = ("Lean.Elab.Command", "Lean.Elab.Tactic.tacticElab", "Lean.Elab.macro", "Lean.Elab.Term.termElab")


def is_allowed_extension(name: str) -> bool:
    """Return whether an artifact may hold entries of the environment extension `name`."""
    if name in ALLOWED_EXTENSIONS:
        return True
    return name.startswith(ALLOWED_EXTENSION_PREFIXES) and not name.startswith(REFUSED_EXTENSIONS)
