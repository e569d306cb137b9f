"""The official `openai` SDK's Responses API, unchanged, against the sandbox.

Where the SDK itself does something that skyl would call wrong, the test holds what the SDK really
does and says so.
"""

import asyncio
import json

import openai
import pytest
from openai import APIConnectionError, APIError, APIStatusError
from openai_calls import ARGUMENTS, ECHO, FRANCE, MODEL, PROMPT, connect, raised
from pydantic import BaseModel

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "units": {"type": "string"}},
        "required": ["city", "units"],
        "additionalProperties": False,
    },
}


@pytest.fixture(scope="module")
def client(sandbox):
    """A client without retries of its own."""
    with connect(sandbox) as client:
        yield client


@pytest.fixture(scope="module")
def retrying(client):
    """The same with the SDK's two retries, its default."""
    return client.with_options(max_retries=2)


def ask(client, model=MODEL, input=PROMPT, **options):
    return client.responses.create(model=model, input=input, **options)


def drain(events):
    """The text of a stream, the type of its last event, and the error that ended it."""
    said, last, error = "", None, None
    try:
        for event in events:
            last = event.type
            if event.type == "response.output_text.delta":
                said += event.delta
    except APIError as raised:
        error = raised
    return said, last, error


# Answers


def test_an_answer_comes_with_usage(client, journal):
    answer = ask(client, input=FRANCE, instructions="Be brief.")
    assert answer.output_text == "Paris"
    assert (answer.object, answer.status, answer.model) == ("response", "completed", MODEL)
    assert answer.id.startswith("resp_")
    assert answer.error is None and answer.incomplete_details is None
    assert answer.instructions == "Be brief."
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (8, 1)
    assert answer.usage.total_tokens == 9
    assert answer.usage.input_tokens_details.cached_tokens == 0
    assert answer.usage.output_tokens_details.reasoning_tokens == 0
    [item] = answer.output
    assert (item.type, item.role, item.status) == ("message", "assistant", "completed")

    [entry] = journal()
    assert (entry.method, entry.status, entry.model, entry.step) == ("POST", 200, MODEL, None)
    assert (entry.mount, entry.path) == ("openai", "/openai/v1/responses")
    assert answer._request_id.endswith(f"_{entry.seq}")


def test_text_keeps_its_bytes_complete_and_streamed(client):
    assert ask(client).output_text == ECHO
    assert drain(ask(client, stream=True)) == (ECHO, "response.completed", None)


def test_roles_and_parts_are_taken(client):
    answer = ask(
        client,
        input=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
                ],
            },
        ],
    )
    assert answer.output_text == "You said: look"


def test_a_stream_comes_in_the_documented_order(client):
    whole = ask(client)
    events = list(ask(client, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type.removeprefix("response.") for event in events]
    first, last = kinds.index("output_text.delta"), kinds.index("output_text.done")
    assert kinds[:first] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert set(kinds[first:last]) == {"output_text.delta"} and last - first > 2
    assert kinds[last:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert events[-1].response.to_dict() == whole.to_dict()
    # Every event is of a type the SDK knows, with every field it asks for.
    assert all(type(event).__name__.startswith("Response") for event in events)


def test_the_stream_helper_gathers_what_create_gives(client):
    whole = ask(client)
    with client.responses.stream(model=MODEL, input=PROMPT) as stream:
        said = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        gathered = stream.get_final_response()
    assert (said, gathered.output_text) == (ECHO, ECHO)
    assert gathered.usage == whole.usage


def test_the_async_client_does_the_same(sandbox, do, journal):
    async def calls():
        base_url = f"{sandbox.url}/openai/v1"
        async with openai.AsyncOpenAI(base_url=base_url, api_key=sandbox.key) as client:
            create = client.responses.create
            answer = await create(model=do("429(ra-ms=1)*2,ok"), input=PROMPT)
            said = ""
            async for event in await create(model=MODEL, input=PROMPT, stream=True):
                said += event.delta if event.type == "response.output_text.delta" else ""
            return answer.output_text, said

    assert asyncio.run(calls()) == (ECHO, ECHO)
    assert [entry.status for entry in journal()] == [429, 429, 200, 200]


# Endings


def test_a_limit_makes_an_answer_incomplete(client):
    limit = {"input": "word " * 40, "max_output_tokens": 16}
    answer = ask(client, **limit)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert answer.usage.output_tokens == len(answer.output_text.split()) == 16
    said, last, _ = drain(ask(client, stream=True, **limit))
    assert (said, last) == (answer.output_text, "response.incomplete")
    error = raised(openai.BadRequestError, ask, client, max_output_tokens=15)
    assert (error.param, error.code) == ("max_output_tokens", "integer_below_min_value")


def test_a_filter_makes_an_answer_incomplete_and_empty(client):
    answer = ask(client, "sandbox-content-filter")
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "content_filter")
    assert (answer.output, answer.output_text) == ([], "")


def test_a_refusal_is_a_part_of_its_own(client):
    answer = ask(client, "sandbox-refusal")
    [part] = answer.output[0].content
    assert (part.type, answer.output_text) == ("refusal", "")
    events = list(ask(client, "sandbox-refusal", stream=True))
    pieces = [event.delta for event in events if event.type == "response.refusal.delta"]
    assert "".join(pieces) == part.refusal


def test_reasoning_goes_back_with_what_was_encrypted(client):
    options = {"store": False, "include": ["reasoning.encrypted_content"]}
    first = ask(client, "sandbox-reasoning", reasoning={"effort": "low"}, **options)
    reasoning, message = first.output
    assert reasoning.summary[0].text and reasoning.encrypted_content
    assert 0 < first.usage.output_tokens_details.reasoning_tokens < first.usage.output_tokens
    events = list(ask(client, "sandbox-reasoning", stream=True))
    kind = "response.reasoning_summary_text.delta"
    assert "".join(e.delta for e in events if e.type == kind) == reasoning.summary[0].text

    history = [{"role": "user", "content": PROMPT}]
    told = reasoning.to_dict()
    said = {"role": "assistant", "content": first.output_text}
    ended = {"role": "user", "content": "And now?"}
    second = ask(client, input=[*history, told, said, ended], **options)
    assert second.output_text == "You said: And now?"
    # Without what follows it, and with the state of an unfinished item, the provider refuses.
    error = raised(openai.BadRequestError, ask, client, input=[*history, told, ended])
    assert "without its required following item" in error.message
    [added] = [e for e in events if e.type == "response.output_item.added"][:1]
    half = told | {"encrypted_content": added.item.encrypted_content}
    error = raised(openai.BadRequestError, ask, client, input=[*history, half, said, ended])
    assert error.code == "invalid_encrypted_content"
    assert message.content[0].text == ECHO


# Tools and schemas


def test_a_tool_loop_ends_in_an_answer(client):
    history = [{"role": "user", "content": "What is the weather in Kampala?"}]
    first = ask(client, input=history, tools=[WEATHER])
    [call] = first.output
    assert (call.type, call.name) == ("function_call", "get_weather")
    assert json.loads(call.arguments) == ARGUMENTS
    # A result names the call, never the item.
    assert call.call_id != call.id
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "26 °C"}
    second = ask(client, input=[*history, call.to_dict(), output], tools=[WEATHER])
    assert second.output_text == "The tool said: 26 °C"
    for input in ([*history, output], [*history, call.to_dict()]):
        error = raised(openai.BadRequestError, ask, client, input=input)
        assert error.param == "input" and call.call_id in error.message
    wrong = output | {"call_id": call.id}
    raised(openai.BadRequestError, ask, client, input=[*history, call.to_dict(), wrong])


def test_a_call_streams_in_pieces(client):
    events = list(ask(client, input="the weather?", tools=[WEATHER], stream=True))
    kind = "response.function_call_arguments"
    pieces = [event.delta for event in events if event.type == f"{kind}.delta"]
    [done] = [event for event in events if event.type == f"{kind}.done"]
    assert len(pieces) == 3 and "".join(pieces) == done.arguments
    assert done.name == "get_weather"
    [item] = events[-1].response.output
    assert item.arguments == done.arguments


def test_tools_can_be_forced_forbidden_and_parallel(client):
    clock = {"type": "function", "name": "clock", "parameters": {"type": "object"}, "strict": False}
    named = {"type": "function", "name": "clock"}
    tools = [WEATHER, clock]
    for choice, called in [("required", "get_weather"), ("none", None), (named, "clock")]:
        answer = ask(client, tools=tools, tool_choice=choice)
        names = [item.name for item in answer.output if item.type == "function_call"]
        assert names == [name for name in [called] if name]
    for parallel, count in [(True, 2), (False, 1)]:
        options = {"tools": [WEATHER], "parallel_tool_calls": parallel}
        answer = ask(client, "sandbox-parallel-tools", "the weather?", **options)
        assert len({call.call_id for call in answer.output}) == count


class Book(BaseModel):
    title: str
    pages: int


def test_structured_output_is_parsed(client):
    answer = client.responses.parse(model=MODEL, input=PROMPT, text_format=Book)
    assert answer.output_parsed == Book(title="sandbox", pages=1)
    unnamed = {"type": "json_schema", "schema": {"type": "object"}}
    error = raised(openai.BadRequestError, ask, client, text={"format": unnamed})
    assert (error.param, error.code) == ("text.format.name", "missing_required_parameter")


# Refused requests


def test_what_is_not_kept_cannot_be_gone_on_from(client):
    error = raised(openai.BadRequestError, ask, client, previous_response_id="resp_1")
    assert (error.param, error.code) == ("previous_response_id", "previous_response_not_found")
    answer = ask(client)
    raised(openai.NotFoundError, client.responses.retrieve, answer.id)
    raised(openai.NotFoundError, client.responses.delete, answer.id)


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ({"messages": []}, "unsupported_parameter"),
        ({"max_tokens": 100}, "unsupported_parameter"),
        ({"response_format": {}}, "unsupported_parameter"),
        ({"stop": ["x"]}, "unknown_parameter"),
        ({"brand_new": 1}, "unknown_parameter"),
    ],
)
def test_fields_of_another_api_are_refused_by_name(client, field, code):
    error = raised(openai.BadRequestError, ask, client, extra_body=field)
    assert (error.param, error.code) == (next(iter(field)), code)


def test_a_model_may_refuse_a_parameter(client):
    error = raised(openai.BadRequestError, ask, client, "sandbox-reasoning", temperature=0.5)
    assert (error.param, error.code) == ("temperature", "unsupported_parameter")
    assert ask(client, temperature=0.5).temperature == 0.5


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (409, openai.ConflictError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
def test_a_status_raises_its_class(client, status, kind):
    model = f"sandbox-status-{status}"
    for stream in (False, True):
        error = raised(kind, ask, client, model, stream=stream)
        assert error.status_code == status
        assert error.body["message"] == f"sandbox: injected status {model}"
        assert error.response.headers.get("retry-after") == ("1" if status == 429 else None)


# Bad minutes


def test_the_sdk_retries_with_the_same_bytes_and_counts(retrying, do, journal):
    for stream in (False, True):
        model = do("429(ra-ms=1),503(ra-ms=1),ok")
        answer = ask(retrying, model, stream=stream)
        said = drain(answer)[0] if stream else answer.output_text
        assert said == ECHO
        tries = [entry for entry in journal() if entry.model == model]
        assert [entry.status for entry in tries] == [429, 503, 200]
        assert len({entry.body_sha256 for entry in tries}) == 1
        assert [entry.header("x-stainless-retry-count") for entry in tries] == ["0", "1", "2"]


def test_a_quota_is_retried_though_no_waiting_heals_it(retrying, do, journal):
    # The SDK tells a rate limit by the status alone; skyl would send one.
    error = raised(openai.RateLimitError, ask, retrying, do("429(body=quota;ra-ms=1)"))
    assert error.code == "insufficient_quota"
    assert len(journal()) == 3


def test_a_lost_answer_is_asked_for_again(retrying, do, journal):
    for step in ("reset", "close", "reset-mid", "close-mid"):
        assert ask(retrying, do(f"{step},ok")).output_text == ECHO
    assert len(journal()) == 8


def test_an_error_event_raises_without_a_class(retrying, do, journal):
    for step, before in [("first-error", ""), ("stream-error(2)", "You said: ")]:
        said, _, error = drain(ask(retrying, do(f"{step},ok"), stream=True))
        assert (said, error.code) == (before, "server_is_overloaded")
        # Not a status error, so that nobody can tell an overload from a wrong request, and never
        # retried, not even before content: skyl would.
        assert not isinstance(error, APIStatusError)
    assert [entry.step for entry in journal()] == [0, 0]


def test_a_truncated_stream_passes_as_a_whole_one(retrying, do):
    # No error: skyl would say that the stream was cut.
    said, last, error = drain(ask(retrying, do("stream-truncate(2)"), stream=True))
    assert (said, last, error) == ("You said: ", "response.output_text.delta", None)


def test_a_broken_stream_raises_after_its_content(retrying, do, journal):
    for step in ("close-mid", "reset-mid"):
        said = ""
        with pytest.raises(APIConnectionError):
            for event in ask(retrying, do(f"{step},ok"), stream=True):
                said += event.delta if event.type == "response.output_text.delta" else ""
        assert said == "You "
    assert len(journal()) == 2


def test_a_200_without_an_answer_passes_as_one(client, do):
    # The SDK looks at the status alone: each of these would be a typed error in skyl.
    assert ask(client, "sandbox-empty").output_text == ""
    assert ask(client, do("first-error")).output is None


def test_however_a_stream_is_delivered_it_is_the_same(client, do):
    for step in ("split(1)", "split(7)", "comments(20)", "stall(5)", "slow(1)"):
        assert drain(ask(client, do(step), stream=True))[0] == ECHO
