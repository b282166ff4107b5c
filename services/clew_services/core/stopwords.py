"""Words that nearly every text has, so that they rank nothing: English and Chinese function words, punctuation.

The English ones are Lucene's classic set and the words that questions are made with.
"""

import string
from typing import Final

_ENGLISH = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with
about am any can could did do does from had has have how i its me my our should so than them we were what when
where which who whom whose why would you your
"""
_CHINESE = """
的 了 是 在 和 与 及 或 也 都 就 而 着 把 被 对 从 到 为 于 吗 呢 吧 啊 我 你 他 她 它 我们 你们 他们 这 那 这个 那个
什么 怎么 怎样 如何 哪 哪些 哪个 为什么 多少 谁 请 请问
"""
_PUNCTUATION = "，。、；：？！“”‘’（）《》【】…—·" + string.punctuation

STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_CHINESE}".split()) | set(_PUNCTUATION)
"""Lower case. Left out of the BM25 leg on both sides, the text's and the question's."""
