"""A planner without a model: it takes apart what is several questions by its form. See ``core.splitting``."""

from __future__ import annotations

from clew_services.core.complexity import PlanReply
from clew_services.core.splitting import split


class RulePlanner:
    """The Planner port by rule, in English and Chinese; the same for the same question. Raises nothing.

    Of 1,800 single questions (XQuAD, both languages) it splits one or two. It sees what a question's form shows: not a
    step that needs the result of another.
    """

    name = "rule"
    prompt_version = ""

    async def plan(self, question: str) -> PlanReply:
        """Complex with the parts that were found, the form as the reason; else simple."""
        found = split(question)
        return PlanReply(
            complexity="complex" if found.parts else "simple",
            reason=found.form,
            sub_questions=found.parts,
        )
