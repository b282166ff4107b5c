"""No network for this process: what its library would fetch for a query, the kernel refuses.

A query is looked at before (:mod:`clew_services.adapters.stores.sparql_text`), but how an engine reads a text is its
own affair: pyoxigraph takes ``SERVICESILENT<http://…>`` for a call of another server. On Linux a seccomp filter makes
``socket`` fail from now on (https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html); no right is
needed for that, and it cannot be undone. Elsewhere the look at the text is all there is.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ARCHITECTURES: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
)
"""Its number for the kernel's audit, and the numbers of the calls ``socket`` and ``io_uring_setup``."""

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def seal() -> bool:
    """Refuse every new socket with EPERM, in this thread and those that it starts; whether the kernel does so."""
    known = _ARCHITECTURES.get(platform.machine()) if sys.platform == "linux" else None
    if known is None:
        return False
    architecture, socket, ring = known
    steps = (
        (_LOAD, 0, 0, 4),  # the architecture of the call
        (_IF_EQUAL, 0, 3, architecture),  # of another one: refused, for its calls have other numbers
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_EQUAL, 1, 0, socket),
        (_IF_EQUAL, 0, 1, ring),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    )
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), code)
    calls = ((_PR_SET_NO_NEW_PRIVS, 1, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program)))
    return all(libc.prctl(*call, 0, 0) == 0 for call in calls)
