"""Clients that stand on openai 3: openai-agents, Pydantic AI, smolagents, Outlines, llm."""

import os
import tempfile

os.environ.update({"OPENAI_API_KEY": "none", "LLM_USER_PATH": tempfile.mkdtemp(), "OPENAI_AGENTS_DISABLE_TRACING": "1"})

import anthropic_cases  # noqa: F401
import openai_cases  # noqa: F401
from pydantic import BaseModel
from suite import CHAT, URL, V1, case, equal, run


class Switch(BaseModel):
    """Switches a lamp."""

    on: bool


AGENTS = "openai-agents"


def agents_model(api):
    import agents
    import openai

    agents.set_tracing_disabled(True)
    kind = agents.OpenAIResponsesModel if api == "responses" else agents.OpenAIChatCompletionsModel
    return kind(model=CHAT, openai_client=openai.AsyncOpenAI(base_url=V1, api_key="none", max_retries=0))


def agent(api, **more):
    import agents

    settings = agents.ModelSettings(max_tokens=100, temperature=0, **more.pop("settings", {}))
    return agents.Agent(name="a", instructions="Be brief.", model=agents_model(api), model_settings=settings, **more)


for api in ["chat completions", "responses"]:

    @case(AGENTS, f"an agent answers, by {api}")
    def _(api=api):
        import agents

        assert agents.Runner.run_sync(agent(api), "Hello!").final_output

    @case(AGENTS, f"an agent with an output type, by {api}")
    def _(api=api):
        import agents

        assert isinstance(agents.Runner.run_sync(agent(api, output_type=Switch), "Switch on the lamp.").final_output, Switch)

    @case(AGENTS, f"an agent uses a tool, by {api}")
    def _(api=api):
        import agents

        asked = []

        @agents.function_tool
        def get_weather(city: str) -> str:
            """The weather of a city."""
            asked.append(city)
            return "12 degrees"

        agents.Runner.run_sync(agent(api, tools=[get_weather], settings={"tool_choice": "required"}), "What is the weather in Karvo?", max_turns=3)
        equal(len(asked), 1)

    @case(AGENTS, f"an agent with a tool and an output type uses the tool, by {api}")
    def _(api=api):
        import agents

        asked = []

        @agents.function_tool
        def get_weather(city: str) -> str:
            """The weather of a city."""
            asked.append(city)
            return "12 degrees"

        with_both = agent(api, tools=[get_weather], output_type=Switch, settings={"tool_choice": "required"})
        answer = agents.Runner.run_sync(with_both, "What is the weather in Karvo?", max_turns=3)
        assert asked and isinstance(answer.final_output, Switch)

    @case(AGENTS, f"an agent streams, by {api}")
    def _(api=api):
        import asyncio

        import agents

        async def stream():
            running = agents.Runner.run_streamed(agent(api), "Hello!")
            return [event async for event in running.stream_events()], running.final_output

        events, output = asyncio.run(stream())
        assert output and len(events) > 2


@case(AGENTS, "a session goes on, by responses")
def _():
    import agents

    first = agents.Runner.run_sync(agent("responses"), "Hello!")
    second = agents.Runner.run_sync(agent("responses"), "And again.", previous_response_id=first.last_response_id)
    assert second.final_output


PYDANTIC = "pydantic-ai"


def pydantic_model(kind):
    if kind == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(CHAT, provider=AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=URL, api_key="none", max_retries=0)))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    of = OpenAIResponsesModel if kind == "responses" else OpenAIChatModel
    return of(CHAT, provider=OpenAIProvider(base_url=V1, api_key="none"))


for kind in ["chat", "responses", "anthropic"]:

    @case(PYDANTIC, f"an agent answers, by {kind}")
    def _(kind=kind):
        from pydantic_ai import Agent

        assert Agent(pydantic_model(kind), model_settings={"max_tokens": 40}).run_sync("Hello!").output

    @case(PYDANTIC, f"an agent with an output type as a tool, by {kind}")
    def _(kind=kind):
        from pydantic_ai import Agent, ToolOutput

        agent = Agent(pydantic_model(kind), output_type=ToolOutput(Switch), model_settings={"max_tokens": 100})
        assert isinstance(agent.run_sync("Switch on the lamp.").output, Switch)


@case(PYDANTIC, "an agent with a native output type")
def _():
    from pydantic_ai import Agent, NativeOutput

    agent = Agent(pydantic_model("chat"), output_type=NativeOutput(Switch), model_settings={"max_tokens": 100})
    assert isinstance(agent.run_sync("Switch on the lamp.").output, Switch)


@case(PYDANTIC, "an agent streams")
def _():
    import asyncio

    from pydantic_ai import Agent

    async def stream():
        async with Agent(pydantic_model("chat"), model_settings={"max_tokens": 40}).run_stream("Hello!") as answer:
            return [text async for text in answer.stream_text(delta=True)]

    assert asyncio.run(stream())


SMOL = "smolagents"


def smol_model():
    from smolagents import OpenAIModel

    return OpenAIModel(model_id=CHAT, api_base=V1, api_key="none", max_tokens=100)


SMOL_HELLO = [{"role": "user", "content": [{"type": "text", "text": "Hello!"}]}]


@case(SMOL, "a model answers")
def _():
    assert smol_model().generate(SMOL_HELLO).content


@case(SMOL, "a model streams")
def _():
    assert len(list(smol_model().generate_stream(SMOL_HELLO))) > 1


@case(SMOL, "a model calls a tool")
def _():
    from smolagents import tool

    # The tiny model ends no text within the limit, and a call that is cut off is none.
    @tool
    def switch_lamp(on: bool) -> str:
        """Switches the lamp.

        Args:
            on: whether it burns
        """
        return "done"

    answer = smol_model().generate(SMOL_HELLO, tools_to_call_from=[switch_lamp])
    equal(answer.tool_calls[0].function.name, "switch_lamp")


OUTLINES = "outlines"


def outlines_model():
    import openai
    import outlines

    return outlines.from_openai(openai.OpenAI(base_url=V1, api_key="none", max_retries=0), CHAT)


@case(OUTLINES, "a model answers")
def _():
    assert outlines_model()("Hello!", max_tokens=20)


@case(OUTLINES, "a class is followed")
def _():
    Switch.model_validate_json(outlines_model()("Switch on the lamp.", Switch, max_tokens=60))


@case(OUTLINES, "a model streams")
def _():
    assert len(list(outlines_model().stream("Hello!", max_tokens=20))) > 1


LLM = "llm"


def llm_model():
    import pathlib

    import llm

    known = pathlib.Path(os.environ["LLM_USER_PATH"]) / "extra-openai-models.yaml"
    flags = "supports_schema: true\n  supports_tools: true\n  can_stream: true"
    known.write_text(f"- model_id: svc\n  model_name: {CHAT}\n  api_base: {V1}\n  {flags}\n")
    model = llm.get_model("svc")
    model.key = "none"
    return model


@case(LLM, "a prompt is answered")
def _():
    assert llm_model().prompt("Hello!", stream=False).text()


@case(LLM, "a prompt streams")
def _():
    assert len(list(llm_model().prompt("Hello!"))) > 1


@case(LLM, "a schema is followed")
def _():
    Switch.model_validate_json(llm_model().prompt("Switch on the lamp.", schema=Switch, stream=False).text())


run()
