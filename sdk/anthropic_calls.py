"""The calls that the suites of the `anthropic` SDK share, and what the sandbox says to them."""

import pytest
from anthropic import Anthropic
from anthropic.types import Message

MODEL = "claude-opus-5"
# Runs of white space and a character outside the BMP: a stream has to give back each byte.
PROMPT = "two  spaces,\na line, \ttab, naïve 🚀"
ECHO = f"You said: {PROMPT}"
FRANCE = "What is the capital of France?"

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "units": {"type": "string"}},
        "required": ["city", "units"],
        "additionalProperties": False,
    },
}
CLOCK = {"name": "clock", "input_schema": {"type": "object"}}
ARGUMENTS = {"city": "Kampala", "units": "metric"}


def connect(sandbox, **options) -> Anthropic:
    defaults = {"api_key": sandbox.key, "max_retries": 0, "timeout": 10}
    return Anthropic(base_url=f"{sandbox.url}/anthropic", **defaults | options)


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, model=MODEL, prompt=PROMPT, **options):
    options = {"max_tokens": 1024, "messages": user(prompt)} | options
    return client.messages.create(model=model, **options)


def gathered(client, model=MODEL, prompt=PROMPT, **options):
    """What the SDK's stream helper makes of a stream in the end."""
    options = {"max_tokens": 1024, "messages": user(prompt)} | options
    with client.messages.stream(model=model, **options) as stream:
        return stream.get_final_message()


def text(answer: Message):
    return "".join(block.text for block in answer.content if block.type == "text")


def calls(answer: Message):
    return [block for block in answer.content if block.type == "tool_use"]


def drain(events):
    """The text of a stream, its stop reason, and the error that ended it, if one did."""
    said, reason, error = "", None, None
    try:
        for event in events:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                said += event.delta.text
            if event.type == "message_delta":
                reason = event.delta.stop_reason or reason
    except Exception as raised:
        error = raised
    return said, reason, error


def raised(kind, call, *arguments, **options):
    """The error of a call, of exactly this class."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    assert type(caught.value) is kind
    return caught.value
