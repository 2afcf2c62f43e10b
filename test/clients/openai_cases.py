"""The `openai` package, of whichever version the environment has."""

import asyncio

import openai
from pydantic import BaseModel
from suite import CHAT, EMBED, HELLO, V1, case, equal, raises, valid

CLIENT = f"openai {openai.__version__}"
client = openai.OpenAI(base_url=V1, api_key="none", max_retries=0, timeout=120)
asking = client.chat.completions.create
BASE = {"model": CHAT, "messages": HELLO, "max_tokens": 12, "temperature": 0}

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Karvo", "Lund"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city", "parameters": SCHEMA}}
OTHER = {"type": "function", "function": {"name": "read_clock", "parameters": {"type": "object", "properties": {}}}}
FLAT = {"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": True}
WEATHER = [{"role": "user", "content": "What is the weather in Karvo?"}]
TOOLS = {"model": CHAT, "messages": WEATHER, "max_tokens": 200, "temperature": 0, "tools": [TOOL, OTHER]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}


class Place(BaseModel):
    city: str


def text(answer):
    return answer.choices[0].message.content


def of_openai(name, pending=None):
    return case(CLIENT, name, pending)


@of_openai("chat: an answer is valid and counts its tokens")
def _():
    answer = valid(asking(**BASE))
    equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)


@of_openai("chat: a stream says what the whole answer says")
def _():
    chunks = [valid(chunk) for chunk in asking(**BASE, stream=True)]
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks), text(asking(**BASE)))


@of_openai("chat: include_usage adds a chunk with the usage")
def _():
    chunks = list(asking(**BASE, stream=True, stream_options={"include_usage": True}))
    equal(chunks[-1].choices, [])
    assert chunks[-1].usage.completion_tokens > 0


for stop in ["e", ["e", "never said"]]:

    @of_openai(f"chat: stop {stop!r} ends the answer")
    def _(stop=stop):
        assert "e" not in text(asking(**BASE, stop=stop))


@of_openai("chat: n gives that many choices")
def _():
    equal([choice.index for choice in asking(**{**BASE, "temperature": 1}, n=3).choices], [0, 1, 2])


@of_openai("chat: log probabilities come with their alternatives")
def _():
    tokens = asking(**BASE, logprobs=True, top_logprobs=2).choices[0].logprobs.content
    assert all(len(token.top_logprobs) == 2 and token.logprob <= 0 for token in tokens)


@of_openai("chat: a seed repeats an answer")
def _():
    say = lambda: text(asking(**{**BASE, "temperature": 1}, seed=7))  # noqa: E731
    equal(say(), say())


@of_openai("chat: max_completion_tokens bounds the answer")
def _():
    answer = asking(model=CHAT, messages=HELLO, max_completion_tokens=2, extra_body={"ignore_eos": True})
    equal((answer.usage.completion_tokens, answer.choices[0].finish_reason), (2, "length"))


@of_openai("chat: the role developer is a system message")
def _():
    valid(asking(**{**BASE, "messages": [{"role": "developer", "content": "Be brief."}, *HELLO]}))


@of_openai("chat: parts of text are one text")
def _():
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hello!"}]}]
    equal(text(asking(**{**BASE, "messages": parts})), text(asking(**BASE)))


for choice in ["required", {"type": "function", "function": {"name": "get_weather"}}]:

    @of_openai(f"chat: tool_choice {choice if isinstance(choice, str) else 'by name'} calls")
    def _(choice=choice):
        answer = valid(asking(**TOOLS, tool_choice=choice, parallel_tool_calls=False))
        equal(answer.choices[0].finish_reason, "tool_calls")
        equal(len(answer.choices[0].message.tool_calls), 1)


@of_openai("chat: arguments of a named call fit its schema")
def _():
    choice = {"type": "function", "function": {"name": "get_weather"}}
    call = asking(**TOOLS, tool_choice=choice).choices[0].message.tool_calls[0]
    assert Place.model_validate_json(call.function.arguments).city in ("Karvo", "Lund")


@of_openai("chat: tool_choice none calls nothing")
def _():
    equal(asking(**TOOLS, tool_choice="none").choices[0].message.tool_calls, None)


@of_openai("chat: allowed_tools leaves the others out")
def _():
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "read_clock"}}]}
    answer = asking(**TOOLS, tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    equal({call.function.name for call in answer.choices[0].message.tool_calls}, {"read_clock"})


@of_openai("chat: a streamed call arrives whole")
def _():
    chunks = list(asking(**TOOLS, tool_choice="required", parallel_tool_calls=False, stream=True))
    calls = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or []]
    equal(sum(1 for call in calls if call.id), 1)
    equal(chunks[-1].choices[0].finish_reason, "tool_calls")


@of_openai("chat: the result of a tool is a turn")
def _():
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Karvo"}'}}
    turns = [*WEATHER, {"role": "assistant", "content": None, "tool_calls": [call]}]
    turns.append({"role": "tool", "tool_call_id": "call_1", "content": "12 degrees, rain"})
    valid(asking(**{**TOOLS, "messages": turns, "max_tokens": 20}, tool_choice="none"))


@of_openai("chat: json_object gives an object")
def _():
    import json

    body = {**BASE, "max_tokens": 300}
    answer = asking(**body, response_format={"type": "json_object"}, logit_bias={})
    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(text(answer)), dict)


@of_openai("chat: json_schema holds")
def _():
    assert Place.model_validate_json(text(asking(**{**BASE, "max_tokens": 60}, response_format=FORMAT))).city in ("Karvo", "Lund")


@of_openai("chat: parse gives an object of the class")
def _():
    class Limited(BaseModel):
        flag: bool

    parsed = client.chat.completions.parse(**{**BASE, "max_tokens": 60}, response_format=Limited)
    assert isinstance(parsed.choices[0].message.parsed, Limited)


@of_openai("chat: a streamed parse gives an object of the class")
def _():
    class Limited(BaseModel):
        flag: bool

    with client.chat.completions.stream(**{**BASE, "max_tokens": 60}, response_format=Limited) as stream:
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Limited)


REFUSED = {
    "functions": {"functions": [{"name": "now"}]},
    "function_call": {"function_call": {"name": "now"}},
    "audio": {"audio": {"voice": "alloy", "format": "wav"}},
    "modalities": {"modalities": ["text", "audio"]},
    "store": {"store": True},
    "verbosity": {"verbosity": "low"},
    "web_search_options": {"web_search_options": {}},
    "moderation": {"moderation": {"model": "omni-moderation-latest"}},
    "guided_json": {"guided_json": SCHEMA},
    "guided_choice": {"guided_choice": ["a", "b"]},
    "structured_outputs": {"structured_outputs": {"json": SCHEMA}},
}
for param, members in REFUSED.items():

    @of_openai(f"chat: {param} is refused by its name")
    def _(param=param, members=members):
        error = raises(openai.BadRequestError, lambda: asking(**BASE, extra_body=members))
        equal((error.code, error.param), ("unsupported_member", param))


IGNORED = {
    "user": "u1",
    "safety_identifier": "s1",
    "prompt_cache_key": "k1",
    "prompt_cache_retention": "24h",
    "metadata": {"a": "b"},
    "prediction": {"type": "content", "content": "Hello"},
    "service_tier": "auto",
    "store": False,
    "modalities": ["text"],
    "verbosity": "medium",
}
for param, value in IGNORED.items():

    @of_openai(f"chat: {param} = {value!r} changes no answer")
    def _(param=param, value=value):
        equal(text(asking(**BASE, extra_body={param: value})), text(asking(**BASE)))


@of_openai("chat: an unknown model is answered by another, which is named")
def _():
    raw = client.chat.completions.with_raw_response.create(**{**BASE, "model": "gpt-4o"})
    equal(raw.parse().model, CHAT)
    assert CHAT in raw.headers["x-svc-model-substituted"]


@of_openai("chat: an empty list of messages is a BadRequestError")
def _():
    raises(openai.BadRequestError, lambda: asking(**{**BASE, "messages": []}))


LONG = "word " * 60_000


@of_openai("chat: a prompt that is too long has OpenAI's code and words")
def _():
    error = raises(openai.BadRequestError, lambda: asking(**{**BASE, "messages": [{"role": "user", "content": LONG}]}))
    equal(error.code, "context_length_exceeded")
    assert "maximum context length is" in error.message


@of_openai("chat: a required tool beside a format is called")
def _():
    answer = asking(**TOOLS, tool_choice="required", response_format=FORMAT)
    assert answer.choices[0].message.tool_calls


@of_openai("responses: a required tool beside a format is called")
def _():
    body = {**FIRST, "max_output_tokens": 200, "input": WEATHER}
    text_format = {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA, "strict": True}}
    answer = respond(**body, tools=[FLAT], tool_choice="required", text=text_format)
    assert any(item.type == "function_call" for item in answer.output)


@of_openai("chat: a stop string in a call leaves no half of it")
def _():
    import json

    choice = asking(**TOOLS, tool_choice="auto", stop=["Karvo"]).choices[0]
    for call in choice.message.tool_calls or []:
        json.loads(call.function.arguments)


@of_openai("chat: an asynchronous client streams")
def _():
    async def run():
        other = openai.AsyncOpenAI(base_url=V1, api_key="none", max_retries=0)
        return [chunk async for chunk in await other.chat.completions.create(**BASE, stream=True)]

    assert len(asyncio.run(run())) > 1


@of_openai("models: the list has the model")
def _():
    assert CHAT in [model.id for model in client.models.list()]


@of_openai("models: one model is a 404 that says where they are")
def _():
    error = raises(openai.NotFoundError, lambda: client.models.retrieve(CHAT))
    assert "GET /v1/models lists" in str(error)


@of_openai("completions: a 404 says what to use")
def _():
    error = raises(openai.NotFoundError, lambda: client.completions.create(model=CHAT, prompt="x"))
    assert "/v1/chat/completions" in str(error)


for members in [{}, {"encoding_format": "float"}, {"dimensions": 16}, {"user": "u"}]:

    @of_openai(f"embeddings: {members or 'base64'}")
    def _(members=members):
        vectors = client.embeddings.create(model=EMBED, input=["a harbour", "a lighthouse"], **members).data
        length = sum(x * x for x in vectors[1].embedding)
        assert len(vectors) == 2 and abs(length - 1) < 1e-3
        if "dimensions" in members:
            equal(len(vectors[0].embedding), 16)


FIRST = {"model": CHAT, "input": "Hello!", "max_output_tokens": 12, "temperature": 0}
respond = client.responses.create


@of_openai("responses: an answer is valid")
def _():
    answer = valid(respond(**FIRST))
    assert answer.output_text


@of_openai("responses: a stream is valid, and ends with the whole answer")
def _():
    events = [valid(event) for event in respond(**FIRST, stream=True)]
    assert events[-1].type in ("response.completed", "response.incomplete")
    equal([event.sequence_number for event in events], list(range(len(events))))


@of_openai("responses: another one continues it")
def _():
    first = respond(**FIRST)
    second = respond(**FIRST, previous_response_id=first.id)
    equal(second.previous_response_id, first.id)
    assert len(client.responses.input_items.list(second.id).data) > 1


@of_openai("responses: store false keeps nothing")
def _():
    answer = respond(**FIRST, store=False)
    equal(answer.store, False)
    raises(openai.NotFoundError, lambda: client.responses.retrieve(answer.id))


@of_openai("responses: one that is kept is found, and deleted")
def _():
    answer = respond(**FIRST)
    equal(valid(client.responses.retrieve(answer.id)).output_text, answer.output_text)
    client.responses.delete(answer.id)
    raises(openai.NotFoundError, lambda: client.responses.retrieve(answer.id))


@of_openai("responses: one in the background is made")
def _():
    import time

    answer = respond(**FIRST, background=True)
    for _ in range(600):
        if answer.status not in ("queued", "in_progress"):
            break
        time.sleep(0.1)
        answer = client.responses.retrieve(answer.id)
    assert answer.status in ("completed", "incomplete"), answer.status


for choice in ["required", {"type": "function", "name": "get_weather"}]:

    @of_openai(f"responses: tool_choice {choice if isinstance(choice, str) else 'by name'} calls")
    def _(choice=choice):
        body = {**FIRST, "max_output_tokens": 200, "input": WEATHER}
        calls = [item for item in respond(**body, tools=[FLAT], tool_choice=choice).output if item.type == "function_call"]
        assert Place.model_validate_json(calls[0].arguments).city in ("Karvo", "Lund")


@of_openai("responses: the output of a call is an item")
def _():
    call = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Karvo"}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "12 degrees"}
    valid(respond(**{**FIRST, "input": [*WEATHER, call, output]}, tools=[FLAT], tool_choice="none"))


@of_openai("responses: text.format holds")
def _():
    text_format = {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA, "strict": True}}
    answer = respond(**{**FIRST, "max_output_tokens": 60}, text=text_format)
    assert Place.model_validate_json(answer.output_text).city in ("Karvo", "Lund")


@of_openai("responses: parse gives an object of the class")
def _():
    class Limited(BaseModel):
        flag: bool

    assert isinstance(client.responses.parse(**{**FIRST, "max_output_tokens": 60}, text_format=Limited).output_parsed, Limited)


@of_openai("responses: log probabilities are included where they are asked for")
def _():
    answer = respond(**FIRST, include=["message.output_text.logprobs"], top_logprobs=2)
    assert answer.output[-1].content[0].logprobs


@of_openai("responses: a stored one has what it was created with, and no more can be included")
def _():
    include = ["message.output_text.logprobs"]
    made = respond(**FIRST, include=include)
    equal(client.responses.retrieve(made.id, include=include).output, made.output)
    items = client.responses.input_items.list(respond(**FIRST, previous_response_id=made.id).id, include=include, order="asc")
    assert [item.id for item in items][-2] == made.output[-1].id
    plain = respond(**FIRST)
    for read in [lambda: client.responses.retrieve(plain.id, include=include), lambda: client.responses.retrieve(made.id, starting_after=1)]:
        assert raises(openai.BadRequestError, read).param in ("include", "starting_after")


for members in [{"instructions": "Be brief."}, {"reasoning": {"effort": "none"}}, {"metadata": {"a": "b"}}, {"max_tool_calls": 3}]:

    @of_openai(f"responses: {members} is taken and repeated")
    def _(members=members):
        answer = respond(**FIRST, **members)
        for name, value in members.items():
            repeated = getattr(answer, name)
            equal(repeated if not hasattr(repeated, "effort") else {"effort": repeated.effort}, value)


OF_RESPONSES = {
    "conversation": "conv_1",
    "truncation": "auto",
    "prompt": {"id": "pmpt_1"},
    "context_management": [{"type": "compaction"}],
    "text.verbosity": {"verbosity": "low"},
    "moderation": {"model": "omni-moderation-latest"},
}
for param, value in OF_RESPONSES.items():

    @of_openai(f"responses: {param} is refused by its name")
    def _(param=param, value=value):
        error = raises(openai.BadRequestError, lambda: respond(**FIRST, extra_body={param.split(".")[0]: value}))
        equal((error.code, error.param), ("unsupported_member", param))


@of_openai("responses: input that is too long has OpenAI's code and words")
def _():
    error = raises(openai.BadRequestError, lambda: respond(**{**FIRST, "input": LONG}))
    equal(error.code, "context_length_exceeded")
    assert "maximum context length is" in error.message


@of_openai("files: one is stored, read, listed and deleted")
def _():
    stored = client.files.create(file=("town.txt", b"The lighthouse of Karvo was built in 1893 by fishermen."), purpose="assistants")
    assert client.files.content(stored.id).read().startswith(b"The lighthouse")
    assert stored.id in [each.id for each in client.files.list()]
    client.files.delete(stored.id)
    raises(openai.NotFoundError, lambda: client.files.retrieve(stored.id))


@of_openai("vector stores: a file is found in one, and cited by an answer")
def _():
    store = client.vector_stores.create(name=f"town {openai.__version__}")
    content = b"The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening."
    client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=("keeper.txt", content))
    found = client.vector_stores.search(store.id, query="Who is the keeper of the lighthouse of Karvo?")
    assert "Mira Doll" in found.data[0].content[0].text
    tool = {"type": "file_search", "vector_store_ids": [store.id]}
    answer = valid(respond(model=CHAT, input="Who is the keeper of the lighthouse of Karvo?", tools=[tool]))
    assert "Mira Doll" in answer.output_text
    client.vector_stores.delete(store.id)
