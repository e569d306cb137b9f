"""The calls that the suites of the `openai` SDK share, and what the sandbox says to them."""

import pytest
from openai import APIError, OpenAI
from openai.types.chat import ChatCompletion

MODEL = "gpt-5.6"
# Runs of white space and a character outside the BMP: a stream has to give back each byte.
PROMPT = "two  spaces,\na line, \ttab, naïve 🚀"
ECHO = f"You said: {PROMPT}"
FRANCE = "What is the capital of France?"

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "units": {"type": "string"}},
            "required": ["city", "units"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
ARGUMENTS = {"city": "Kampala", "units": "metric"}


def connect(sandbox, mount="openai", **options) -> OpenAI:
    defaults = {"api_key": sandbox.key, "max_retries": 0, "timeout": 10}
    return OpenAI(base_url=f"{sandbox.url}/{mount}/v1", **defaults | options)


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, model=MODEL, prompt=PROMPT, **options):
    return client.chat.completions.create(model=model, messages=user(prompt), **options)


def text(answer: ChatCompletion):
    return answer.choices[0].message.content


def drain(chunks):
    """The text of a stream, its finish reason, and the error that ended it, if one did."""
    said, finish, error = "", None, None
    try:
        for chunk in chunks:
            for choice in chunk.choices:
                said += choice.delta.content or ""
                finish = choice.finish_reason or finish
    except APIError as raised:
        error = raised
    return said, finish, error


def raised(kind, call, *arguments, **options):
    """The error of a call, of exactly this class."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    assert type(caught.value) is kind
    return caught.value
