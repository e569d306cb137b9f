"""The official `openai` SDK, unchanged, against the sandbox: answers and refused requests.

Where the SDK itself does something that skyl would call wrong, the test holds what the SDK really
does and says so: the sandbox must let every client meet the same failure, and a new release that
behaves better should be noticed.
"""

import asyncio
import json
from typing import Literal

import openai
import pytest
from openai import APIStatusError
from openai_calls import (
    ARGUMENTS,
    CLOCK,
    ECHO,
    FRANCE,
    MODEL,
    PROMPT,
    WEATHER,
    ask,
    connect,
    drain,
    raised,
    text,
    user,
)
from pydantic import BaseModel


@pytest.fixture(scope="module", params=["openai", "compat"])
def either(request, sandbox):
    """A client of each mount, without retries of its own."""
    with connect(sandbox, request.param) as client:
        yield client


@pytest.fixture(scope="module")
def client(sandbox):
    """A client of `/openai/v1`, without retries of its own."""
    with connect(sandbox, "openai") as client:
        yield client


# Answers


def test_chat_gives_an_answer_with_usage(either, journal):
    answer = ask(either, prompt=FRANCE)
    assert text(answer) == "Paris"
    assert answer.object == "chat.completion"
    assert answer.id.startswith("chatcmpl-")
    assert answer.model == MODEL
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.refusal is None
    assert answer.choices[0].message.tool_calls is None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (6, 1)
    assert answer.usage.total_tokens == 7
    assert answer.usage.completion_tokens_details.reasoning_tokens == 0

    [entry] = journal()
    assert (entry.method, entry.status, entry.model, entry.step) == ("POST", 200, MODEL, None)
    assert entry.path == f"/{entry.mount}/v1/chat/completions"
    assert either.base_url.path == f"/{entry.mount}/v1/"
    assert answer._request_id.endswith(f"_{entry.seq}")


def test_text_keeps_its_bytes_complete_and_streamed(either):
    assert text(ask(either)) == ECHO
    assert drain(ask(either, stream=True)) == (ECHO, "stop", None)


def test_roles_and_parts_are_taken(client):
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    for system in ("developer", "system"):
        messages = [
            {"role": system, "content": "Be brief."},
            *user("one"),
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": parts},
        ]
        answer = client.chat.completions.create(model=MODEL, messages=messages)
        assert text(answer) == "You said: look"
        assert answer.usage.prompt_tokens == 5


def test_a_token_limit_cuts_the_text_and_says_so(either):
    for limit in ({"max_completion_tokens": 3}, {"max_tokens": 3}):
        answer = ask(either, **limit)
        assert text(answer) == "You said: two"
        assert answer.choices[0].finish_reason == "length"
        assert answer.usage.completion_tokens == 3
        assert drain(ask(either, stream=True, **limit)) == ("You said: two", "length", None)


def test_several_choices_interleave_in_a_stream(client):
    answer = ask(client, n=2)
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert [choice.message.content for choice in answer.choices] == [ECHO, ECHO]
    said = ["", ""]
    for chunk in ask(client, n=2, stream=True):
        [choice] = chunk.choices
        said[choice.index] += choice.delta.content or ""
    assert said == [ECHO, ECHO]


def test_a_stream_comes_in_the_documented_order(either):
    whole = ask(either)
    chunks = list(ask(either, stream=True, stream_options={"include_usage": True}))
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert {chunk.id for chunk in chunks} == {whole.id}
    first, *pieces, last, usage = chunks
    assert (first.choices[0].delta.role, first.choices[0].delta.content) == ("assistant", "")
    assert len(pieces) > 2
    assert all(piece.choices[0].delta.content for piece in pieces)
    assert all(chunk.choices[0].finish_reason is None for chunk in [first, *pieces])
    assert last.choices[0].delta.content is None
    assert last.choices[0].finish_reason == "stop"
    # After the finish reason, and only there.
    assert usage.choices == []
    assert usage.usage == whole.usage
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_stream_has_no_usage_unless_asked(either):
    chunks = list(ask(either, stream=True))
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_the_stream_helper_gathers_what_complete_gives(client):
    whole = ask(client)
    options = {"stream_options": {"include_usage": True}}
    with client.chat.completions.stream(model=MODEL, messages=user(PROMPT), **options) as stream:
        done = [event.content for event in stream if event.type == "content.done"]
        gathered = stream.get_final_completion()
    assert done == [ECHO]
    assert text(gathered) == text(whole)
    assert gathered.usage == whole.usage
    assert gathered.choices[0].finish_reason == "stop"


def test_a_refusal_is_no_text(client):
    message = ask(client, "sandbox-refusal").choices[0].message
    assert message.content is None
    assert message.refusal
    with client.chat.completions.stream(model="sandbox-refusal", messages=user("x")) as stream:
        refused = [event.refusal for event in stream if event.type == "refusal.done"]
        gathered = stream.get_final_completion().choices[0].message
    assert refused == [message.refusal]
    assert gathered.refusal == message.refusal
    assert not gathered.content


def test_reasoning_of_a_compatible_server_is_kept_apart(either):
    answer = ask(either, "sandbox-reasoning")
    thoughts = answer.choices[0].message.reasoning_content
    assert thoughts and text(answer) == ECHO
    tokens = answer.usage.completion_tokens_details.reasoning_tokens
    assert 0 < tokens < answer.usage.completion_tokens
    streamed = ""
    for chunk in ask(either, "sandbox-reasoning", stream=True):
        streamed += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
    assert streamed == thoughts


def test_headers_tell_the_request_and_no_retry(client, journal):
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=user("x"))
    [entry] = journal()
    assert raw.headers["x-request-id"] == raw.parse()._request_id
    assert raw.headers["content-type"] == "application/json"
    assert int(raw.headers["openai-processing-ms"]) >= 0
    assert raw.retries_taken == 0
    assert entry.header("x-stainless-retry-count") == "0"
    assert int(entry.header("content-length")) == entry.body_bytes


def test_calls_share_a_connection(sandbox, journal):
    with connect(sandbox) as client:
        ask(client)
        ask(client)
        client.models.list()
    assert len({entry.connection for entry in journal()}) == 1
    assert len(journal()) == 3


def test_the_async_client_does_the_same(sandbox, do, journal):
    async def calls():
        base_url = f"{sandbox.url}/openai/v1"
        async with openai.AsyncOpenAI(base_url=base_url, api_key=sandbox.key) as client:
            create = client.chat.completions.create
            answer = await create(model=do("429(ra-ms=1)*2,ok"), messages=user(PROMPT))
            said = ""
            async for chunk in await create(model=MODEL, messages=user(PROMPT), stream=True):
                said += chunk.choices[0].delta.content or ""
            with pytest.raises(openai.NotFoundError):
                await create(model="gpt-unknown", messages=user(PROMPT))
            return text(answer), said

    assert asyncio.run(calls()) == (ECHO, ECHO)
    assert [entry.status for entry in journal()] == [429, 429, 200, 200, 404]


# Tools


def test_a_tool_loop_ends_in_an_answer_with_the_result(either):
    messages = user("What is the weather in Kampala?")
    first = either.chat.completions.create(model=MODEL, messages=messages, tools=[CLOCK, WEATHER])
    [call] = first.choices[0].message.tool_calls
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.choices[0].message.content is None
    assert call.type == "function"
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == ARGUMENTS

    # The SDK's own objects go back as they came.
    messages += [first.choices[0].message]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "26 °C"}]
    second = either.chat.completions.create(model=MODEL, messages=messages, tools=[CLOCK, WEATHER])
    assert text(second) == "The tool said: 26 °C"
    assert second.choices[0].finish_reason == "stop"


def test_a_tool_result_must_answer_its_call(client):
    first = ask(client, prompt="weather", tools=[WEATHER])
    result = {"role": "tool", "tool_call_id": "call_other", "content": "26 °C"}
    messages = [*user("weather"), first.choices[0].message]
    for wrong in ([*messages, result], messages, [*user("weather"), result]):
        create = client.chat.completions.create
        error = raised(openai.BadRequestError, create, model=MODEL, messages=wrong, tools=[WEATHER])
        assert (error.type, error.param) == ("invalid_request_error", "messages")


@pytest.mark.parametrize(("model", "calls"), [(MODEL, 1), ("sandbox-parallel-tools", 2)])
def test_streamed_calls_join_to_the_complete_ones(client, model, calls):
    whole = ask(client, model, "weather", tools=[WEATHER]).choices[0].message.tool_calls
    assert len({call.id for call in whole}) == calls

    starts, arguments = {}, {}
    for chunk in ask(client, model, "weather", tools=[WEATHER], stream=True):
        for piece in chunk.choices[0].delta.tool_calls or []:
            if piece.id:
                # Id and name come once, on the first piece of an index.
                assert piece.index not in starts
                starts[piece.index] = (piece.id, piece.type, piece.function.name)
            arguments.setdefault(piece.index, []).append(piece.function.arguments)
    assert list(starts) == list(range(calls))
    assert list(starts.values()) == [(c.id, "function", c.function.name) for c in whole]
    for call, pieces in zip(whole, arguments.values(), strict=True):
        assert "".join(pieces) == call.function.arguments
        assert len(pieces) > 2

    with client.chat.completions.stream(
        model=model, messages=user("weather"), tools=[WEATHER]
    ) as stream:
        gathered = stream.get_final_completion().choices[0].message.tool_calls
    assert [call.function.parsed_arguments for call in gathered] == [ARGUMENTS] * calls


def test_calls_are_parallel_only_where_allowed(client):
    model = "sandbox-parallel-tools"
    answer = ask(client, model, "weather", tools=[WEATHER], parallel_tool_calls=False)
    assert len(answer.choices[0].message.tool_calls) == 1


def test_the_tool_choice_is_obeyed(client):
    def called(choice, prompt):
        answer = ask(client, prompt=prompt, tools=[CLOCK, WEATHER], tool_choice=choice)
        calls = answer.choices[0].message.tool_calls or []
        return [call.function.name for call in calls], answer.choices[0].finish_reason

    assert called("auto", "the weather?") == (["get_weather"], "tool_calls")
    assert called("auto", "hello") == ([], "stop")
    assert called("none", "the weather?") == ([], "stop")
    assert called("required", "hello") == (["get_weather"], "tool_calls")
    # A call that was named in advance is not the model's reason to stop.
    named = {"type": "function", "function": {"name": "clock"}}
    assert called(named, "the weather?") == (["clock"], "stop")
    unknown = {"type": "function", "function": {"name": "compass"}}
    assert raised(openai.BadRequestError, called, unknown, "hello").param == "tool_choice"


# Structured output


class Report(BaseModel):
    """What a schema of everyday types asks for."""

    title: str
    done: bool
    pages: int
    score: float
    language: Literal["en", "fr"]
    tags: list[str]


def test_structured_output_follows_its_schema(either):
    schema = {"name": "report", "strict": True, "schema": Report.model_json_schema()}
    answer = ask(either, response_format={"type": "json_schema", "json_schema": schema})
    assert Report.model_validate_json(text(answer)).language == "en"
    answer = ask(either, response_format={"type": "json_object"})
    assert isinstance(json.loads(text(answer)), dict)


def test_parse_gives_the_users_type_complete_and_streamed(client):
    asked = {"model": MODEL, "messages": user("x"), "response_format": Report}
    whole = client.chat.completions.parse(**asked).choices[0].message
    assert isinstance(whole.parsed, Report)
    with client.chat.completions.stream(**asked) as stream:
        done = [event.parsed for event in stream if event.type == "content.done"]
        gathered = stream.get_final_completion().choices[0].message
    assert done == [whole.parsed]
    assert (gathered.parsed, gathered.content) == (whole.parsed, whole.content)


def test_parse_tells_a_refusal_a_filter_and_a_limit(client):
    parse = client.chat.completions.parse
    refused = parse(model="sandbox-refusal", messages=user("x"), response_format=Report)
    assert refused.choices[0].message.parsed is None
    assert refused.choices[0].message.refusal
    filtered = {"model": "sandbox-content-filter", "messages": user("x")}
    with pytest.raises(openai.ContentFilterFinishReasonError):
        parse(**filtered, response_format=Report)
    cut = {"model": MODEL, "messages": user("a b c"), "max_completion_tokens": 2}
    with pytest.raises(openai.LengthFinishReasonError) as caught:
        parse(**cut, tools=[WEATHER])
    assert text(caught.value.completion) == "You said:"


def test_a_schema_needs_a_name(client):
    nameless = {"type": "json_schema", "json_schema": {"schema": {}}}
    error = raised(openai.BadRequestError, ask, client, response_format=nameless)
    assert error.type == "invalid_request_error"


# Models


def test_models_are_listed_and_retrieved(either, journal):
    models = list(either.models.list())
    assert {MODEL, "gpt-5.4-nano"} <= {model.id for model in models}
    assert all(model.object == "model" and model.owned_by for model in models)
    assert [either.models.retrieve(model.id) for model in models] == models
    assert [entry.method for entry in journal()] == ["GET"] * (1 + len(models))
    assert journal()[0].path == f"/{journal()[0].mount}/v1/models"


def test_every_listed_model_answers(either):
    for model in either.models.list():
        assert text(ask(either, model.id, FRANCE)) == "Paris"


def test_an_unknown_model_is_not_found(either, journal):
    for call in (
        lambda: ask(either, "gpt-unknown"),
        lambda: ask(either, "gpt-unknown", stream=True),
        lambda: either.models.retrieve("gpt-unknown"),
    ):
        error = raised(openai.NotFoundError, call)
        assert (error.code, error.type) == ("model_not_found", "invalid_request_error")
        assert "gpt-unknown" in error.message
        assert error.request_id
    assert [entry.status for entry in journal()] == [404] * 3


def test_a_fault_can_be_asked_for_in_a_path(client, do, journal):
    error = raised(openai.InternalServerError, client.models.retrieve, "sandbox-status-503")
    assert error.code == "server_is_overloaded"
    # Its brackets, commas and signs travel percent-encoded.
    script = do("429(ra-ms=1)")
    raised(openai.RateLimitError, client.models.retrieve, script)
    assert [entry.model for entry in journal()] == ["sandbox-status-503", script]


# Keys


@pytest.mark.parametrize("mount", ["openai", "compat"])
def test_a_wrong_key_is_refused_once_and_written_down_nowhere(sandbox, journal, mount):
    with connect(sandbox, mount, api_key="sk-wrong-key", max_retries=2) as client:
        for call in (lambda: ask(client), lambda: ask(client, stream=True), client.models.list):
            error = raised(openai.AuthenticationError, call)
            assert (error.code, error.type) == ("invalid_api_key", "invalid_request_error")
            assert error.request_id
    assert [entry.status for entry in journal()] == [401] * 3
    assert {entry.header("authorization") for entry in journal()} == {"[redacted]"}
    assert "sk-wrong-key" not in repr(journal())


@pytest.mark.parametrize("mount", ["openai", "compat"])
def test_a_missing_key_is_refused(sandbox, journal, mount):
    keyless = {"extra_headers": {"Authorization": openai.Omit()}}
    with connect(sandbox, mount, max_retries=2) as client:
        for call in (ask, lambda client, **options: client.models.list(**options)):
            error = raised(openai.AuthenticationError, call, client, **keyless)
            assert error.type == "invalid_request_error"
    assert [entry.header("authorization") for entry in journal()] == [None, None]


# Error statuses


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, APIStatusError),
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (402, APIStatusError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (408, APIStatusError),
        (409, openai.ConflictError),
        (413, APIStatusError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (502, openai.InternalServerError),
        (503, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
def test_a_status_raises_its_class(client, journal, status, kind):
    model = f"sandbox-status-{status}"
    for stream in (False, True):
        error = raised(kind, ask, client, model, stream=stream)
        assert error.status_code == status
        assert error.request_id == error.response.headers["x-request-id"]
        assert error.body["message"] == f"sandbox: injected status {model}"
        assert set(error.body) == {"message", "type", "param", "code"}
        # Of all statuses by name, the rate limit alone says when to come back.
        assert error.response.headers.get("retry-after") == ("1" if status == 429 else None)
    assert [entry.status for entry in journal()] == [status] * 2


@pytest.mark.parametrize(
    ("script", "type", "code"),
    [
        ("400", "invalid_request_error", None),
        ("401", "invalid_request_error", "invalid_api_key"),
        ("404", "invalid_request_error", "model_not_found"),
        ("429", "requests", "rate_limit_exceeded"),
        ("500", "server_error", None),
        ("503", "service_unavailable_error", "server_is_overloaded"),
        ("429(body=quota)", "insufficient_quota", "insufficient_quota"),
        ("400(body=context)", "invalid_request_error", "context_length_exceeded"),
        ("500(body=overloaded)", "service_unavailable_error", "server_is_overloaded"),
    ],
)
def test_an_error_has_the_vendors_type_and_code(client, do, script, type, code):
    with pytest.raises(APIStatusError) as caught:
        ask(client, do(script))
    assert (caught.value.type, caught.value.code) == (type, code)
    assert "retry-after" not in caught.value.response.headers


@pytest.mark.parametrize("stream", [False, True])
def test_error_bodies_that_are_no_json_come_back_as_text(client, do, stream):
    error = raised(openai.InternalServerError, ask, client, do("502(body=html)"), stream=stream)
    assert error.body.startswith("<!DOCTYPE html>") and error.body.endswith("</html>")
    assert error.response.headers["content-type"].startswith("text/html")
    error = raised(openai.InternalServerError, ask, client, do("502(body=empty)"), stream=stream)
    assert (error.body, error.code, error.status_code) == ("", None, 502)
    error = raised(openai.RateLimitError, ask, client, do("429(body=cut)"), stream=stream)
    assert error.body.startswith('{"error":{')
    with pytest.raises(json.JSONDecodeError):
        json.loads(error.body)


def test_a_bad_request_names_its_parameter(client, journal):
    create = client.chat.completions.create
    assert raised(openai.BadRequestError, create, model=MODEL, messages=[]).param == "messages"
    clown = [{"role": "clown", "content": "x"}]
    assert raised(openai.BadRequestError, create, model=MODEL, messages=clown).param == "messages"
    too_many = ["a", "b", "c", "d", "e"]
    assert raised(openai.BadRequestError, ask, client, stop=too_many).param == "stop"
    assert [entry.status for entry in journal()] == [400] * 3


def test_a_script_that_does_not_parse_says_where(client):
    error = raised(openai.BadRequestError, ask, client, "sandbox-do-429(after=1)")
    assert "at byte 4" in error.message and "ra-ms=" in error.message


def test_a_200_without_an_answer_passes_as_one(client, do):
    # The SDK looks at the status alone: each of these would be a typed error in skyl.
    for model in ("sandbox-empty", "sandbox-status-200", do("first-error"), do("stream-error(1)")):
        assert ask(client, model).choices is None
    assert isinstance(ask(client, do("200(body=html)")), str)
    for body in ("empty", "cut"):
        with pytest.raises(json.JSONDecodeError):
            ask(client, do(f"200(body={body})"))
    assert list(ask(client, "sandbox-empty", stream=True)) == []
