"""The official `openai` SDK, unchanged, in bad minutes: its own retries, and what it cannot retry.

As in the other suite, the tests hold what the SDK really does, and say where skyl would differ.
"""

import json
from email.utils import parsedate_to_datetime

import openai
import pytest
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError
from openai_calls import ARGUMENTS, ECHO, PROMPT, WEATHER, ask, connect, drain, raised, text, user


@pytest.fixture(scope="module")
def client(sandbox):
    """A client of `/openai/v1`, without retries of its own."""
    with connect(sandbox) as client:
        yield client


@pytest.fixture(scope="module")
def retrying(client):
    """The same with the SDK's two retries, its default."""
    return client.with_options(max_retries=2)


# The SDK's own retries


def test_the_sdk_retries_with_the_same_bytes_and_counts(retrying, do, journal):
    for stream in (False, True):
        model = do("429(ra-ms=1)*2,ok")
        if stream:
            assert drain(ask(retrying, model, stream=True)) == (ECHO, "stop", None)
        else:
            assert text(ask(retrying, model)) == ECHO
        tries = [entry for entry in journal() if entry.model == model]
        assert [entry.status for entry in tries] == [429, 429, 200]
        assert [entry.step for entry in tries] == [0, 0, 1]
        assert len({(entry.body_sha256, entry.body_bytes) for entry in tries}) == 1
        assert [entry.header("x-stainless-retry-count") for entry in tries] == ["0", "1", "2"]
        # The SDK makes up an idempotency key and sends it only where a header is named for it.
        assert all(entry.header("idempotency-key") is None for entry in tries)


def test_a_run_goes_on_where_it_was(client, do):
    model = do("500,503,ok")
    statuses = [raised(openai.InternalServerError, ask, client, model).status_code for _ in "12"]
    assert statuses == [500, 503]
    # The last step holds for ever, and a new tag is a new run.
    assert [text(ask(client, model)) for _ in "12"] == [ECHO, ECHO]
    assert raised(openai.InternalServerError, ask, client, do("500,503,ok")).status_code == 500


def test_the_sdk_gives_up_after_its_retries_with_the_last_error(retrying, do, journal):
    error = raised(openai.InternalServerError, ask, retrying, do("429(ra-ms=1)*2,500(ra-ms=1)"))
    assert error.status_code == 500
    assert [entry.status for entry in journal()] == [429, 429, 500]
    assert error.request_id.endswith(f"_{journal()[-1].seq}")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_the_sdk_retries_these(retrying, do, journal, status):
    assert text(ask(retrying, do(f"{status}(ra-ms=1),ok"))) == ECHO
    assert [entry.status for entry in journal()] == [status, 200]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 407, 413, 418, 422])
def test_the_sdk_does_not_retry_these(retrying, do, journal, status):
    with pytest.raises(APIStatusError):
        ask(retrying, do(f"{status}(ra-ms=1),ok"))
    assert [entry.status for entry in journal()] == [status]


def test_a_quota_is_retried_though_no_waiting_heals_it(retrying, do, journal):
    # The SDK tells a rate limit by the status alone; skyl would send one.
    error = raised(openai.RateLimitError, ask, retrying, do("429(body=quota;ra-ms=1)"))
    assert error.code == "insufficient_quota"
    assert len(journal()) == 3


def test_the_servers_word_beats_the_status(retrying, do, journal):
    for script in ("429(should-retry=false;ra-ms=1),ok", "503(should-retry=false),ok"):
        with pytest.raises(APIStatusError):
            ask(retrying, do(script))
    assert [entry.status for entry in journal()] == [429, 503]
    # Even for a bad request, which skyl would not send again.
    for status in (302, 400, 404):
        script = f"{status}(should-retry=true;ra-ms=1),ok"
        assert text(ask(retrying, do(script))) == ECHO
    assert [entry.status for entry in journal()[2:]] == [302, 200, 400, 200, 404, 200]


def waited_ms(entries):
    first, second = entries
    return second.time_ms - first.time_ms


@pytest.mark.parametrize(
    ("hint", "name", "value"),
    [
        ("ra=2", "retry-after", "2"),
        ("ra=0.50", "retry-after", "0.50"),
        ("ra-ms=1.5", "retry-after-ms", "1.5"),
        ("ra-raw=a b, c;should-retry=true", "retry-after", "a b, c"),
        ("should-retry=true", "x-should-retry", "true"),
        ("should-retry=false", "x-should-retry", "false"),
    ],
)
def test_a_hint_is_sent_as_it_is_written(client, do, hint, name, value):
    headers = raised(openai.RateLimitError, ask, client, do(f"429({hint})")).response.headers
    assert headers[name] == value
    others = {"retry-after", "retry-after-ms", "x-should-retry"} - {name}
    assert sum(other in headers for other in others) == hint.count(";")


def test_a_date_is_that_far_from_now(client, do):
    for seconds in (-30, 30):
        script = f"429(ra-date={seconds})"
        headers = raised(openai.RateLimitError, ask, client, do(script)).response.headers
        hint = parsedate_to_datetime(headers["retry-after"])
        now = parsedate_to_datetime(headers["date"])
        assert (hint - now).total_seconds() == pytest.approx(seconds, abs=2)


@pytest.mark.parametrize(
    ("hint", "at_least_ms"),
    [
        # More than the SDK's own first wait, 375 to 500 ms, could be.
        ("ra=0.6", 600),
        ("ra-ms=600", 600),
        # Not usable, so the SDK waits as long as it would by itself.
        ("ra=0", 375),
        ("ra-raw=soon", 375),
        ("ra-date=-30", 375),
    ],
)
def test_the_sdk_waits_as_long_as_it_is_told(retrying, do, journal, hint, at_least_ms):
    assert text(ask(retrying, do(f"429({hint}),ok"))) == ECHO
    # The journal's clock rounds down twice.
    assert waited_ms(journal()) >= at_least_ms - 2


def test_a_hint_over_two_minutes_ends_the_sdks_retries(retrying, do, journal):
    for hint in ("ra=121", "ra-ms=120001", "ra-date=300"):
        raised(openai.RateLimitError, ask, retrying, do(f"429({hint}),ok"))
    assert len(journal()) == 3


# Broken connections


# What httpx calls a connection that was reset, and one that was closed too early.
RESET, CLOSED = "ReadError", "RemoteProtocolError"


@pytest.mark.parametrize(("script", "cause"), [("reset", RESET), ("close", CLOSED)])
def test_a_connection_that_ends_before_any_byte_is_retried(client, do, journal, script, cause):
    for stream in (False, True):
        error = raised(APIConnectionError, ask, client, do(script), stream=stream)
        assert type(error.__cause__).__name__ == cause
    assert [entry.status for entry in journal()] == [None, None]
    once = client.with_options(max_retries=1)
    assert text(ask(once, do(f"{script},ok"))) == ECHO
    first, second = journal()[2:]
    assert (first.status, second.status) == (None, 200)
    assert first.connection != second.connection
    assert first.body_sha256 == second.body_sha256


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("reset-mid", RESET),
        ("close-mid", CLOSED),
        ("stream-reset(3)", RESET),
        ("stream-truncate(3)", CLOSED),
    ],
)
def test_a_body_that_breaks_off_is_retried(client, do, journal, script, cause):
    # The SDK reads a body that is no stream within the attempt.
    error = raised(APIConnectionError, ask, client, do(script))
    assert type(error.__cause__).__name__ == cause
    once = client.with_options(max_retries=1)
    assert text(ask(once, do(f"{script},ok"))) == ECHO
    assert [entry.status for entry in journal()] == [200, 200, 200]


@pytest.mark.parametrize(
    ("script", "said", "cause"),
    [
        ("reset-mid", "You ", RESET),
        ("close-mid", "You ", CLOSED),
        ("stream-reset(1)", "You ", RESET),
        ("stream-reset(2)", "You said: ", RESET),
    ],
)
def test_a_stream_that_breaks_off_is_never_resent(retrying, do, journal, script, said, cause):
    text_so_far, finish, error = drain(ask(retrying, do(f"{script},ok"), stream=True))
    assert (text_so_far, finish) == (said, None)
    assert type(error) is APIConnectionError
    assert type(error.__cause__).__name__ == cause
    assert len(journal()) == 1


# Streams that go wrong


def test_a_first_frame_error_is_not_retried(retrying, do, journal):
    # Nothing had been delivered, so skyl would retry it; the SDK retries statuses alone.
    said, finish, error = drain(ask(retrying, do("first-error,ok"), stream=True))
    assert (said, finish) == ("", None)
    assert type(error) is APIError
    assert (error.type, error.code) == ("service_unavailable_error", "server_is_overloaded")
    assert len(journal()) == 1


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("sandbox-stream-error", "You "),
        ("stream-error(1)", "You "),
        ("stream-error(2)", "You said: "),
    ],
)
def test_an_error_in_mid_stream_has_a_code_and_no_status(retrying, do, journal, model, said):
    model = model if model.startswith("sandbox-") else do(model)
    text_so_far, finish, error = drain(ask(retrying, model, stream=True))
    assert (text_so_far, finish) == (said, None)
    assert type(error) is APIError and not hasattr(error, "status_code")
    assert error.code == "server_is_overloaded"
    assert len(journal()) == 1
    assert raised(APIError, gathered, retrying, model).code == "server_is_overloaded"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("sandbox-stream-truncate", "You "),
        ("stream-truncate(0)", ""),
        ("stream-truncate(1)", "You "),
        ("stream-truncate(3)", "You said: two  "),
    ],
)
def test_a_truncated_stream_passes_as_a_whole_one(retrying, do, journal, model, said):
    # No finish reason and no `[DONE]` came. The SDK ends the loop without an error, and its
    # helper hands out the half text as the final completion; skyl calls it truncated.
    model = model if model.startswith("sandbox-") else do(model)
    assert drain(ask(retrying, model, stream=True)) == (said, None, None)
    assert len(journal()) == 1
    final = gathered(retrying, model)
    assert (text(final), final.choices[0].finish_reason) == (said, None)


def test_only_a_whole_stream_ends_with_the_mark(client, do):
    raw = client.chat.completions.with_streaming_response

    def received(script):
        with raw.create(model=do(script), messages=user(PROMPT), stream=True) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            return response.read().decode()

    assert received("ok").endswith("data: [DONE]\n\n")
    # The error, like the cut, ends the body as HTTP wants it: neither read fails.
    for script in ("stream-truncate(2)", "stream-truncate(99)", "stream-error(2)"):
        cut = received(script)
        assert cut.endswith("}\n\n")
        assert "[DONE]" not in cut


def gathered(client, model):
    """What the SDK's stream helper makes of a stream in the end."""
    with client.chat.completions.stream(model=model, messages=user(PROMPT)) as stream:
        return stream.get_final_completion()


# Slow answers


@pytest.mark.parametrize("stream", [False, True])
def test_a_stall_before_the_headers_meets_the_clients_timeout(client, do, journal, stream):
    hasty = client.with_options(timeout=0.3)
    error = raised(APITimeoutError, ask, hasty, do("stall(60000)"), stream=stream)
    assert isinstance(error, APIConnectionError)
    # Journaled before the stall, with the status that was going to come.
    assert [entry.status for entry in journal()] == [200]


def test_a_stall_is_retried_and_the_next_attempt_answers(client, do, journal):
    hasty = client.with_options(timeout=1, max_retries=1)
    model = do("stall(60000),ok")
    assert text(ask(hasty, model)) == ECHO
    assert [entry.header("x-stainless-retry-count") for entry in journal()] == ["0", "1"]
    assert len({entry.connection for entry in journal()}) == 2


def test_a_stall_shorter_than_the_timeout_is_only_slow(client, do):
    for script in ("stall(30)", "stall-mid(30)", "stream-stall(2;30)"):
        assert text(ask(client, do(script))) == ECHO
        assert drain(ask(client, do(script), stream=True)) == (ECHO, "stop", None)


@pytest.mark.parametrize(
    ("script", "said"), [("stall-mid(60000)", "You "), ("stream-stall(2;60000)", "You said: ")]
)
def test_a_stall_in_mid_stream_is_an_error_and_never_resent(retrying, do, journal, script, said):
    hasty = retrying.with_options(timeout=0.5)
    text_so_far, finish, error = drain(ask(hasty, do(script), stream=True))
    assert (text_so_far, finish) == (said, None)
    assert type(error) is APITimeoutError
    assert len(journal()) == 1


@pytest.mark.parametrize(
    "script", ["split(1)", "slow(1)+split(40)", "comments(30)", "slow(2)+comments(20)"]
)
def test_however_it_is_delivered_the_text_is_the_same(client, do, script):
    assert text(ask(client, do(script))) == ECHO
    usage = {"stream_options": {"include_usage": True}}
    chunks = list(ask(client, do(script), stream=True, **usage))
    assert drain(chunks) == (ECHO, "stop", None)
    assert chunks[-1].usage == ask(client).usage
    calls = ask(client, do(script), "weather", tools=[WEATHER]).choices[0].message.tool_calls
    assert json.loads(calls[0].function.arguments) == ARGUMENTS


def test_comments_keep_a_call_alive(client, do, journal):
    # One every 10 ms for twice the time the client would wait for the next byte.
    hasty = client.with_options(timeout=0.5)
    assert drain(ask(hasty, do("comments(1000)"), stream=True)) == (ECHO, "stop", None)
    assert len(journal()) == 1


def test_a_dropped_stream_does_no_harm_to_the_next_call(client, do):
    with ask(client, do("slow(20)"), stream=True) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    assert text(ask(client)) == ECHO
