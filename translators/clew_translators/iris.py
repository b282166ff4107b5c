"""Which texts are IRIs, language tags and labels of blank nodes, as strictly as the stores that will hold them.

A trace store refuses a whole batch for one name that is none, so what is not certain to be accepted is refused
here, where somebody can still say which it was.
"""

import re
from ipaddress import AddressValueError, IPv6Address

# RFC 3987, section 2.2: `ucschar` and `iprivate`.
_UCS = r"\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    rf"\U000{plane:X}{'1' if plane == 14 else '0'}000-\U000{plane:X}FFFD" for plane in range(1, 15)
)
_PRIVATE = r"\ue000-\uf8ff\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"
_PLAIN = rf"A-Za-z0-9._~!$&'()*+,;=\-{_UCS}"
_PERCENT = "%[0-9A-Fa-f]{2}"
_IRI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:(?:[{_PLAIN}:]|{_PERCENT})*@)?"
    rf"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?:[{_PLAIN}]|{_PERCENT})*)(?::[0-9]*)?(?=[/?\#]|$)|(?!//))"
    rf"(?:[{_PLAIN}:@/]|{_PERCENT})*"
    rf"(?:\?(?:[{_PLAIN}:@/?{_PRIVATE}]|{_PERCENT})*)?"
    rf"(?:\#(?:[{_PLAIN}:@/?]|{_PERCENT})*)?"
)
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
# RFC 5646, section 2.1, without its grandfathered tags.
_LANGUAGE = re.compile(
    r"(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+)",
    re.IGNORECASE | re.ASCII,
)


def is_iri(text: str) -> bool:
    """Whether ``text`` is an absolute IRI (RFC 3987)."""
    match = _IRI.fullmatch(text)
    return match is not None and (match["address"] is None or _is_address(match["address"]))


def is_language_tag(text: str) -> bool:
    """Whether ``text`` is a well-formed language tag (RFC 5646); its subtags need not be registered."""
    return _LANGUAGE.fullmatch(text) is not None


def is_blank_label(text: str) -> bool:
    """Whether ``text`` is a label in ASCII that every reader of N-Quads accepts."""
    return _LABEL.fullmatch(text) is not None


def _is_address(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True
