"""The official `anthropic` SDK, unchanged, against the sandbox: answers and refused requests.

As in the other suites, the tests hold what the SDK really does, and say where skyl would differ.
"""

import asyncio
import json
from typing import Literal

import anthropic
import pytest
from anthropic import APIStatusError
from anthropic_calls import (
    ARGUMENTS,
    CLOCK,
    ECHO,
    FRANCE,
    MODEL,
    PROMPT,
    WEATHER,
    ask,
    calls,
    connect,
    drain,
    gathered,
    raised,
    text,
    user,
)
from pydantic import BaseModel

FIRST_VERSION = {"anthropic-version": "2023-06-01"}


@pytest.fixture(scope="module")
def client(sandbox):
    """A client without retries of its own."""
    with connect(sandbox) as client:
        yield client


# Answers


def test_messages_give_an_answer_with_usage(client, journal):
    answer = ask(client, prompt=FRANCE)
    assert text(answer) == "Paris"
    assert (answer.type, answer.role, answer.model) == ("message", "assistant", MODEL)
    assert answer.id.startswith("msg_")
    assert (answer.stop_reason, answer.stop_sequence) == ("end_turn", None)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (6, 1)
    assert answer.usage.cache_read_input_tokens == 0
    [entry] = journal()
    assert (entry.method, entry.status, entry.model) == ("POST", 200, MODEL)
    assert (entry.mount, entry.path) == ("anthropic", "/anthropic/v1/messages")
    assert answer._request_id == f"req_sandbox_{entry.seq}"
    # This major sends the second version of the API and the key as a bearer token.
    assert entry.header("anthropic-version") == "2026-10-21"
    assert entry.header("authorization") == "[redacted]"
    assert entry.header("x-api-key") is None


def test_both_versions_and_both_headers_of_the_key_are_taken(sandbox, journal):
    headers = FIRST_VERSION | {"x-api-key": sandbox.key, "Authorization": anthropic.Omit()}
    with connect(sandbox) as client:
        assert text(ask(client, extra_headers=headers)) == ECHO
    [entry] = journal()
    assert entry.header("anthropic-version") == "2023-06-01"
    assert (entry.header("x-api-key"), entry.header("authorization")) == ("[redacted]", None)


def test_text_keeps_its_bytes_complete_and_streamed(client):
    assert text(ask(client)) == ECHO
    assert drain(ask(client, stream=True)) == (ECHO, "end_turn", None)
    assert text(gathered(client)) == ECHO


def test_system_and_blocks_are_taken(client):
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    messages = [
        *user("one"),
        {"role": "assistant", "content": "two"},
        {
            "role": "user",
            "content": [{"type": "image", "source": source}, {"type": "text", "text": "look"}],
        },
    ]
    for system in ("Be brief.", [{"type": "text", "text": "Be brief."}]):
        answer = ask(client, messages=messages, system=system)
        assert text(answer) == "You said: look"
        assert answer.usage.input_tokens == 5


def test_every_other_option_of_the_sdk_is_taken(client):
    options = {
        "cache_control": {"type": "ephemeral"},
        "diagnostics": {"previous_message_id": None},
        "inference_geo": "us",
        "metadata": {"user_id": "u1"},
        "service_tier": "auto",
        "speed": "standard",
        "thinking": {"type": "adaptive"},
    }
    assert text(ask(client, **options)) == ECHO


def test_a_limit_and_a_stop_text_end_the_answer(client):
    for ask_for in (ask, gathered):
        answer = ask_for(client, max_tokens=3)
        assert (text(answer), answer.stop_reason) == ("You said: two", "max_tokens")
        assert answer.usage.output_tokens == 3
        answer = ask_for(client, stop_sequences=["never", "spaces"])
        assert (text(answer), answer.stop_reason) == ("You said: two  ", "stop_sequence")
        assert answer.stop_sequence == "spaces"


def test_a_stream_comes_in_the_documented_order(client):
    whole = ask(client)
    events = list(ask(client, stream=True))
    kinds = [event.type for event in events]
    # The SDK swallows pings.
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert set(kinds[2:-3]) == {"content_block_delta"}
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    start = events[0].message
    assert (start.id, start.content, start.stop_reason) == (whole.id, [], None)
    assert (start.usage.input_tokens, start.usage.output_tokens) == (whole.usage.input_tokens, 0)
    assert events[-2].usage.output_tokens == whole.usage.output_tokens


@pytest.mark.parametrize("model", [MODEL, "sandbox-reasoning", "sandbox-cached", "sandbox-refusal"])
def test_the_stream_helper_gathers_what_complete_gives(client, model):
    whole, final = ask(client, model), gathered(client, model)

    def told(message):
        return [block.to_dict() | {"parsed_output": None} for block in message.content]

    assert told(final) == told(whole)
    assert final.usage == whole.usage
    assert (final.stop_reason, final.stop_details) == (whole.stop_reason, whole.stop_details)


def test_reasoning_is_a_signed_block_that_goes_back_unchanged(client):
    answer = ask(client, "sandbox-reasoning", thinking={"type": "adaptive"})
    thinking, said = answer.content
    assert (thinking.type, said.text) == ("thinking", ECHO)
    assert thinking.thinking and thinking.signature
    assert answer.usage.output_tokens_details.thinking_tokens == 4
    turns = [*user(PROMPT), {"role": "assistant", "content": answer.content}, *user("And now?")]
    assert text(ask(client, messages=turns)) == "You said: And now?"
    thinking.thinking = "Something else."
    error = raised(anthropic.BadRequestError, ask, client, messages=turns)
    assert "cannot be modified" in error.message


def test_a_refusal_has_no_text_and_says_why(client):
    answer = ask(client, "sandbox-refusal")
    assert (answer.content, answer.stop_reason) == ([], "refusal")
    assert answer.stop_details.explanation
    assert ask(client, "sandbox-content-filter").stop_details.explanation is None


def test_cached_tokens_stand_beside_the_input(client):
    usage = ask(client, "sandbox-cached", prompt=FRANCE).usage
    assert usage.input_tokens == 6
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (1024, 256)
    assert usage.cache_creation.ephemeral_5m_input_tokens == 256


def test_tokens_are_counted(client):
    counted = client.messages.count_tokens(model=MODEL, messages=user(FRANCE))
    assert counted.input_tokens == 6


def test_calls_share_a_connection(sandbox, journal):
    with connect(sandbox) as client:
        ask(client)
        ask(client)
        client.models.list()
    assert len({entry.connection for entry in journal()}) == 1
    assert len(journal()) == 3


def test_the_async_client_does_the_same(sandbox, do, journal):
    async def run():
        options = {"max_tokens": 64, "messages": user(PROMPT)}
        base_url = f"{sandbox.url}/anthropic"
        async with anthropic.AsyncAnthropic(base_url=base_url, api_key=sandbox.key) as client:
            answer = await client.messages.create(model=do("429(ra-ms=1)*2,ok"), **options)
            async with client.messages.stream(model=MODEL, **options) as stream:
                said = "".join([piece async for piece in stream.text_stream])
            with pytest.raises(anthropic.NotFoundError):
                await client.messages.create(model="claude-unknown", **options)
            return text(answer), said

    assert asyncio.run(run()) == (ECHO, ECHO)
    assert [entry.status for entry in journal()] == [429, 429, 200, 200, 404]


# Tools


def test_a_tool_loop_ends_in_an_answer_with_the_result(client):
    messages = user("What is the weather in Kampala?")
    first = ask(client, messages=messages, tools=[CLOCK, WEATHER])
    [call] = calls(first)
    assert first.stop_reason == "tool_use"
    assert (call.name, call.input) == ("get_weather", ARGUMENTS)

    # The SDK's own objects go back as they came.
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "26 °C"}
    messages += [{"role": "assistant", "content": first.content}, *user([result])]
    for ask_for in (ask, gathered):
        second = ask_for(client, messages=messages, tools=[CLOCK, WEATHER])
        assert (text(second), second.stop_reason) == ("The tool said: 26 °C", "end_turn")


def test_a_tool_result_must_answer_its_call(client):
    first = ask(client, prompt="weather", tools=[WEATHER])
    asked = [*user("weather"), {"role": "assistant", "content": first.content}]
    result = {"type": "tool_result", "tool_use_id": "toolu_other", "content": "26 °C"}
    for wrong in ([*asked, *user([result])], [*asked, *user("Well?")], user([result])):
        error = raised(anthropic.BadRequestError, ask, client, messages=wrong, tools=[WEATHER])
        assert error.body["error"]["type"] == "invalid_request_error"
        assert "tool_" in error.message


@pytest.mark.parametrize(("model", "count"), [(MODEL, 1), ("sandbox-parallel-tools", 2)])
def test_streamed_calls_join_to_the_complete_ones(client, model, count):
    whole = calls(ask(client, model, "weather", tools=[WEATHER]))
    assert len({call.id for call in whole}) == count
    starts, pieces = {}, {}
    for event in ask(client, model, "weather", tools=[WEATHER], stream=True):
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            assert event.content_block.input == {}
            starts[event.index] = (event.content_block.id, event.content_block.name)
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            pieces.setdefault(event.index, []).append(event.delta.partial_json)
    assert list(starts.values()) == [(call.id, call.name) for call in whole]
    for call, fragments in zip(whole, pieces.values(), strict=True):
        assert json.loads("".join(fragments)) == call.input == ARGUMENTS
        assert len(fragments) > 2
    assert calls(gathered(client, model, "weather", tools=[WEATHER])) == whole


def test_the_tool_choice_is_obeyed(client):
    def called(choice, prompt, model=MODEL):
        answer = ask(client, model, prompt, tools=[CLOCK, WEATHER], tool_choice=choice)
        return [call.name for call in calls(answer)]

    assert called({"type": "auto"}, "the weather?") == ["get_weather"]
    assert called({"type": "auto"}, "hello") == []
    assert called({"type": "none"}, "the weather?") == []
    assert called({"type": "any"}, "hello") == ["get_weather"]
    assert called({"type": "tool", "name": "clock"}, "hello") == ["clock"]
    one = {"type": "auto", "disable_parallel_tool_use": True}
    assert called(one, "the weather?", "sandbox-parallel-tools") == ["get_weather"]
    with pytest.raises(anthropic.BadRequestError, match="compass"):
        called({"type": "tool", "name": "compass"}, "hello")


# Structured output


class Report(BaseModel):
    """What a schema of everyday types asks for."""

    title: str
    done: bool
    pages: int
    score: float
    language: Literal["en", "fr"]
    tags: list[str]


def test_parse_gives_the_users_type_complete_and_streamed(client):
    options = {"model": MODEL, "max_tokens": 1024, "messages": user("x"), "output_format": Report}
    whole = client.messages.parse(**options)
    assert isinstance(whole.parsed_output, Report)
    with client.messages.stream(**options) as stream:
        final = stream.get_final_message()
    assert final.parsed_output == whole.parsed_output
    assert text(final) == text(whole)


def test_a_schema_can_be_written_by_hand(client):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    config = {"format": {"type": "json_schema", "schema": schema}, "effort": "low"}
    assert json.loads(text(ask(client, output_config=config))) == {"n": 1}


# Models


def test_models_are_listed_page_by_page(client, journal):
    models = list(client.models.list(limit=1))
    assert [model.id for model in models] == [MODEL, "claude-sonnet-5", "claude-haiku-4-5"]
    assert len(journal()) == 3
    backwards = client.models.list(limit=1, before_id="claude-haiku-4-5")
    assert [model.id for model in backwards] == ["claude-sonnet-5", MODEL]
    assert list(client.models.list()) == models
    assert [client.models.retrieve(model.id) for model in models] == models
    assert all(model.type == "model" and model.max_input_tokens for model in models)


def test_every_listed_model_answers(client):
    for model in client.models.list():
        assert text(ask(client, model.id, FRANCE)) == "Paris"


def test_an_unknown_model_is_not_found(client, journal):
    for call in (
        lambda: ask(client, "claude-unknown"),
        lambda: ask(client, "claude-unknown", stream=True),
        lambda: client.models.retrieve("claude-unknown"),
    ):
        error = raised(anthropic.NotFoundError, call)
        assert error.body["error"]["type"] == "not_found_error"
        assert "claude-unknown" in error.message
        assert error.request_id == error.body["request_id"]
    assert [entry.status for entry in journal()] == [404] * 3


# Keys


@pytest.mark.parametrize("header", ["x-api-key", "Authorization"])
def test_a_wrong_key_is_refused_once_and_written_down_nowhere(sandbox, journal, header):
    key = "sk-ant-wrong-key"
    headers = {"x-api-key": key} if header == "x-api-key" else {}
    with connect(sandbox, api_key=key, max_retries=2, default_headers=headers) as client:
        for call in (lambda: ask(client), lambda: ask(client, stream=True), client.models.list):
            error = raised(anthropic.AuthenticationError, call)
            assert error.body["error"]["type"] == "authentication_error"
            assert error.request_id
    assert [entry.status for entry in journal()] == [401] * 3
    assert {entry.header(header.lower()) for entry in journal()} == {"[redacted]"}
    assert key not in repr(journal())


# Refused requests


def test_a_bad_request_names_its_field(client, journal):
    def message(**options):
        return raised(anthropic.BadRequestError, ask, client, **options).message

    assert "max_tokens" in message(max_tokens=anthropic.omit)
    assert "messages: at least one message" in message(messages=[])
    assert 'first message must use the "user" role' in message(
        messages=[{"role": "assistant", "content": "x"}, *user("y")]
    )
    assert "prefill" in message(messages=[*user("x"), {"role": "assistant", "content": "y"}])
    assert "Extra inputs are not permitted" in message(extra_body={"top_banana": 1})
    assert "input_schema" in message(tools=[{"name": "clock"}])
    assert [entry.status for entry in journal()] == [400] * 6


def test_sampling_is_for_the_first_version_alone(client):
    sampling = {"extra_body": {"temperature": 1.0}}
    error = raised(anthropic.BadRequestError, ask, client, **sampling)
    assert "temperature: Extra inputs are not permitted" in error.message
    assert text(ask(client, **sampling, extra_headers=FIRST_VERSION)) == ECHO


def test_the_version_header_is_needed(client):
    for headers, says in (
        ({"anthropic-version": anthropic.Omit()}, "required"),
        ({"anthropic-version": "2020-01-01"}, "not a valid version"),
    ):
        error = raised(anthropic.BadRequestError, ask, client, extra_headers=headers)
        assert "anthropic-version" in error.message and says in error.message


def test_a_script_that_does_not_parse_says_where(client):
    error = raised(anthropic.BadRequestError, ask, client, "sandbox-do-429(after=1)")
    assert "at byte 4" in error.message and "ra-ms=" in error.message


@pytest.mark.parametrize(
    ("status", "type"),
    [
        (302, "api_error"),
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "change_outcome_unknown"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_status_carries_the_vendors_type(client, journal, status, type):
    model = f"sandbox-status-{status}"
    for stream in (False, True):
        with pytest.raises(APIStatusError) as caught:
            ask(client, model, stream=stream)
        error = caught.value
        assert error.status_code == status
        assert error.request_id == error.response.headers["request-id"]
        assert error.body["error"] == {
            "type": type,
            "message": f"sandbox: injected status {model}",
        }
        # Of all statuses by name, the rate limit alone says when to come back.
        assert error.response.headers.get("retry-after") == ("1" if status == 429 else None)
    assert [entry.status for entry in journal()] == [status] * 2


def test_a_status_raises_its_class(client, do):
    for script, kind in (
        ("400", anthropic.BadRequestError),
        ("401", anthropic.AuthenticationError),
        ("403", anthropic.PermissionDeniedError),
        ("404", anthropic.NotFoundError),
        ("409", anthropic.ConflictError),
        ("422", anthropic.UnprocessableEntityError),
        ("429", anthropic.RateLimitError),
        ("500", anthropic.InternalServerError),
    ):
        with pytest.raises(kind):
            ask(client, do(script))
    with pytest.raises(anthropic.RateLimitError) as caught:
        ask(client, do("429(body=quota)"))
    details = caught.value.body["error"]["details"]
    assert details == {"error_code": "enforced_spend_limit_reached"}
    assert "prompt is too long" in raised(
        anthropic.BadRequestError, ask, client, do("400(body=context)")
    ).message
    overloaded = "overloaded_error"
    with pytest.raises(anthropic.InternalServerError) as caught:
        ask(client, do("500(body=overloaded)"))
    assert caught.value.body["error"]["type"] == overloaded


@pytest.mark.parametrize("stream", [False, True])
def test_error_bodies_that_are_no_json_come_back_as_text(client, do, stream):
    for script in ("502(body=html)", "502(body=empty)", "429(body=cut)"):
        with pytest.raises(APIStatusError) as caught:
            ask(client, do(script), stream=stream)
        assert isinstance(caught.value.body, str)
    assert caught.value.body.startswith('{"type":"error"')


def test_a_200_without_an_answer_passes_as_one(client, do):
    # The SDK looks at the status alone: each of these would be a typed error in skyl.
    for model in ("sandbox-empty", "sandbox-status-200", do("first-error"), do("stream-error(1)")):
        assert ask(client, model).content is None
    assert isinstance(ask(client, do("200(body=html)")), str)
    for body in ("empty", "cut"):
        with pytest.raises(json.JSONDecodeError):
            ask(client, do(f"200(body={body})"))
    assert list(ask(client, "sandbox-empty", stream=True)) == []
