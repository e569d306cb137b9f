"""The official `google-genai` SDK, unchanged, against the sandbox: answers and refused requests.

As in the other suites, the tests hold what the SDK really does, and say where skyl would differ.
"""

import asyncio
import json
from typing import Literal

import pytest
from gemini_calls import (
    ARGUMENTS,
    ECHO,
    FRANCE,
    MODEL,
    PROMPT,
    TOOLS,
    ask,
    connect,
    drain,
    finish,
    raised,
    stream,
)
from google.genai import types
from google.genai.errors import ClientError, ServerError
from pydantic import BaseModel


@pytest.fixture(scope="module")
def client(sandbox):
    """A client as the SDK makes it: without retries."""
    with connect(sandbox) as client:
        yield client


# Answers


def test_content_is_generated_with_usage(client, journal):
    answer = ask(client, contents=FRANCE)
    assert (answer.text, finish(answer)) == ("Paris", "STOP")
    assert (answer.model_version, answer.candidates[0].content.role) == (MODEL, "model")
    assert answer.response_id
    usage = answer.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count) == (6, 1)
    assert usage.total_token_count == 7
    [entry] = journal()
    assert (entry.method, entry.status, entry.model) == ("POST", 200, MODEL)
    # The version this SDK asks for by itself.
    assert (entry.mount, entry.path) == ("gemini", f"/gemini/v1/models/{MODEL}:generateContent")
    assert entry.header("x-goog-api-key") == "[redacted]"


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_of_the_api_are_there(sandbox, journal, version):
    with connect(sandbox, api_version=version) as client:
        assert ask(client, contents=FRANCE).text == "Paris"
        assert drain(stream(client)) == (ECHO, "STOP", None)
        assert len(client.models.list()) == 2
    paths = [entry.path for entry in journal()]
    assert len(paths) == 3
    assert all(path.startswith(f"/gemini/{version}/models") for path in paths)


def test_text_keeps_its_bytes_complete_and_streamed(client):
    assert ask(client).text == ECHO
    assert drain(stream(client)) == (ECHO, "STOP", None)


def test_instructions_turns_and_images_are_taken(client):
    contents = [
        types.UserContent("one"),
        types.ModelContent("two"),
        types.UserContent([types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png"), "look"]),
    ]
    answer = ask(client, contents=contents, system_instruction="Be brief.")
    assert answer.text == "You said: look"
    assert answer.usage_metadata.prompt_token_count == 5


def test_a_chat_goes_on(client):
    chat = client.chats.create(model=MODEL)
    assert chat.send_message("one").text == "You said: one"
    assert drain(chat.send_message_stream("two"))[0] == "You said: two"
    # The SDK keeps a streamed turn in its pieces; turns of one role in a row are one turn.
    assert {turn.role for turn in chat.get_history()[3:]} == {"model"}
    assert chat.send_message("three").text == "You said: three"


def test_a_limit_and_a_stop_text_end_the_answer(client):
    answer = ask(client, max_output_tokens=3)
    assert (answer.text, finish(answer)) == ("You said: two", "MAX_TOKENS")
    assert drain(stream(client, max_output_tokens=3)) == ("You said: two", "MAX_TOKENS", None)
    answer = ask(client, stop_sequences=["never", "spaces"], temperature=0.5, top_p=0.9, seed=1)
    assert (answer.text, finish(answer)) == ("You said: two  ", "STOP")


def test_a_stream_ends_with_the_reason_and_the_usage(client):
    whole = ask(client)
    chunks = list(stream(client))
    assert [finish(chunk) for chunk in chunks] == [None] * (len(chunks) - 1) + ["STOP"]
    assert len(chunks) > 3
    assert {chunk.response_id for chunk in chunks} == {whole.response_id}
    assert chunks[-1].usage_metadata == whole.usage_metadata


def test_thoughts_are_kept_apart_and_their_signature_goes_back(client):
    thinking = {"thinking_config": {"include_thoughts": True, "thinking_level": "LOW"}}
    answer = ask(client, "sandbox-reasoning", **thinking)
    thought, said = answer.candidates[0].content.parts
    assert thought.thought and thought.text
    assert (said.text, answer.text) == (ECHO, ECHO)
    assert said.thought_signature
    assert answer.usage_metadata.thoughts_token_count == 4
    assert answer.usage_metadata.candidates_token_count == 9
    contents = [types.UserContent(PROMPT), answer.candidates[0].content]
    contents += [types.UserContent("And now?")]
    assert ask(client, contents=contents).text == "You said: And now?"

    parts = [
        part
        for chunk in stream(client, "sandbox-reasoning", **thinking)
        for part in chunk.candidates[0].content.parts
    ]
    assert "".join(part.text for part in parts if part.thought) == thought.text
    assert parts[-1].thought_signature == said.thought_signature


def test_a_refusal_has_a_reason_and_no_text(client):
    answer = ask(client, "sandbox-refusal")
    assert (answer.text, finish(answer)) == (None, "SAFETY")
    blocked = ask(client, "sandbox-content-filter")
    assert blocked.candidates is None
    assert blocked.prompt_feedback.block_reason.value == "PROHIBITED_CONTENT"
    [chunk] = stream(client, "sandbox-content-filter")
    assert chunk.prompt_feedback == blocked.prompt_feedback


def test_cached_tokens_are_part_of_the_prompt(client):
    usage = ask(client, "sandbox-cached", FRANCE).usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (6 + 1280, 1024)


def test_tokens_are_counted(client):
    assert client.models.count_tokens(model=MODEL, contents=FRANCE).total_tokens == 6


def test_the_async_client_does_the_same(sandbox, journal):
    async def run():
        client = connect(sandbox).aio
        answer = await client.models.generate_content(model=MODEL, contents=PROMPT)
        said = ""
        chunks = await client.models.generate_content_stream(model=MODEL, contents=PROMPT)
        async for chunk in chunks:
            said += chunk.text or ""
        with pytest.raises(ClientError):
            await client.models.generate_content(model="gemini-unknown", contents=PROMPT)
        await client.aclose()
        return answer.text, said

    assert asyncio.run(run()) == (ECHO, ECHO)
    assert [entry.status for entry in journal()] == [200, 200, 404]


# Tools


def test_a_tool_loop_ends_in_an_answer_with_the_result(client):
    contents = [types.UserContent("What is the weather in Kampala?")]
    first = ask(client, contents=contents, tools=TOOLS)
    [call] = first.function_calls
    assert (call.name, call.args, finish(first)) == ("get_weather", ARGUMENTS, "STOP")
    # The call carries a signature, which the SDK's own objects give back.
    result = types.Part.from_function_response(name=call.name, response={"content": "26 °C"})
    contents += [first.candidates[0].content, types.UserContent([result])]
    assert ask(client, contents=contents, tools=TOOLS).text == "The tool said: 26 °C"
    assert drain(stream(client, contents=contents, tools=TOOLS))[0] == "The tool said: 26 °C"


def test_a_call_without_its_signature_is_refused(client):
    call = types.Part.from_function_call(name="get_weather", args=ARGUMENTS)
    result = types.Part.from_function_response(name="get_weather", response={"content": "26 °C"})
    contents = [types.UserContent("weather"), types.ModelContent([call])]
    contents += [types.UserContent([result])]
    error = raised(ClientError, ask, client, contents=contents, tools=TOOLS)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert "signature" in error.message


def test_a_result_must_answer_its_call(client):
    first = ask(client, contents="weather", tools=TOOLS).candidates[0].content
    result = types.Part.from_function_response(name="clock", response={"content": "noon"})
    for last in ([result], ["Well?"], [result, result]):
        contents = [types.UserContent("weather"), first, types.UserContent(last)]
        assert raised(ClientError, ask, client, contents=contents, tools=TOOLS).code == 400


def test_the_sdk_runs_the_users_function_by_itself(client, journal):
    def get_weather(city: str, units: str) -> str:
        """The weather of a city."""
        return f"26 °C in {city}, {units}"

    answer = ask(client, contents="What is the weather?", tools=[get_weather])
    assert "26 °C in Kampala, metric" in answer.text
    assert [entry.status for entry in journal()] == [200, 200]


def test_parallel_calls_come_in_pieces_and_only_the_first_is_signed(client):
    whole = ask(client, "sandbox-parallel-tools", "weather", tools=TOOLS)
    assert [call.args for call in whole.function_calls] == [ARGUMENTS] * 2
    parts = whole.candidates[0].content.parts
    signed = [bool(part.thought_signature) for part in parts if part.function_call]
    assert signed == [True, False]
    chunks = list(stream(client, "sandbox-parallel-tools", "weather", tools=TOOLS))
    streamed = [call for chunk in chunks for call in chunk.function_calls or []]
    assert streamed == whole.function_calls


def test_the_mode_of_calling_is_obeyed(client):
    def called(prompt, **config):
        tool_config = {"function_calling_config": config}
        answer = ask(client, contents=prompt, tools=TOOLS, tool_config=tool_config)
        return [call.name for call in answer.function_calls or []]

    assert called("the weather?", mode="AUTO") == ["get_weather"]
    assert called("hello", mode="AUTO") == []
    assert called("the weather?", mode="NONE") == []
    assert called("hello", mode="ANY") == ["get_weather"]
    assert called("hello", mode="ANY", allowed_function_names=["clock"]) == ["clock"]
    error = raised(ClientError, called, "x", mode="ANY", allowed_function_names=["compass"])
    assert error.code == 400


# Structured output


class Report(BaseModel):
    """What a schema of everyday types asks for."""

    title: str
    done: bool
    pages: int
    score: float
    language: Literal["en", "fr"]
    tags: list[str]


def test_structured_output_is_parsed_into_the_users_type(client):
    options = {"response_mime_type": "application/json", "response_schema": Report}
    answer = ask(client, **options)
    assert isinstance(answer.parsed, Report)
    said, reason, error = drain(stream(client, **options))
    assert (Report.model_validate_json(said), reason, error) == (answer.parsed, "STOP", None)


def test_a_whole_json_schema_is_taken(client):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    options = {"response_mime_type": "application/json", "response_json_schema": schema}
    assert json.loads(ask(client, **options).text) == {"n": 1}
    error = raised(ClientError, ask, client, response_json_schema=schema)
    assert "response_mime_type" in error.message


# Models


def test_models_are_listed_page_by_page(client, journal):
    models = list(client.models.list(config={"page_size": 1}))
    assert [model.name for model in models] == [f"models/{MODEL}", "models/gemini-3.6-pro"]
    assert len(journal()) == 2
    assert [model.name for model in client.models.list()] == [model.name for model in models]
    one = client.models.get(model=MODEL)
    assert (one.display_name, one.input_token_limit) == ("Gemini 3.6 Flash", 1_000_000)
    assert "generateContent" in one.supported_actions


def test_every_listed_model_answers(client):
    for model in client.models.list():
        assert ask(client, model.name, FRANCE).text == "Paris"


def test_an_unknown_model_is_not_found(client, journal):
    for call in (
        lambda: ask(client, "gemini-unknown"),
        lambda: list(stream(client, "gemini-unknown")),
        lambda: client.models.get(model="gemini-unknown"),
    ):
        error = raised(ClientError, call)
        assert (error.code, error.status) == (404, "NOT_FOUND")
        assert "gemini-unknown" in error.message
    assert [entry.status for entry in journal()] == [404] * 3


# Keys


def test_a_wrong_key_is_a_bad_request_and_written_down_nowhere(sandbox, journal):
    with connect(sandbox, key="wrong-key-0123") as client:
        for call in (
            lambda: ask(client),
            lambda: list(stream(client)),
            lambda: client.models.list(),
        ):
            error = raised(ClientError, call)
            assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
            [info, _] = error.details["error"]["details"]
            assert info["reason"] == "API_KEY_INVALID"
    assert [entry.status for entry in journal()] == [400] * 3
    assert "wrong-key-0123" not in repr(journal())


# Refused requests


@pytest.mark.parametrize(
    ("status", "kind", "word"),
    [
        (400, ClientError, "INVALID_ARGUMENT"),
        (401, ClientError, "UNAUTHENTICATED"),
        (403, ClientError, "PERMISSION_DENIED"),
        (404, ClientError, "NOT_FOUND"),
        (409, ClientError, "ABORTED"),
        (429, ClientError, "RESOURCE_EXHAUSTED"),
        (499, ClientError, "CANCELLED"),
        (500, ServerError, "INTERNAL"),
        (502, ServerError, "UNKNOWN"),
        (503, ServerError, "UNAVAILABLE"),
        (504, ServerError, "DEADLINE_EXCEEDED"),
    ],
)
def test_a_status_has_the_vendors_word(client, journal, status, kind, word):
    model = f"sandbox-status-{status}"
    for call in (lambda: ask(client, model), lambda: list(stream(client, model))):
        error = raised(kind, call)
        assert (error.code, error.status) == (status, word)
        assert error.message == f"sandbox: injected status {model}"
        # Of all statuses by name, the rate limit alone says when to come back.
        assert error.response.headers.get("retry-after") == ("1" if status == 429 else None)
    assert [entry.status for entry in journal()] == [status] * 2


def test_an_error_says_its_cause(client, do):
    quota = raised(ClientError, ask, client, do("429(body=quota)"))
    [failure] = quota.details["error"]["details"]
    assert "PerDay" in failure["violations"][0]["quotaId"]
    context = raised(ClientError, ask, client, do("400(body=context)"))
    assert "input token count" in context.message
    overloaded = raised(ServerError, ask, client, do("500(body=overloaded)"))
    assert (overloaded.code, overloaded.status) == (500, "UNAVAILABLE")


def test_error_bodies_that_are_no_json_come_back_as_text(client, do):
    for script in ("502(body=html)", "502(body=empty)", "502(body=cut)"):
        error = raised(ServerError, ask, client, do(script))
        assert (error.code, error.status) == (502, "Bad Gateway")


def test_a_bad_request_names_its_field(client):
    for config, says in (
        ({"max_output_tokens": -1}, "max_output_tokens"),
        ({"candidate_count": 2}, "candidate"),
        ({"temperature": 3.0}, "temperature"),
        ({"stop_sequences": list("abcdef")}, "stop_sequences"),
        ({"cached_content": "cachedContents/x"}, "CachedContent"),
    ):
        error = raised(ClientError, ask, client, **config)
        assert error.code in (400, 403)
        assert says in error.message


def test_a_script_that_does_not_parse_says_where(client):
    error = raised(ClientError, ask, client, "sandbox-do-429(after=1)")
    assert error.code == 400
    assert "at byte 4" in error.message and "ra-ms=" in error.message


def test_a_200_without_an_answer_passes_as_one(client, do):
    # The SDK looks at the status alone: each of these would be a typed error in skyl.
    models = ["sandbox-empty", "sandbox-status-200", do("first-error"), do("200(body=empty)")]
    for model in models:
        answer = ask(client, model)
        assert (answer.candidates, answer.text) == (None, None)
    for body in ("html", "cut"):
        with pytest.raises(json.JSONDecodeError):
            ask(client, do(f"200(body={body})"))
