"""Lean names for the symbols of a problem: readable, injective within the problem, and never a name that Lean owns.

Letters, digits and `_` stay; operators become words (`++` → `append`, `<=2` → `le2`). A name that Lean's core or its
grammar owns, or that this problem has given away, is changed: a type gets a small initial (`Nat` → `nat`), anything
else a prime (`max` → `max'`), then a number.
"""

import re
from collections.abc import Iterable

_OPERATORS = {
    "<=>": "equiv", "++": "append", "<=": "le", ">=": "ge", "==": "eq", "/=": "ne", "!=": "ne", "&&": "and", "||": "or",
    "=>": "implies", "->": "arrow", "!!": "index", "<": "lt", ">": "gt", "=": "eq", "+": "plus", "-": "minus",
    "*": "times", "/": "slash", "!": "bang", "?": "is", "@": "at", "#": "hash", "$": "dollar", "%": "percent",
    "^": "power", "~": "tilde", "&": "amp", "|": "bar", ":": "colon", ".": "dot", "\\": "backslash", ",": "comma",
    ";": "semicolon", '"': "quote", "(": "open", ")": "close", "[": "open", "]": "close", "{": "open", "}": "close",
    "`": "tick",
}  # fmt: skip
_PIECE = re.compile(
    r"(?P<word>[A-Za-z0-9_']+)|(?P<join>(?<=[A-Za-z0-9])-(?=\S)|\s+)|(?P<operator>"
    + "|".join(re.escape(operator) for operator in sorted(_OPERATORS, key=len, reverse=True))
    + r")|(?P<other>.)",
    re.DOTALL,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GRAMMAR = _words(
    """abbrev admit and as at attribute axiom axioms based begin bind break by calc catch class coinductive continue
    conv decide decreasing_by def default deriving do elab else end example exists export extends finally for forall
    from fun generalizing have hiding if import in include inductive infix infixl infixr initialize inline instance
    into irreducible lemma let local macro macro_rules match meta module mut mutual namespace nofun nomatch
    noncomputable nonrec notation obtain omit on only opaque open or partial postfix prefix prelude private protected
    public rec reducible rename renaming return scoped section set_option show sorry structure suffices syntax
    termination_by then theorem this try universe unless unsafe using value_of variable where while with
    Prop Sort Type"""
)
"""Words of Lean's grammar, and some that only look so."""

CORE = _words(
    """abs absurd and bne beq by_contra cast cond congr congrArg congrFun compare compareOn coe dbgTrace decide default
    dite emptyWf eq_of_heq eq_self eqRec_heq false false_and flip forall_congr funext get getElem guard hcongr
    heq_of_eq id ite iff implies inferInstance inferInstanceAs init_quot inline lcErased lcAny lcVoid lcProof
    lcUnreachable lcCast liftM max measure min modify monadLift mt namedPattern ne none not not_not noConfusion
    of_decide_eq_true of_eq_true optParam or outParam panic panicCore proof_irrel propext pure rfl read set
    singleton sizeOf some sorryAx timeit throw trivial true type_eq unsafeCast withPtrEq xor Acc Add And AndOp
    Append Applicative Array ArrowOp BEq BaseIO Bind BitVec Bool ByteArray Char Classical Coe CoeDep CoeFun CoeHead
    CoeOut CoeSort CoeT CoeTC CoeTail Complement Decidable DecidableEq DecidableLE DecidableLT DecidablePred
    DecidableRel Div Dvd Dynamic EIO Empty EmptyCollection Eq Equivalence EStateM Except ExceptT Exists False Fin
    Float Float32 FloatArray ForIn ForM Function Functor GetElem Goal HAdd HAnd HAndThen HAppend HDiv HEq HMod HMul
    HOr HOrElse HPow HShiftLeft HShiftRight HSMul HSub HXor Hashable HasEquiv HasSSubset HasSubset Id Iff Inhabited
    Insert Int Int16 Int32 Int64 Int8 Inter IO ISize IntCast L LE LT LawfulBEq Lean List MProd Max Membership Min
    MiniCore Mod Monad MonadExcept MonadLift MonadReader MonadState MonadStateOf Mul Nat NatCast NatPow Neg NeZero
    Nonempty Not OfNat OfScientific One Option OptionT Or OrElse OrOp Ord Ordering PEmpty PLift PProd PSigma PSum
    PUnit Pi Prod Pure Quot Quotient Rat ReaderT Repr SDiff SMul ST Seq SeqLeft SeqRight Setoid Sigma Singleton
    SizeOf Squash StateT Std Stream String Sub Subarray Subrelation Subsingleton Substring Subtype Sum System Task
    Thunk ToBool ToStream ToString Trans True TypeName UInt16 UInt32 UInt64 UInt8 ULift USize Union Unit Vector Void
    WellFounded WellFoundedRelation XorOp Zero"""
)
"""Names at the root of Lean's own core (and of ours), so that a problem means the same in both."""

_IN_TYPES = _words(
    """below binductionOn brecOn casesOn ctorElim ctorElimType ctorIdx ind injEq inj noConfusion noConfusionType
    noConfusionEnum ofNat rec recOn sizeOf sizeOf_spec toCtorIdx mk"""
)


def readable(symbol: str) -> str:
    """A Lean identifier that resembles the symbol; two symbols may share it."""
    pieces: list[str] = []
    for match in _PIECE.finditer(symbol):
        text = match[0]
        match match.lastgroup:
            case "word":
                glued = pieces and pieces[-1] != "_" and not (text[0].isdigit() or text[0] in "_'")
                pieces += ["_", text] if glued else [text]
            case "join":
                pieces.append("_")
            case "operator":
                pieces += ["_", _OPERATORS[text]] if pieces and pieces[-1] != "_" else [_OPERATORS[text]]
            case _:
                pieces.append(f"u{ord(text):x}")
    name = "".join(pieces)
    return name if re.match(r"[A-Za-z]", name) else "x" + name.replace("'", "_")


class Names:
    """One injective table. Tables that share `taken` never give the same name twice."""

    def __init__(self, taken: Iterable[str] = GRAMMAR | CORE) -> None:
        self._taken = set(taken)
        self._given: dict[tuple[str, str], str] = {}

    def child(self) -> "Names":
        """A table for an inner scope: its names differ from all given so far."""
        return Names(self._taken)

    def pick(self, symbol: str, *, kind: str = "", lower_first: bool = False) -> str:
        """The name of a symbol: chosen at the first call, the same afterwards."""
        key = (kind, symbol)
        if key not in self._given:
            self._given[key] = self._choose(readable(symbol), lower_first=lower_first)
            self._taken.add(self._given[key])
        return self._given[key]

    def _choose(self, name: str, *, lower_first: bool) -> str:
        options = [name, name[0].lower() + name[1:]] if lower_first else [name]
        options += [options[-1] + "'", *(f"{options[-1]}_{number}" for number in range(2, 1000))]
        return next(option for option in options if option not in self._taken)


def constructor_names(symbols: Iterable[str]) -> dict[str, str]:
    """Names of constructors within their datatype."""
    names = Names(_IN_TYPES | GRAMMAR)
    return {symbol: names.pick(symbol) for symbol in symbols}
