"""PROV-JSONLD → statements, through the ``prov`` package, which has its context: nothing is fetched.

The format (W3C submission 2024-08-25) is PROV-JSON's successor. Times and numbers come as that package writes them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from clew_translators.prov.building import NotProv
from clew_translators.prov.read_provjson import read_provjson
from clew_translators.refusal import clip

if TYPE_CHECKING:
    from clew_translators.prov.model import Document

FORMAT = "PROV-JSONLD"
CONTEXT = "openprovenance.org/prov-jsonld"
"""What the address of its context holds."""


def read_provjsonld(text: str) -> Document:
    """What ``text`` states. Raises NotProv."""
    from prov import Error
    from prov.model import ProvDocument

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what it writes in another way
            read = ProvDocument.deserialize(content=text, format="jsonld")
            return read_provjson(str(read.serialize(format="json")))
    except NotProv:
        raise
    except (Error, ValueError, TypeError, LookupError, AttributeError) as error:
        raise NotProv(FORMAT, clip(str(error) or type(error).__name__, 200)) from None
