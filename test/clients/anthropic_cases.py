"""The `anthropic` package."""

import asyncio

import anthropic
from pydantic import BaseModel
from suite import CHAT, HELLO, URL, case, equal, raises, valid

CLIENT = f"anthropic {anthropic.__version__}"
client = anthropic.Anthropic(base_url=URL, api_key="none", max_retries=0, timeout=120)
asking = client.messages.create
BASE = {"model": CHAT, "max_tokens": 12, "messages": HELLO, "extra_body": {"temperature": 0}}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Karvo", "Lund"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"name": "get_weather", "description": "The weather of a city", "input_schema": SCHEMA}
WEATHER = [{"role": "user", "content": "What is the weather in Karvo?"}]
TOOLS = {**BASE, "max_tokens": 200, "messages": WEATHER, "tools": [TOOL]}


class Place(BaseModel):
    city: str


def with_body(more, base=BASE):
    return {**base, "extra_body": {**base["extra_body"], **more}}


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def of_anthropic(name, pending=None):
    return case(CLIENT, name, pending)


@of_anthropic("an answer is valid and counts its tokens")
def _():
    message = valid(asking(**BASE))
    assert message.usage.output_tokens > 0 and message.stop_reason in ("end_turn", "max_tokens")


@of_anthropic("the stream helper rebuilds the whole answer")
def _():
    with client.messages.stream(**BASE) as stream:
        equal(text(stream.get_final_message()), text(asking(**BASE)))


@of_anthropic("events of a stream are valid")
def _():
    events = [valid(event) for event in asking(**BASE, stream=True)]
    equal((events[0].type, events[-1].type), ("message_start", "message_stop"))


for system in ["Be brief.", [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]]:

    @of_anthropic(f"a system prompt as {type(system).__name__}")
    def _(system=system):
        valid(asking(**BASE, system=system))


@of_anthropic("a stop sequence is named")
def _():
    message = asking(**{**BASE, "max_tokens": 40}, stop_sequences=["e", "never said"])
    equal((message.stop_reason, message.stop_sequence), ("stop_sequence", "e"))


for choice in [{"type": "any"}, {"type": "tool", "name": "get_weather"}, {"type": "any", "disable_parallel_tool_use": True}]:

    @of_anthropic(f"tool_choice {choice} uses the tool")
    def _(choice=choice):
        message = valid(asking(**TOOLS, tool_choice=choice))
        equal(message.stop_reason, "tool_use")
        use = next(block for block in message.content if block.type == "tool_use")
        assert Place.model_validate(use.input).city in ("Karvo", "Lund")


@of_anthropic("tool_choice none uses no tool")
def _():
    assert all(block.type != "tool_use" for block in asking(**TOOLS, tool_choice={"type": "none"}).content)


@of_anthropic("a streamed use of a tool has its whole input")
def _():
    with client.messages.stream(**TOOLS, tool_choice={"type": "any"}) as stream:
        use = next(block for block in stream.get_final_message().content if block.type == "tool_use")
    assert Place.model_validate(use.input)


for content in ["12 degrees", [{"type": "text", "text": "12 degrees"}]]:

    @of_anthropic(f"a tool's result as {type(content).__name__} is a turn")
    def _(content=content):
        use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Karvo"}}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content}
        turns = [*WEATHER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        valid(asking(**{**TOOLS, "messages": turns, "max_tokens": 20}, tool_choice={"type": "none"}))


for thinking in [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 1024}]:

    @of_anthropic(f"thinking {thinking['type']}")
    def _(thinking=thinking):
        valid(asking(**BASE, thinking=thinking))


@of_anthropic("tokens of a prompt are counted as an answer counts them")
def _():
    counted = client.messages.count_tokens(model=CHAT, messages=HELLO).input_tokens
    usage = asking(**BASE).usage
    equal(counted, usage.input_tokens + usage.cache_read_input_tokens)


@of_anthropic("models are listed, page by page")
def _():
    models = list(client.models.list(limit=1))
    assert CHAT in [model.id for model in models] and all(valid(model).type == "model" for model in models)


@of_anthropic("models of some stages of life are listed")
def _():
    def listed(*stages):
        return [model.id for model in client.models.list(lifecycle=list(stages))]

    assert CHAT in listed("active", "deprecated")
    equal(listed("retired", "deprecated"), [])


@of_anthropic("a page of models begins behind one that is there")
def _():
    first, *rest = [model.id for model in client.models.list()]
    equal([model.id for model in client.models.list(after_id=first)], rest)
    assert "after_id" in str(raises(anthropic.BadRequestError, lambda: client.models.list(after_id="none")))


@of_anthropic("output_config.format holds")
def _():
    message = asking(**with_body({"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}, {**BASE, "max_tokens": 60}))
    assert Place.model_validate_json(text(message)).city in ("Karvo", "Lund")


@of_anthropic("a required tool beside a format is used")
def _():
    format = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    message = asking(**with_body(format, TOOLS), tool_choice={"type": "any"})
    equal(message.stop_reason, "tool_use")


@of_anthropic("messages.parse gives an object of the class")
def _():
    class Limited(BaseModel):
        flag: bool

    message = client.messages.parse(**{**BASE, "max_tokens": 60}, output_format=Limited)
    assert isinstance(message.parsed_output, Limited)


REFUSED = {
    "container": "container_1",
    "mcp_servers": [{"type": "url", "name": "a", "url": "https://example.com"}],
    "context_management": {"edits": []},
    "inference_geo": "us",
}
for param, value in REFUSED.items():

    @of_anthropic(f"{param} is refused by its name")
    def _(param=param, value=value):
        error = raises(anthropic.BadRequestError, lambda: asking(**with_body({param: value})))
        equal(error.body["error"]["code"], "unsupported_member")
        assert f"`{param}`" in str(error)


IGNORED = {
    "metadata": {"user_id": "u1"},
    "cache_control": {"type": "ephemeral"},
    "service_tier": "standard_only",
    "speed": "standard",
    "diagnostics": None,
}
for param, value in IGNORED.items():

    @of_anthropic(f"{param} changes no answer")
    def _(param=param, value=value):
        equal(text(asking(**with_body({param: value}))), text(asking(**BASE)))


@of_anthropic("an empty list of messages is a BadRequestError of this API")
def _():
    error = raises(anthropic.BadRequestError, lambda: asking(**{**BASE, "messages": []}))
    equal(error.body["error"]["type"], "invalid_request_error")


@of_anthropic("a prompt that is too long is refused in Anthropic's words")
def _():
    long = [{"role": "user", "content": "word " * 60_000}]
    error = raises(anthropic.BadRequestError, lambda: asking(**{**BASE, "messages": long}))
    assert "prompt is too long" in str(error)


@of_anthropic("the preview client asks the same")
def _():
    message = client.beta.messages.create(**BASE, betas=["output-128k-2025-02-19"])
    equal(text(message), text(asking(**BASE)))


@of_anthropic("an asynchronous client streams")
def _():
    async def run():
        other = anthropic.AsyncAnthropic(base_url=URL, api_key="none", max_retries=0)
        return [event async for event in await other.messages.create(**BASE, stream=True)]

    assert len(asyncio.run(run())) > 3
