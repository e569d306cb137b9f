"""The official `google-genai` SDK, unchanged, in bad minutes: its retries, and what it cannot retry.

As in the other suites, the tests hold what the SDK really does, and say where skyl would differ.
"""

import pytest
from gemini_calls import ECHO, PROMPT, RETRIES, TOOLS, ask, connect, drain, raised, stream
from google.genai.errors import APIError, ClientError, ServerError, UnknownApiResponseError


@pytest.fixture(scope="module")
def client(sandbox):
    """A client as the SDK makes it: without retries."""
    with connect(sandbox) as client:
        yield client


@pytest.fixture(scope="module")
def retrying(sandbox):
    """A client with three attempts in all."""
    with connect(sandbox, retry_options=RETRIES) as client:
        yield client


# The SDK's own retries


def test_the_sdk_retries_only_when_it_is_told_to(client, retrying, do, journal):
    assert raised(ClientError, ask, client, do("429,ok")).code == 429
    assert len(journal()) == 1
    assert ask(retrying, do("429*2,ok")).text == ECHO
    assert drain(stream(retrying, do("429*2,ok"))) == (ECHO, "STOP", None)
    tries = journal()[1:]
    assert [entry.status for entry in tries] == [429, 429, 200] * 2
    assert len({(entry.body_sha256, entry.body_bytes) for entry in tries}) == 1


def test_the_sdk_gives_up_after_its_attempts_with_the_last_error(retrying, do, journal):
    error = raised(ServerError, ask, retrying, do("429*2,503,ok"))
    assert (error.code, error.status) == (503, "UNAVAILABLE")
    assert [entry.status for entry in journal()] == [429, 429, 503]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_the_sdk_retries_these(retrying, do, journal, status):
    assert ask(retrying, do(f"{status},ok")).text == ECHO
    assert [entry.status for entry in journal()] == [status, 200]


# The last two are worth a retry, and get one from skyl.
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501, 409, 529])
def test_the_sdk_does_not_retry_these(retrying, do, journal, status):
    with pytest.raises(APIError):
        ask(retrying, do(f"{status},ok"))
    assert [entry.status for entry in journal()] == [status]


def test_the_sdk_listens_to_no_hint_and_no_word(retrying, do, journal):
    # Five seconds were asked for; skyl would wait them, and not retry against the server's word.
    assert ask(retrying, do("429(ra=5),ok")).text == ECHO
    first, second = journal()
    assert second.time_ms - first.time_ms < 4000
    assert ask(retrying, do("503(should-retry=false),ok")).text == ECHO
    assert len(journal()) == 4


def test_a_daily_quota_is_retried_though_no_waiting_heals_it(retrying, do, journal):
    assert raised(ClientError, ask, retrying, do("429(body=quota)")).code == 429
    assert len(journal()) == 3


# Broken connections


# What httpx calls a connection that was reset, and one that was closed too early.
RESET, CLOSED = "ReadError", "RemoteProtocolError"


@pytest.mark.parametrize(
    ("script", "cause", "status"),
    [
        ("reset", RESET, None),
        ("close", CLOSED, None),
        ("reset-mid", RESET, 200),
        ("close-mid", CLOSED, 200),
        ("stream-reset(3)", RESET, 200),
        ("stream-truncate(3)", CLOSED, 200),
    ],
)
def test_an_answer_that_is_lost_is_the_transports_error(client, do, journal, script, cause, status):
    # No class of the SDK wraps it.
    with pytest.raises(Exception) as caught:
        ask(client, do(script))
    assert type(caught.value).__name__ == cause
    assert [entry.status for entry in journal()] == [status]


@pytest.mark.parametrize(
    ("script", "said", "cause"),
    [
        ("reset-mid", "You ", RESET),
        ("close-mid", "You ", CLOSED),
        ("stream-reset(2)", "You said: ", RESET),
    ],
)
def test_a_stream_that_breaks_off_is_never_resent(retrying, do, journal, script, said, cause):
    text_so_far, reason, error = drain(stream(retrying, do(f"{script},ok")))
    assert (text_so_far, reason) == (said, None)
    assert type(error).__name__ == cause
    assert len(journal()) == 1


# Streams that go wrong


@pytest.mark.parametrize(
    ("script", "said"),
    [("first-error", ""), ("stream-error(1)", "You "), ("stream-error(2)", "You said: ")],
)
def test_an_error_in_a_stream_has_its_class_and_is_not_retried(
    retrying, do, journal, script, said
):
    # At the first frame nothing had been delivered: skyl would retry it.
    text_so_far, reason, error = drain(stream(retrying, do(f"{script},ok")))
    assert (text_so_far, reason) == (said, None)
    assert (type(error), error.code, error.status) == (ServerError, 503, "UNAVAILABLE")
    assert len(journal()) == 1


@pytest.mark.parametrize(
    ("script", "said"),
    [("stream-truncate(0)", ""), ("stream-truncate(1)", "You "), ("stream-truncate(99)", ECHO)],
)
def test_a_truncated_stream_passes_as_a_whole_one(retrying, do, journal, script, said):
    # No finish reason came. The SDK ends the loop without an error; skyl calls it truncated.
    assert drain(stream(retrying, do(script))) == (said, None, None)
    assert len(journal()) == 1


def test_a_comment_in_a_stream_is_taken_for_an_answer(client, do):
    # The SDK knows no comments of event streams and fails on the first; skyl skips them.
    said, _, error = drain(stream(client, do("comments(30)")))
    assert (said, type(error)) == ("", UnknownApiResponseError)
    assert ask(client, do("comments(30)")).text == ECHO


# Slow answers


def test_a_stall_meets_the_clients_timeout(sandbox, do, journal):
    with connect(sandbox, timeout=300) as hasty:
        for call in (ask, lambda client, model: list(stream(client, model))):
            with pytest.raises(Exception) as caught:
                call(hasty, do("stall(60000)"))
            assert type(caught.value).__name__ == "ReadTimeout"
        said, reason, error = drain(stream(hasty, do("stream-stall(2;60000)")))
    assert (said, reason, type(error).__name__) == ("You said: ", None, "ReadTimeout")
    assert [entry.status for entry in journal()] == [200] * 3


def test_a_stall_shorter_than_the_timeout_is_only_slow(client, do):
    for script in ("stall(30)", "stall-mid(30)", "stream-stall(2;30)"):
        assert ask(client, do(script)).text == ECHO
        assert drain(stream(client, do(script))) == (ECHO, "STOP", None)


@pytest.mark.parametrize("script", ["split(1)", "split(3)", "slow(1)+split(40)", "slow(2)"])
def test_however_it_is_delivered_the_answer_is_the_same(client, do, script):
    assert ask(client, do(script), PROMPT).text == ECHO
    assert drain(stream(client, do(script))) == (ECHO, "STOP", None)
    whole = ask(client, do(script), "weather", tools=TOOLS).function_calls
    chunks = stream(client, do(script), "weather", tools=TOOLS)
    assert [call for chunk in chunks for call in chunk.function_calls or []] == whole


def test_a_dropped_stream_does_no_harm_to_the_next_call(client, do):
    chunks = stream(client, do("slow(20)"))
    next(chunks)
    chunks.close()
    assert ask(client).text == ECHO
