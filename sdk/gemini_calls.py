"""The calls that the suites of the `google-genai` SDK share, and what the sandbox says to them."""

import pytest
from google import genai
from google.genai import types

MODEL = "gemini-3.6-flash"
# Runs of white space and a character outside the BMP: a stream has to give back each byte.
PROMPT = "two  spaces,\na line, \ttab, naïve 🚀"
ECHO = f"You said: {PROMPT}"
FRANCE = "What is the capital of France?"

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters_json_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "units": {"type": "string"}},
        "required": ["city", "units"],
    },
}
CLOCK = {"name": "clock"}
TOOLS = [{"function_declarations": [CLOCK, WEATHER]}]
ARGUMENTS = {"city": "Kampala", "units": "metric"}

# Three attempts in all, without a wait: the SDK takes none from the server.
RETRIES = types.HttpRetryOptions(attempts=3, initial_delay=0, max_delay=0, jitter=0)


def connect(sandbox, key=None, **options) -> genai.Client:
    defaults = {"base_url": f"{sandbox.url}/gemini", "timeout": 10_000}
    http_options = types.HttpOptions(**defaults | options)
    return genai.Client(api_key=key or sandbox.key, http_options=http_options)


def ask(client, model=MODEL, contents=PROMPT, **config):
    return client.models.generate_content(model=model, contents=contents, config=config)


def stream(client, model=MODEL, contents=PROMPT, **config):
    return client.models.generate_content_stream(model=model, contents=contents, config=config)


def finish(answer):
    """The reason a candidate ended, as it stands on the wire."""
    reason = answer.candidates[0].finish_reason if answer.candidates else None
    return reason.value if reason else None


def drain(chunks):
    """The text of a stream, its finish reason, and the error that ended it, if one did."""
    said, reason, error = "", None, None
    try:
        for chunk in chunks:
            said += chunk.text or ""
            reason = finish(chunk) or reason
    except Exception as raised:
        error = raised
    return said, reason, error


def raised(kind, call, *arguments, **options):
    """The error of a call, of exactly this class."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    assert type(caught.value) is kind
    return caught.value
