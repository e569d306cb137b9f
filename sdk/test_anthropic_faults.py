"""The official `anthropic` SDK, unchanged, in bad minutes: its retries, and what it cannot retry.

As in the other suites, the tests hold what the SDK really does, and say where skyl would differ.
"""

import anthropic
import pytest
from anthropic import APIConnectionError, APIStatusError, APITimeoutError
from anthropic_calls import (
    ARGUMENTS,
    ECHO,
    WEATHER,
    ask,
    calls,
    connect,
    drain,
    gathered,
    raised,
    text,
)


@pytest.fixture(scope="module")
def client(sandbox):
    """A client without retries of its own."""
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
            assert drain(ask(retrying, model, stream=True)) == (ECHO, "end_turn", None)
        else:
            assert text(ask(retrying, model)) == ECHO
        tries = [entry for entry in journal() if entry.model == model]
        assert [(entry.status, entry.step) for entry in tries] == [(429, 0), (429, 0), (200, 1)]
        assert len({(entry.body_sha256, entry.body_bytes) for entry in tries}) == 1
        assert [entry.header("x-stainless-retry-count") for entry in tries] == ["0", "1", "2"]


def test_the_sdk_gives_up_after_its_retries_with_the_last_error(retrying, do, journal):
    error = raised(anthropic.InternalServerError, ask, retrying, do("429(ra-ms=1)*2,500(ra-ms=1)"))
    assert [entry.status for entry in journal()] == [429, 429, 500]
    assert error.request_id == f"req_sandbox_{journal()[-1].seq}"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_the_sdk_retries_these(retrying, do, journal, status):
    assert text(ask(retrying, do(f"{status}(ra-ms=1),ok"))) == ECHO
    assert [entry.status for entry in journal()] == [status, 200]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 407, 413, 418, 422])
def test_the_sdk_does_not_retry_these(retrying, do, journal, status):
    with pytest.raises(APIStatusError):
        ask(retrying, do(f"{status}(ra-ms=1),ok"))
    assert [entry.status for entry in journal()] == [status]


def test_a_spend_limit_is_retried_though_no_waiting_heals_it(retrying, do, journal):
    # The SDK has a class of its own for it and retries by the status alone; skyl would send one.
    error = raised(
        anthropic.EnforcedSpendLimitReachedError,
        ask,
        retrying,
        do("429(body=quota;ra-ms=1)"),
    )
    assert isinstance(error, anthropic.RateLimitError)
    assert len(journal()) == 3


def test_the_servers_word_beats_the_status(retrying, do, journal):
    for script in ("429(should-retry=false;ra-ms=1),ok", "503(should-retry=false),ok"):
        with pytest.raises(APIStatusError):
            ask(retrying, do(script))
    # Even for a bad request, which skyl would not send again.
    assert text(ask(retrying, do("400(should-retry=true;ra-ms=1),ok"))) == ECHO
    assert [entry.status for entry in journal()] == [429, 503, 400, 200]


@pytest.mark.parametrize(
    ("hint", "at_least_ms"),
    [
        # More than the SDK's own first wait, 375 to 500 ms, could be.
        ("ra=0.6", 600),
        ("ra-ms=600", 600),
        # Not usable, so the SDK waits as long as it would by itself.
        ("ra=0", 375),
        ("ra-date=-30", 375),
    ],
)
def test_the_sdk_waits_as_long_as_it_is_told(retrying, do, journal, hint, at_least_ms):
    assert text(ask(retrying, do(f"429({hint}),ok"))) == ECHO
    first, second = journal()
    # The journal's clock rounds down twice.
    assert second.time_ms - first.time_ms >= at_least_ms - 2


# Broken connections


# What httpx calls a connection that was reset, and one that was closed too early.
RESET, CLOSED = "ReadError", "RemoteProtocolError"


@pytest.mark.parametrize(
    ("script", "cause", "status"),
    [
        ("reset", RESET, None),
        ("close", CLOSED, None),
        # The SDK reads a body that is no stream within the attempt.
        ("reset-mid", RESET, 200),
        ("close-mid", CLOSED, 200),
        ("stream-reset(3)", RESET, 200),
        ("stream-truncate(3)", CLOSED, 200),
    ],
)
def test_an_answer_that_is_lost_is_retried(client, do, journal, script, cause, status):
    error = raised(APIConnectionError, ask, client, do(script))
    assert type(error.__cause__).__name__ == cause
    once = client.with_options(max_retries=1)
    assert text(ask(once, do(f"{script},ok"))) == ECHO
    assert [entry.status for entry in journal()] == [status, status, 200]
    assert journal()[1].connection != journal()[2].connection
    assert journal()[1].body_sha256 == journal()[2].body_sha256


@pytest.mark.parametrize(
    ("script", "said", "cause"),
    [
        ("reset-mid", "You ", RESET),
        ("close-mid", "You ", CLOSED),
        ("stream-reset(2)", "You said: ", RESET),
    ],
)
def test_a_stream_that_breaks_off_is_never_resent(retrying, do, journal, script, said, cause):
    text_so_far, reason, error = drain(ask(retrying, do(f"{script},ok"), stream=True))
    assert (text_so_far, reason) == (said, None)
    # The transport's own error, bare: no class of the SDK wraps it.
    assert not isinstance(error, anthropic.AnthropicError)
    assert type(error).__name__ == cause
    assert len(journal()) == 1


# Streams that go wrong


@pytest.mark.parametrize(
    ("script", "said"),
    [("first-error", ""), ("stream-error(1)", "You "), ("stream-error(2)", "You said: ")],
)
def test_an_error_in_a_stream_is_neither_classed_nor_retried(retrying, do, journal, script, said):
    # The status is the stream's 200, so the SDK does not know it for an overload. At the first
    # frame, nothing had been delivered: skyl would retry it.
    text_so_far, reason, error = drain(ask(retrying, do(f"{script},ok"), stream=True))
    assert (text_so_far, reason) == (said, None)
    assert type(error) is APIStatusError
    assert error.status_code == 200
    assert error.body["error"]["type"] == "overloaded_error"
    assert len(journal()) == 1
    assert raised(APIStatusError, gathered, retrying, do(script)).status_code == 200


@pytest.mark.parametrize(
    ("script", "said"),
    [("stream-truncate(0)", ""), ("stream-truncate(1)", "You "), ("stream-truncate(99)", ECHO)],
)
def test_a_truncated_stream_passes_as_a_whole_one(retrying, do, journal, script, said):
    # No `message_stop` came. The SDK ends the loop without an error; skyl calls it truncated.
    assert drain(ask(retrying, do(script), stream=True)) == (said, None, None)
    assert len(journal()) == 1
    final = gathered(retrying, do(script))
    assert (text(final), final.stop_reason) == (said, None)


def test_a_half_tool_call_passes_as_one(client, do):
    # Its arguments broke off, and the helper hands out what could be read of them; in skyl a call
    # that is not whole is no call.
    script = do("stream-truncate(6)")
    final = gathered(client, script, "weather", tools=[WEATHER])
    [call] = calls(final)
    assert final.stop_reason is None
    assert call.input == {"city": "Kampala"}


# Slow answers


@pytest.mark.parametrize("stream", [False, True])
def test_a_stall_before_the_headers_meets_the_clients_timeout(client, do, journal, stream):
    hasty = client.with_options(timeout=0.3)
    raised(APITimeoutError, ask, hasty, do("stall(60000)"), stream=stream)
    assert [entry.status for entry in journal()] == [200]


def test_a_stall_is_retried_and_the_next_attempt_answers(client, do, journal):
    hasty = client.with_options(timeout=1, max_retries=1)
    assert text(ask(hasty, do("stall(60000),ok"))) == ECHO
    assert len({entry.connection for entry in journal()}) == 2


def test_a_stall_in_mid_stream_is_never_resent(retrying, do, journal):
    hasty = retrying.with_options(timeout=0.5)
    said, reason, error = drain(ask(hasty, do("stream-stall(2;60000)"), stream=True))
    assert (said, reason) == ("You said: ", None)
    assert type(error).__name__ in ("ReadTimeout", "APITimeoutError")
    assert len(journal()) == 1


def test_a_stall_shorter_than_the_timeout_is_only_slow(client, do):
    for script in ("stall(30)", "stall-mid(30)", "stream-stall(2;30)"):
        assert text(ask(client, do(script))) == ECHO
        assert drain(ask(client, do(script), stream=True)) == (ECHO, "end_turn", None)


@pytest.mark.parametrize(
    "script", ["split(1)", "slow(1)+split(40)", "comments(30)", "slow(2)+comments(20)"]
)
def test_however_it_is_delivered_the_answer_is_the_same(client, do, script):
    assert text(ask(client, do(script))) == ECHO
    assert drain(ask(client, do(script), stream=True)) == (ECHO, "end_turn", None)
    [call] = calls(gathered(client, do(script), "weather", tools=[WEATHER]))
    assert call.input == ARGUMENTS


def test_a_dropped_stream_does_no_harm_to_the_next_call(client, do):
    with ask(client, do("slow(20)"), stream=True) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                break
    assert text(ask(client)) == ECHO
