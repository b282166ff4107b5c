"""PROV-O as tables: what each property and class says in the data model.

Source: PROV-O (REC 2013-04-30), its cross reference and table 5 (the names of inverse properties), and PROV-Links.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from clew_translators.namespaces import PROV
from clew_translators.prov.model import Kind


def _in_prov(table: str) -> dict[str, str]:
    pairs = (line.split() for line in table.strip().splitlines())
    return {PROV + left: PROV + right for left, right in pairs}


INVERSES: Mapping[str, str] = MappingProxyType(
    _in_prov("""
    hadDelegate               actedOnBehalfOf
    activityOfInfluence       activity
    agentOfInfluence          agent
    locationOf                atLocation
    entityOfInfluence         entity
    generated                 wasGeneratedBy
    wasActivityOfInfluence    hadActivity
    generatedAsDerivation     hadGeneration
    wasMemberOf               hadMember
    wasPlanOf                 hadPlan
    wasPrimarySourceOf        hadPrimarySource
    wasRoleIn                 hadRole
    wasUsedInDerivation       hadUsage
    influenced                wasInfluencedBy
    hadInfluence              influencer
    invalidated               wasInvalidatedBy
    qualifiedAssociationOf    qualifiedAssociation
    qualifiedAttributionOf    qualifiedAttribution
    qualifiedCommunicationOf  qualifiedCommunication
    qualifiedDelegationOf     qualifiedDelegation
    qualifiedDerivationOf     qualifiedDerivation
    qualifiedEndOf            qualifiedEnd
    qualifiedGenerationOf     qualifiedGeneration
    qualifiedInfluenceOf      qualifiedInfluence
    qualifiedInvalidationOf   qualifiedInvalidation
    qualifiedSourceOf         qualifiedPrimarySource
    qualifiedQuotationOf      qualifiedQuotation
    revisedEntity             qualifiedRevision
    qualifiedStartOf          qualifiedStart
    qualifiedUsingActivity    qualifiedUsage
    generalizationOf          specializationOf
    wasUsedBy                 used
    wasAssociateFor           wasAssociatedWith
    contributed               wasAttributedTo
    hadDerivation             wasDerivedFrom
    ended                     wasEndedBy
    informed                  wasInformedBy
    quotedAs                  wasQuotedFrom
    hadRevision               wasRevisionOf
    started                   wasStartedBy
    """)
)
"""The inverse of a property → the property: ``a generated e`` says ``e wasGeneratedBy a``."""

REVISION, QUOTATION, PRIMARY_SOURCE = (PROV + name for name in ("Revision", "Quotation", "PrimarySource"))

RELATIONS: Mapping[str, tuple[Kind, str]] = MappingProxyType(
    {
        PROV + "used": ("used", ""),
        PROV + "wasGeneratedBy": ("wasGeneratedBy", ""),
        PROV + "wasInformedBy": ("wasInformedBy", ""),
        PROV + "wasStartedBy": ("wasStartedBy", ""),
        PROV + "wasEndedBy": ("wasEndedBy", ""),
        PROV + "wasInvalidatedBy": ("wasInvalidatedBy", ""),
        PROV + "wasDerivedFrom": ("wasDerivedFrom", ""),
        PROV + "wasRevisionOf": ("wasDerivedFrom", REVISION),
        PROV + "wasQuotedFrom": ("wasDerivedFrom", QUOTATION),
        PROV + "hadPrimarySource": ("wasDerivedFrom", PRIMARY_SOURCE),
        PROV + "wasAttributedTo": ("wasAttributedTo", ""),
        PROV + "wasAssociatedWith": ("wasAssociatedWith", ""),
        PROV + "actedOnBehalfOf": ("actedOnBehalfOf", ""),
        PROV + "wasInfluencedBy": ("wasInfluencedBy", ""),
        PROV + "specializationOf": ("specializationOf", ""),
        PROV + "alternateOf": ("alternateOf", ""),
        PROV + "hadMember": ("hadMember", ""),
        PROV + "mentionOf": ("mentionOf", ""),
    }
)
"""An unqualified property → its statement, and the ``prov:type`` it has. Subject and object are the first arguments."""

ACTIVITY, AGENT, ENTITY, INFLUENCER = (PROV + name for name in ("activity", "agent", "entity", "influencer"))
AT_TIME, HAD_ACTIVITY, HAD_ROLE = (PROV + name for name in ("atTime", "hadActivity", "hadRole"))
HAD_GENERATION, HAD_USAGE, HAD_PLAN = (PROV + name for name in ("hadGeneration", "hadUsage", "hadPlan"))

_DERIVATION = {
    "usedEntity": ENTITY,
    "activity": HAD_ACTIVITY,
    "generation": HAD_GENERATION,
    "usage": HAD_USAGE,
}
QUALIFIED: Mapping[str, tuple[Kind, Mapping[str, str], str]] = MappingProxyType(
    {
        PROV + "qualifiedGeneration": ("wasGeneratedBy", {"activity": ACTIVITY, "time": AT_TIME}, ""),
        PROV + "qualifiedUsage": ("used", {"entity": ENTITY, "time": AT_TIME}, ""),
        PROV + "qualifiedCommunication": ("wasInformedBy", {"informant": ACTIVITY}, ""),
        PROV + "qualifiedStart": (
            "wasStartedBy",
            {"trigger": ENTITY, "starter": HAD_ACTIVITY, "time": AT_TIME},
            "",
        ),
        PROV + "qualifiedEnd": (
            "wasEndedBy",
            {"trigger": ENTITY, "ender": HAD_ACTIVITY, "time": AT_TIME},
            "",
        ),
        PROV + "qualifiedInvalidation": ("wasInvalidatedBy", {"activity": ACTIVITY, "time": AT_TIME}, ""),
        PROV + "qualifiedDerivation": ("wasDerivedFrom", _DERIVATION, ""),
        PROV + "qualifiedRevision": ("wasDerivedFrom", _DERIVATION, REVISION),
        PROV + "qualifiedQuotation": ("wasDerivedFrom", _DERIVATION, QUOTATION),
        PROV + "qualifiedPrimarySource": ("wasDerivedFrom", _DERIVATION, PRIMARY_SOURCE),
        PROV + "qualifiedAttribution": ("wasAttributedTo", {"agent": AGENT}, ""),
        PROV + "qualifiedAssociation": ("wasAssociatedWith", {"agent": AGENT, "plan": HAD_PLAN}, ""),
        PROV + "qualifiedDelegation": (
            "actedOnBehalfOf",
            {"responsible": AGENT, "activity": HAD_ACTIVITY},
            "",
        ),
        PROV + "qualifiedInfluence": ("wasInfluencedBy", {"influencer": INFLUENCER}, ""),
    }
)
"""A qualifying property → its statement, which property of the qualification holds which argument, its ``prov:type``.

The subject is the first argument. ``prov:influencer`` may stand for what names the second, being its superproperty.
"""

ABOUT_INFLUENCE = frozenset(
    {ACTIVITY, AGENT, ENTITY, INFLUENCER, AT_TIME, HAD_ACTIVITY, HAD_GENERATION, HAD_USAGE, HAD_PLAN}
)
"""What qualifications alone have."""

CLASSES: Mapping[str, Kind] = MappingProxyType(
    {PROV + "Entity": "entity", PROV + "Activity": "activity", PROV + "Agent": "agent"}
)
SUBCLASSES: Mapping[str, Kind] = MappingProxyType(
    {
        PROV + "Plan": "entity",
        PROV + "Bundle": "entity",
        PROV + "Collection": "entity",
        PROV + "EmptyCollection": "entity",
        PROV + "Person": "agent",
        PROV + "Organization": "agent",
        PROV + "SoftwareAgent": "agent",
    }
)
"""Classes that imply another, and that the data model has as ``prov:type``."""

QUALIFICATIONS = frozenset(
    PROV + name
    for name in (
        "Influence", "EntityInfluence", "ActivityInfluence", "AgentInfluence", "InstantaneousEvent", "Generation",
        "Usage", "Communication", "Start", "End", "Invalidation", "Derivation", "Attribution", "Association",
        "Delegation",
    )
)  # fmt: skip
"""Classes that say no more of a qualification than the property that leads to it."""
