"""The official `typesafe-sdk`, unchanged, in bad minutes: its retries, its budget, its timeouts.

As in the other suites, the tests hold what the SDK really does, and say where skyl would differ.
"""

import asyncio
import socket
from dataclasses import replace
from email.utils import parsedate_to_datetime

import pytest
from typesafe_calls import DEFECT, MIXED, NEVER, STATE, ask, connect, raised
from typesafe_sdk import (
    AsyncTypeSafeClient,
    RetryPolicy,
    TypeSafeAPIConnectionError,
    TypeSafeAPIError,
    TypeSafeAPITimeoutError,
    TypeSafeAuthenticationError,
    TypeSafeBadRequestError,
    TypeSafeInternalServerError,
    TypeSafeNotFoundError,
    TypeSafePermissionDeniedError,
    TypeSafeRateLimitError,
    TypeSafeUnprocessableEntityError,
)

# The SDK's own policy, without its half seconds.
AT_ONCE = RetryPolicy(backoff_initial=0)


@pytest.fixture(scope="module")
def client(sandbox):
    """A client without retries of its own."""
    with connect(sandbox) as client:
        yield client


@pytest.fixture(scope="module")
def retrying(sandbox):
    """A client with the SDK's two retries, its default."""
    with connect(sandbox, retry=AT_ONCE) as client:
        yield client


def statuses(entries):
    return [entry.status for entry in entries]


# Statuses


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, TypeSafeAPIError),
        (400, TypeSafeBadRequestError),
        (401, TypeSafeAuthenticationError),
        (402, TypeSafeAPIError),
        (403, TypeSafePermissionDeniedError),
        (404, TypeSafeNotFoundError),
        (405, TypeSafeAPIError),
        (408, TypeSafeAPIError),
        (413, TypeSafeAPIError),
        (422, TypeSafeUnprocessableEntityError),
        (429, TypeSafeRateLimitError),
        (500, TypeSafeInternalServerError),
        (503, TypeSafeInternalServerError),
        (529, TypeSafeInternalServerError),
    ],
)
def test_each_status_is_the_class_the_sdk_has_for_it(client, journal, status, kind):
    error = raised(kind, ask, client, f"sandbox-status-{status}")
    assert error.status == status
    assert f"{status} sandbox: injected status sandbox-status-{status}" in str(error)
    assert error.request_id == f"req_{journal()[0].seq:032x}"


def test_only_a_status_by_name_hints_and_only_on_429(client, do):
    error = raised(TypeSafeRateLimitError, ask, client, "sandbox-status-429")
    assert error.retry_after_ms == 1000
    assert raised(TypeSafeRateLimitError, ask, client, do("429")).retry_after_ms is None


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("502(body=html)", "<!DOCTYPE html>"),
        ("500(body=empty)", "status code (no body)"),
        ("503(body=cut)", '503 {"detail":'),
        ("429(body=quota)", "injected status 429"),
        ("529(body=overloaded)", "injected status 529"),
        ("400(body=context)", "max_tokens_exceeded"),
    ],
)
def test_whatever_the_body_the_status_survives(client, do, script, text):
    with pytest.raises(TypeSafeAPIError) as caught:
        ask(client, do(script))
    assert caught.value.status == int(script[:3])
    assert text in str(caught.value)


# The SDK's own retries


def test_the_sdk_retries_with_the_same_bytes_and_counts(retrying, do, journal):
    state = STATE * 50
    model = do("429(ra-ms=1),503,ok")
    assert ask(retrying, model, MIXED, state).answers == ask(retrying, None, MIXED, state).answers
    tries = [entry for entry in journal() if entry.model == model]
    assert statuses(tries) == [429, 503, 200]
    assert [entry.step for entry in tries] == [0, 1, 2]
    # Compressed once, sent three times.
    assert {entry.header("content-encoding") for entry in tries} == {"zstd"}
    assert len({(entry.body_sha256, entry.body_bytes) for entry in tries}) == 1
    assert [entry.header("x-typesafe-retry-count") for entry in tries] == [None, "1", "2"]


def test_a_callers_retry_count_is_taken_out(retrying, do, journal):
    ask(retrying, do("503,ok"), extra_headers={"X-TypeSafe-Retry-Count": "7"})
    assert [entry.header("x-typesafe-retry-count") for entry in journal()] == [None, "1"]


def test_the_sdk_gives_up_after_two_retries_with_the_last_error(retrying, do, journal):
    error = raised(TypeSafeInternalServerError, ask, retrying, do("429(ra-ms=0)*2,500,ok"))
    assert error.status == 500
    assert statuses(journal()) == [429, 429, 500]
    assert error.request_id == f"req_{journal()[-1].seq:032x}"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529, 599])
def test_the_sdk_retries_these(retrying, do, journal, status):
    assert ask(retrying, do(f"{status},ok")).answers
    assert statuses(journal()) == [status, 200]


@pytest.mark.parametrize("status", [302, 400, 401, 402, 403, 404, 409, 413, 425, 422])
def test_the_sdk_does_not_retry_these(retrying, do, journal, status):
    with pytest.raises(TypeSafeAPIError):
        ask(retrying, do(f"{status}(ra-ms=0),ok"))
    assert statuses(journal()) == [status]


def test_a_request_that_does_not_fit_the_schema_is_not_sent_again(retrying, journal):
    raised(TypeSafeUnprocessableEntityError, ask, retrying, state=5)
    assert statuses(journal()) == [422]


def test_a_quota_is_retried_though_no_waiting_heals_it(retrying, do, journal):
    # The SDK tells a rate limit by the status alone; skyl would send one.
    error = raised(TypeSafeRateLimitError, ask, retrying, do("429(body=quota)"))
    assert error.body["detail"]["error_type"] == "insufficient_quota"
    assert len(journal()) == 3


def test_the_servers_word_is_not_read(retrying, do, journal):
    assert ask(retrying, do("503(should-retry=false),ok")).answers
    raised(TypeSafeBadRequestError, ask, retrying, do("400(should-retry=true),ok"))
    assert statuses(journal()) == [503, 200, 400]


def test_retries_can_be_told_by_status(retrying, do, journal):
    policy = replace(AT_ONCE, http_statuses={409})
    assert ask(retrying, do("409,ok"), retry=policy).answers
    raised(TypeSafeInternalServerError, ask, retrying, do("503,ok"), retry=policy)
    assert statuses(journal()) == [409, 200, 503]


# Waits


def waited_ms(entries):
    first, second = entries
    return second.time_ms - first.time_ms


@pytest.mark.parametrize(
    ("hint", "milliseconds"),
    [
        ("ra=0", 0),
        ("ra=2", 2000),
        ("ra=0.50", 500),
        ("ra-ms=1.5", 1.5),
        ("ra-ms=250;ra=2", 250),
        ("ra-raw=+3", 3000),
        ("ra-raw=1e3", 1_000_000),
        ("ra-raw=1_0", 10_000),
        ("ra-raw=-5", None),
        ("ra-raw=inf", None),
        ("ra-raw=nan", None),
        ("ra-raw=soon", None),
        ("ra-raw=10, 20", None),
        ("ra-date=-30", 0),
    ],
)
def test_how_the_sdk_reads_a_hint(client, do, hint, milliseconds):
    error = raised(TypeSafeRateLimitError, ask, client, do(f"429({hint})"))
    assert error.retry_after_ms == milliseconds


def test_a_date_is_that_far_from_now(client, do):
    error = raised(TypeSafeRateLimitError, ask, client, do("429(ra-date=30)"))
    hint = parsedate_to_datetime(error.headers["retry-after"])
    now = parsedate_to_datetime(error.headers["date"])
    assert (hint - now).total_seconds() == pytest.approx(30, abs=2)
    assert 0 < error.retry_after_ms <= 32_000


@pytest.mark.parametrize("hint", ["ra=0.3", "ra-ms=300"])
def test_the_sdk_waits_as_long_as_it_is_told(retrying, do, journal, hint):
    assert ask(retrying, do(f"503({hint}),ok")).answers
    # The journal's clock rounds down twice.
    assert waited_ms(journal()) >= 300 - 2


def test_a_hint_can_be_left_unread(retrying, do, journal):
    policy = replace(AT_ONCE, respect_retry_after=False)
    assert ask(retrying, do("429(ra=100),ok"), retry=policy).answers
    assert statuses(journal()) == [429, 200]


def test_a_hint_longer_than_the_budget_ends_the_call_at_once(retrying, do, journal):
    # skyl shortens such a wait first, to five minutes by default, and then asks the budget.
    error = raised(TypeSafeRateLimitError, ask, retrying, do("429(ra=31),ok"))
    assert (error.status, error.retry_after_ms) == (429, 31_000)
    assert len(journal()) == 1
    error = raised(TypeSafeRateLimitError, ask, retrying, do("429(ra-raw=1e300),ok"))
    assert error.retry_after_ms == pytest.approx(1e303)


def test_a_spent_budget_ends_the_call_with_the_last_error(retrying, do, journal):
    policy = replace(AT_ONCE, timeout=0.5)
    # The first attempt is answered after the budget: it is not cut, and nothing comes after it.
    error = raised(
        TypeSafeInternalServerError, ask, retrying, do("503+stall(600),ok"), retry=policy
    )
    assert error.status == 503
    assert len(journal()) == 1


# Broken connections


@pytest.mark.parametrize(
    "script", ["reset", "close", "reset-mid", "close-mid", "stream-reset(1)", "stream-truncate(1)"]
)
def test_a_broken_connection_is_retried(client, retrying, do, journal, script):
    error = raised(TypeSafeAPIConnectionError, ask, client, do(script))
    assert str(error).startswith("Connection error: ")
    assert ask(retrying, do(f"{script},ok")).answers
    broken, again = journal()[1:]
    assert again.status == 200
    assert broken.connection != again.connection
    assert broken.body_sha256 == again.body_sha256
    assert again.header("x-typesafe-retry-count") == "1"


def test_connection_retries_can_be_switched_off(retrying, do, journal):
    policy = replace(AT_ONCE, api_connection_error=False)
    for script in ("reset,ok", "close,ok", "close-mid,ok"):
        raised(TypeSafeAPIConnectionError, ask, retrying, do(script), retry=policy)
    assert len(journal()) == 3


def test_a_server_that_is_not_there_is_a_connection_error(sandbox, journal):
    # Bound, so that nobody else listens there, and not listening.
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/typesafe"
        with connect(sandbox, base_url=url, retry=AT_ONCE) as client:
            error = raised(TypeSafeAPIConnectionError, ask, client)
    assert sandbox.key not in repr(error)
    assert journal() == []


# Slow answers


def test_a_stall_before_the_headers_meets_the_timeout(client, do, journal):
    error = raised(TypeSafeAPITimeoutError, ask, client, do("stall(60000)"), timeout=0.2)
    assert str(error) == "Request timed out (timeout=0.2)."
    # Journaled before the stall, with the status that was going to come.
    assert statuses(journal()) == [200]


def test_a_stall_in_the_body_meets_the_timeout_too(client, do, journal):
    for script in ("stall-mid(60000)", "stream-stall(1;60000)"):
        raised(TypeSafeAPITimeoutError, ask, client, do(script), timeout=0.2)
    assert len(journal()) == 2


def test_a_refusal_whose_body_stalls_loses_its_hint(retrying, do, journal):
    # The status and the 40 seconds were in the headers; the SDK forgets both and asks at once.
    model = do("429(ra=40)+stall-mid(60000),ok")
    assert ask(retrying, model, timeout=0.3).answers
    assert statuses(journal()) == [429, 200]
    assert waited_ms(journal()) < 20_000


def test_a_timeout_is_retried_unless_that_is_switched_off(retrying, do, journal):
    assert ask(retrying, do("stall(60000),ok"), timeout=0.5).answers
    policy = replace(AT_ONCE, api_timeout_error=False)
    raised(TypeSafeAPITimeoutError, ask, retrying, do("stall(60000),ok"), timeout=0.2, retry=policy)
    assert [entry.header("x-typesafe-retry-count") for entry in journal()] == [None, "1", None]


def test_signs_of_life_stretch_the_sdks_timeout(client, do, journal):
    # It counts from byte to byte, so a slow server can hold a call for ever; skyl's timeout is that
    # of the whole attempt.
    assert ask(client, do("comments(900)"), timeout=0.3).answers
    assert len(journal()) == 1


@pytest.mark.parametrize(
    "script", ["split(1)", "slow(1)+split(40)", "stall(30)", "stall-mid(30)", "comments(30)"]
)
def test_however_it_is_delivered_the_answer_is_the_same(client, do, script):
    assert ask(client, do(script), MIXED).answers == ask(client, None, MIXED).answers


# The asynchronous client


def test_the_async_client_retries_alike(sandbox, do, journal):
    async def calls():
        async with AsyncTypeSafeClient(
            api_key=sandbox.key, base_url=f"{sandbox.url}/typesafe", retry=AT_ONCE, timeout=10
        ) as client:
            # Calls at once do not share their counts.
            models = [do("429(ra-ms=1),reset,ok") for _ in range(8)]
            many = [client.system_one(STATE, DEFECT, model=model) for model in models]
            answers = await asyncio.gather(*many)
            with pytest.raises(TypeSafeAPITimeoutError):
                await client.system_one(
                    STATE, DEFECT, model=do("stall(60000)"), timeout=0.2, retry=NEVER
                )
            return models, answers

    models, answers = asyncio.run(calls())
    assert all(answer.answers == answers[0].answers for answer in answers)
    for model in models:
        tries = [entry for entry in journal() if entry.model == model]
        assert statuses(tries) == [429, None, 200]
        assert [entry.header("x-typesafe-retry-count") for entry in tries] == [None, "1", "2"]
