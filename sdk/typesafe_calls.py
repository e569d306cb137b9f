"""The calls that the suites of the `typesafe-sdk` SDK share, and what they ask."""

import pytest
from typesafe_sdk import Choice, Noul, RetryPolicy, Score, TypeSafeClient

STATE = "The kettle has leaked since Tuesday, and nobody answers. naïve 🚀"
DEFECT = {"defect": Noul(instructions="Does the text report a defect?")}
MIXED = {
    **DEFECT,
    "team": Choice(
        instructions={"task": "Pick the team", "hint": "read `messages`"},
        criteria={"warranty": "Broken things", "billing": None, "other": {"means": "the rest"}},
    ),
    "anger": Score(criteria=["calm", {"label": "annoyed"}, ["angry", "furious"]]),
}
NEVER = RetryPolicy(max_retries=0)
PNG = b"\x89PNG\r\n\x1a\nand what follows"
JPEG = b"\xff\xd8\xffand what follows"
IMAGES = {"TypeSafe-Danger-Zone-Images": "true"}


def connect(sandbox, **options) -> TypeSafeClient:
    defaults = {"api_key": sandbox.key, "retry": NEVER, "timeout": 10}
    defaults["base_url"] = f"{sandbox.url}/typesafe"
    return TypeSafeClient(**defaults | options)


def ask(client, model=None, questions=DEFECT, state=STATE, **options):
    return client.system_one(state, questions, model=model, **options)


def raised(kind, call, *arguments, **options):
    """The error of a call, of exactly this class."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    assert type(caught.value) is kind
    return caught.value
