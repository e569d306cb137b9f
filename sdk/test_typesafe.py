"""The official `typesafe-sdk`, unchanged, against the sandbox: answers and refused requests.

Where the SDK itself does something that skyl would call wrong, the test holds what the SDK really
does and says so: the sandbox must let every client meet the same failure, and a new release that
behaves better should be noticed.
"""

import asyncio
import hashlib

import httpx2
import pytest
from typesafe_calls import (
    DEFECT,
    IMAGES,
    JPEG,
    MIXED,
    NEVER,
    PNG,
    STATE,
    ask,
    connect,
    raised,
)
from typesafe_sdk import (
    AsyncTypeSafeClient,
    Box,
    Choice,
    Image,
    ListModelsResponse,
    Noul,
    RetryPolicy,
    Score,
    TypeSafeAPIResponseValidationError,
    TypeSafeAuthenticationError,
    TypeSafeBadRequestError,
    TypeSafeError,
    TypeSafeNotFoundError,
    TypeSafePermissionDeniedError,
    TypeSafeUnprocessableEntityError,
)


@pytest.fixture(scope="module")
def client(sandbox):
    """A client without retries of its own."""
    with connect(sandbox) as client:
        yield client


# Answers


def test_every_type_of_question_has_its_answer(client, journal):
    result = ask(client, questions=MIXED)
    assert list(result.answers) == list(MIXED)
    assert 0 <= result.nouls["defect"].noul <= 1

    team = result.choices["team"]
    assert list(team.probabilities) == ["warranty", "billing", "other"]
    assert team.choice == max(team.probabilities, key=team.probabilities.get)
    assert sum(team.probabilities.values()) == pytest.approx(1)
    chance = 1 / 3
    surety = (max(team.probabilities.values()) - chance) / (1 - chance)
    assert team.confidence == pytest.approx(surety, abs=0.006)

    anger = result.scores["anger"]
    assert anger.legend == {0: "calm", 1: {"label": "annoyed"}, 2: ["angry", "furious"]}
    assert sum(anger.probabilities.values()) == pytest.approx(1)
    mean = sum(level * share for level, share in anger.probabilities.items())
    assert anger.score == pytest.approx(mean)

    [entry] = journal()
    assert (entry.method, entry.path) == ("POST", "/typesafe/v1/systemone")
    assert (entry.mount, entry.status, entry.model) == ("typesafe", 200, "jev-latest")
    assert result.model == "jev-1.13.0"
    assert result.request_id == f"req_{entry.seq:032x}"
    assert result.usage.output_tokens == 20 + (24 + 3 * 6) + 17
    assert result.usage.input_tokens > 239


def test_an_answer_hangs_on_state_and_question_alone(client):
    first = ask(client, questions=MIXED)
    assert ask(client, questions=MIXED) == first
    alone = ask(client, "jev-preview", {"renamed": MIXED["team"]})
    assert alone.model == "jev-1.14.0"
    assert alone.choices["renamed"] == first.choices["team"]
    assert ask(client, questions=MIXED, state="another").answers != first.answers


@pytest.mark.parametrize("state", ["", {}, [], {"messages": [{"from": "a", "text": None}]}, [1, 2]])
def test_a_state_is_text_object_or_array(client, state):
    assert ask(client, state=state).nouls["defect"].noul <= 1


def test_questions_may_be_dictionaries(client):
    as_objects = ask(client, questions=MIXED)
    as_dictionaries = {
        name: question.model_dump(exclude_none=False) for name, question in MIXED.items()
    }
    assert ask(client, questions=as_dictionaries) == as_objects


def test_a_noul_may_describe_its_outcomes_and_nothing_else(client):
    question = Noul(criteria={"true": "it leaks", "false": {"means": "it is dry"}})
    assert 0 <= ask(client, questions={"q": question}).nouls["q"].noul <= 1


def test_one_option_and_one_level_are_certain(client):
    result = ask(client, questions={"c": Choice(criteria={"": None}), "s": Score(criteria=["x"])})
    assert (result.choices["c"].choice, result.choices["c"].confidence) == ("", 1)
    assert (result.scores["s"].score, result.scores["s"].confidence) == (0, 1)


def test_the_models_are_two_aliases(client, journal):
    listed = client.models.list()
    assert [model.name for model in listed.models] == ["jev-latest", "jev-preview"]
    assert all(model.description and "T" in model.release_date for model in listed.models)
    [entry] = journal()
    assert (entry.method, entry.path, entry.body_bytes) == ("GET", "/typesafe/v1/models", 0)
    for model in listed.models:
        assert ask(client, model.name).model.startswith("jev-1.")


@pytest.mark.parametrize("model", ["jev-1.13.0", "jev-1.14.0"])
def test_a_version_that_is_not_listed_answers_as_itself(client, model):
    assert ask(client, model).model == model


def test_the_headers_of_the_sdk_arrive(client, journal):
    ask(client, extra_headers={"X-Mine": "1", "Authorization": "Bearer other"})
    [entry] = journal()
    assert entry.header("accept") == "application/json"
    assert entry.header("content-type") == "application/json"
    assert entry.header("user-agent") == entry.header("x-typesafe-sdk")
    assert entry.header("x-typesafe-runtime").startswith("python/")
    assert entry.header("x-typesafe-retry-count") is None
    assert entry.header("x-mine") == "1"
    assert entry.header("authorization") == "[redacted]"


# Compressed bodies


def test_a_large_body_comes_as_zstd_and_is_answered_like_a_plain_one(sandbox, client, journal):
    state = STATE * 50
    with connect(sandbox, compression=False) as plain:
        assert ask(client, state=state) == ask(plain, state=state)
    packed, whole = journal()
    assert packed.header("content-encoding") == "zstd"
    assert whole.header("content-encoding") is None
    assert packed.body_bytes < whole.body_bytes / 2
    assert packed.body_sha256 != whole.body_sha256


def test_a_small_body_comes_as_it_is(client, journal):
    ask(client)
    assert journal()[0].header("content-encoding") is None


# Images


def test_a_box_is_found_in_an_image_sent_as_a_part(client, journal):
    photo = Image(PNG)
    questions = {"valve": Box(instructions="the red valve")}
    result = ask(client, "jev-preview", questions, photo, extra_headers=IMAGES)
    box = result.boxes["valve"].box
    assert 0 <= box.top < box.bottom <= 1
    assert 0 <= box.left < box.right <= 1
    assert 0 <= result.boxes["valve"].confidence <= 1
    assert result.usage.output_tokens == 25
    [entry] = journal()
    assert entry.header("content-type").startswith("multipart/form-data; boundary=")
    # The SDK makes up a new text for each image; the answer hangs on the picture.
    same = ask(client, "jev-preview", questions, Image(PNG), extra_headers=IMAGES)
    assert same.answers == result.answers
    other = ask(client, "jev-preview", questions, Image(JPEG), extra_headers=IMAGES)
    assert other.answers != result.answers


def test_several_images_have_names_and_places(client):
    front, back = Image(PNG), Image(JPEG)
    questions = {
        "scratched": Noul(instructions="Is there a scratch in back?"),
        "like": Choice(criteria={"a": front, "b": {"example": back}}),
    }
    with client.attach_assets(front):
        result = ask(
            client,
            "jev-preview",
            questions,
            f"front: {front}, back: see back",
            assets={"back": back},
            extra_headers=IMAGES,
        )
    assert set(result.answers) == set(questions)
    assert result.usage.input_tokens > 2000


def test_a_large_form_is_compressed_too(client, journal):
    noise = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(100))
    result = ask(client, "jev-preview", DEFECT, Image(PNG + noise), extra_headers=IMAGES)
    assert result.nouls["defect"].noul <= 1
    assert journal()[0].header("content-encoding") == "zstd"


def test_images_need_the_header(client):
    error = raised(TypeSafeBadRequestError, ask, client, state=Image(PNG))
    assert error.body["detail"]["error_type"] == "api_usage_error"
    raised(TypeSafeBadRequestError, ask, client, questions={"b": Box(instructions="a dog")})


def test_a_picture_of_another_kind_is_refused(client):
    error = raised(
        TypeSafeBadRequestError, ask, client, state=Image(b"GIF89a"), extra_headers=IMAGES
    )
    assert "neither a PNG nor a JPEG" in str(error)


# Refused requests


def test_a_wrong_key_is_401_and_none_is_403(sandbox, journal):
    with connect(sandbox, api_key="another-key") as stranger:
        error = raised(TypeSafeAuthenticationError, ask, stranger)
        assert error.body["detail"]["error_type"] == "authentication_error"
        assert error.request_id == f"req_{journal()[0].seq:032x}"
        raised(TypeSafeAuthenticationError, stranger.models.list)
    # The SDK sends no request without a key; another scheme counts as none.
    with pytest.raises(TypeSafeError, match="No API key"):
        connect(sandbox, api_key=" ")
    assert len(journal()) == 2


def test_a_key_in_another_scheme_is_none(sandbox, client):
    # Which the SDK would never send, so this is the library below it.
    for headers in ({}, {"Authorization": f"Token {sandbox.key}"}):
        response = httpx2.get(f"{sandbox.url}/typesafe/v1/models", headers=headers)
        assert response.status_code == 403
        assert response.json()["detail"]["message"].startswith("Must supply an API key!")
        with pytest.raises(TypeSafePermissionDeniedError):
            ListModelsResponse.from_http_response(response)


def test_a_key_that_the_server_quotes_is_in_the_sdks_error(sandbox, client):
    # skyl takes it out, in every spelling.
    error = raised(TypeSafeAuthenticationError, ask, client, "sandbox-echo-key")
    assert sandbox.key in str(error)


def test_a_path_that_is_not_there_is_404(sandbox, journal):
    # The SDK adds the version itself.
    with connect(sandbox, base_url=f"{sandbox.url}/typesafe/v1") as client:
        error = raised(TypeSafeNotFoundError, ask, client)
    assert error.body == {"detail": "Not Found"}
    assert journal()[0].path == "/typesafe/v1/v1/systemone"


@pytest.mark.parametrize(
    ("state", "questions", "message"),
    [
        (
            5,
            DEFECT,
            "state.str: Input should be a valid string; "
            "state.dict[any,any]: Input should be a valid dictionary; "
            "state.list[any]: Input should be a valid list",
        ),
        (
            "s",
            {"q": {"type": "score", "criteria": ["low", None]}},
            "questions.q.score.criteria.1.str: Input should be a valid string; "
            "questions.q.score.criteria.1.dict[any,any]: Input should be a valid dictionary; "
            "questions.q.score.criteria.1.list[any]: Input should be a valid list",
        ),
        (
            "s",
            {"q": {"type": "choice", "criteria": [["a"]]}},
            "questions.q.choice.criteria: Input should be a valid dictionary",
        ),
        (
            "s",
            {"q": {"type": "ranking"}},
            "questions.q: Input tag 'ranking' found using 'type' does not match any of the "
            "expected tags: 'noul', 'choice', 'score', 'box'",
        ),
    ],
)
def test_a_request_that_does_not_fit_the_schema_is_422(
    sandbox, client, journal, state, questions, message
):
    error = raised(TypeSafeUnprocessableEntityError, ask, client, None, questions, state)
    [entry] = journal()
    url = f"{sandbox.url}/typesafe/v1/systemone"
    assert str(error) == f"POST {url}: 422 {message} (request_id=req_{entry.seq:032x})"


def test_a_422_echoes_what_was_sent(client):
    # The SDK leaves it out of the text and keeps it in `body`; skyl strips it there too.
    error = raised(
        TypeSafeUnprocessableEntityError,
        ask,
        client,
        questions={"q": {"type": "noul", "instructions": 41}},
    )
    assert "41" not in str(error)
    assert [issue["input"] for issue in error.body["detail"]] == [41, 41, 41]
    missing = raised(
        TypeSafeUnprocessableEntityError, ask, client, state="private", extra_body={"state": None}
    )
    [issue] = missing.body["detail"]
    assert (issue["type"], issue["loc"]) == ("missing", ["body", "state"])
    assert "questions" in issue["input"]


@pytest.mark.parametrize(
    ("questions", "detail"),
    [
        (
            {"q": Choice(criteria={str(n): None for n in range(256)})},
            "Too many choices. Must have at most 255 choices.",
        ),
        (
            {"q": Score(criteria=["level"] * 11)},
            "Too many score levels. Must have at most 10 levels.",
        ),
        ({"": Noul(instructions="?")}, "Question key cannot be empty."),
    ],
)
def test_a_rule_beside_the_schema_is_400_with_a_bare_text(client, questions, detail):
    error = raised(TypeSafeBadRequestError, ask, client, None, questions)
    assert error.body == {"detail": detail}
    assert f": 400 {detail} (" in str(error)


def test_the_most_that_is_allowed_is_answered(client):
    options = {str(n): None for n in range(255)}
    result = ask(client, questions={"c": Choice(criteria=options), "s": Score(criteria=["x"] * 10)})
    assert list(result.choices["c"].probabilities) == list(options)
    assert list(result.scores["s"].probabilities) == list(range(10))


def test_usage_errors_are_400_with_an_object(client):
    unknown = raised(TypeSafeBadRequestError, ask, client, "jev-0")
    assert unknown.body["detail"]["message"] == "Unknown model: jev-0"
    extra = raised(TypeSafeBadRequestError, ask, client, extra_body={"routing": "fast"})
    assert extra.body["detail"] == {"error_type": "api_usage_error", "message": "Invalid request."}


def test_too_long_a_context_is_400_without_a_message(client):
    long = "word " * 40_000
    error = raised(TypeSafeBadRequestError, ask, client, state=long)
    assert error.body == {"detail": {"error_type": "max_tokens_exceeded"}}
    # So the SDK shows the body as it is.
    assert '{"detail":{"error_type":"max_tokens_exceeded"}}' in str(error)
    header = {"TypeSafe-Danger-Zone-Long-Context": "true"}
    assert ask(client, state=long, extra_headers=header).usage.input_tokens > 65_536


# Odd answers


def test_what_the_sdk_takes_although_it_cannot_be(client):
    # skyl calls each of these a decode error, unless it is told to be lenient.
    usual = ask(client, questions=MIXED)

    def odd(name):
        return ask(client, f"sandbox-{name}", MIXED)

    assert list(odd("answer-missing").answers) == ["team", "anger"]
    assert odd("answer-mistyped").answers["defect"].type == "choice"
    assert odd("answer-out-of-range").nouls["defect"].noul == 17
    assert odd("answer-duplicate").answers["defect"] != usual.answers["defect"]
    assert odd("usage-negative").usage.input_tokens == -1
    assert odd("empty").answers == {}


def test_an_answer_too_many_and_an_unknown_type_are_no_error(client):
    extra = ask(client, "sandbox-answer-extra", MIXED)
    assert list(extra.answers) == [*MIXED, "sandbox-extra"]
    unknown = ask(client, "sandbox-answer-unknown-type", MIXED)
    assert list(unknown.answers) == ["team", "anger"]
    assert unknown.raw_http_response.json()["answers"]["defect"]["type"] == "ranking"


@pytest.mark.parametrize(
    ("model", "place"),
    [
        ("sandbox-answer-incomplete", "answers.defect.noul"),
        ("sandbox-usage-missing", "usage"),
        ("sandbox-status-200", "model"),
        ("sandbox-do-200(body=cut)", ""),
        ("sandbox-do-200(body=empty)", ""),
        ("sandbox-do-first-error", "model"),
    ],
)
def test_what_the_sdk_cannot_read_names_the_place(sandbox, journal, model, place):
    with connect(sandbox, retry=RetryPolicy()) as client:
        error = raised(TypeSafeAPIResponseValidationError, ask, client, model)
    assert (error.status, error.field_path) == (200, place)
    assert error.request_id == f"req_{journal()[0].seq:032x}"
    assert len(journal()) == 1, "a whole answer that cannot be read is not asked for again"


# The asynchronous client


def test_the_async_client_answers_like_the_other(sandbox, client, journal):
    async def calls():
        async with AsyncTypeSafeClient(
            api_key=sandbox.key, base_url=f"{sandbox.url}/typesafe", retry=NEVER, timeout=10
        ) as asking:
            many = [asking.system_one(f"{n}", MIXED) for n in range(20)]
            answers = await asyncio.gather(*many)
            models = await asking.models.list()
            image = await asking.system_one(
                Image(PNG),
                {"b": Box(instructions="a dog")},
                model="jev-preview",
                extra_headers=IMAGES,
            )
            with pytest.raises(TypeSafeUnprocessableEntityError):
                await asking.system_one(5, DEFECT)
            return answers, models, image

    answers, models, image = asyncio.run(calls())
    assert len(journal()) == 23
    for n, answer in enumerate(answers):
        assert answer == ask(client, questions=MIXED, state=f"{n}")
    assert len(models.models) == 2
    assert image.boxes["b"].confidence <= 1
