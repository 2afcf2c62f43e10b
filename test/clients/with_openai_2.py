"""Clients that stand on openai 2: LangChain, LlamaIndex, LiteLLM, Haystack, DSPy, crewAI."""

import os

os.environ.update({"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"})
os.environ.update({"HAYSTACK_TELEMETRY_ENABLED": "False", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "CREWAI_TRACING_ENABLED": "false"})

import anthropic_cases  # noqa: F401
import openai_cases  # noqa: F401
from pydantic import BaseModel
from suite import CHAT, EMBED, URL, V1, case, equal, raises, run


class Switch(BaseModel):
    """Switches a lamp."""

    on: bool


class Weather(BaseModel):
    """The weather of a city."""

    city: str


def langchain():
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(base_url=V1, api_key="none", model=CHAT, max_tokens=60, temperature=0, max_retries=0)


LANGCHAIN = "langchain-openai"


@case(LANGCHAIN, "invoke and stream say the same")
def _():
    chunks = [chunk.content for chunk in langchain().stream("Hello!")]
    equal("".join(chunks), langchain().invoke("Hello!").content)


@case(LANGCHAIN, "batch answers each")
def _():
    equal(len(langchain().batch(["Hello!", "Good morning!"])), 2)


@case(LANGCHAIN, "a bound tool that is forced is called")
def _():
    answer = langchain().bind_tools([Weather], tool_choice="Weather").invoke("What is the weather in Karvo?")
    equal([call["name"] for call in answer.tool_calls], ["Weather"])


for method in ["json_schema", "function_calling"]:

    @case(LANGCHAIN, f"with_structured_output by {method}")
    def _(method=method):
        assert isinstance(langchain().with_structured_output(Switch, method=method).invoke("Switch on the lamp."), Switch)


@case(LANGCHAIN, "the results of tools are turns")
def _():
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    call = {"id": "c1", "name": "Weather", "args": {"city": "Karvo"}}
    turns = [HumanMessage("What is the weather in Karvo?"), AIMessage("", tool_calls=[call]), ToolMessage("12 degrees", tool_call_id="c1")]
    assert langchain().invoke(turns).content


@case(LANGCHAIN, "Responses answer as well")
def _():
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(base_url=V1, api_key="none", model=CHAT, temperature=0, use_responses_api=True, max_retries=0)
    assert model.invoke("Hello!").text


@case(LANGCHAIN, "embeddings with check_embedding_ctx_length=False")
def _():
    from langchain_openai import OpenAIEmbeddings

    embeddings = OpenAIEmbeddings(base_url=V1, api_key="none", model=EMBED, check_embedding_ctx_length=False)
    equal(len(embeddings.embed_documents(["a harbour", "a lighthouse"])), 2)


CLAUDE = "langchain-anthropic"


def langchain_anthropic():
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(base_url=URL, api_key="none", model=CHAT, max_tokens=60, max_retries=0)


@case(CLAUDE, "invoke answers")
def _():
    assert langchain_anthropic().invoke("Hello!").content


@case(CLAUDE, "stream answers")
def _():
    assert len(list(langchain_anthropic().stream("Hello!"))) > 1


@case(CLAUDE, "a bound tool that is forced is called")
def _():
    answer = langchain_anthropic().bind_tools([Weather], tool_choice="Weather").invoke("What is the weather in Karvo?")
    equal([call["name"] for call in answer.tool_calls], ["Weather"])


@case(CLAUDE, "with_structured_output")
def _():
    assert isinstance(langchain_anthropic().with_structured_output(Switch).invoke("Switch on the lamp."), Switch)


INDEX = "llama-index"


def llama_index():
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        api_base=V1, api_key="none", model=CHAT, is_chat_model=True, is_function_calling_model=True, context_window=4096, max_tokens=60, max_retries=0
    )


@case(INDEX, "complete answers")
def _():
    assert llama_index().complete("Hello!").text


@case(INDEX, "chat answers")
def _():
    from llama_index.core.llms import ChatMessage

    assert llama_index().chat([ChatMessage(role="user", content="Hello!")]).message.content


@case(INDEX, "stream_complete answers")
def _():
    assert len(list(llama_index().stream_complete("Hello!"))) > 1


@case(INDEX, "a tool that is required is called")
def _():
    from llama_index.core.tools import FunctionTool

    def get_weather(city: str) -> str:
        """The weather of a city."""
        return f"12 degrees in {city}"

    answer = llama_index().chat_with_tools(
        [FunctionTool.from_defaults(get_weather)], "What is the weather in Karvo?", tool_required=True
    )
    calls = llama_index().get_tool_calls_from_response(answer)
    equal({call.tool_name for call in calls}, {"get_weather"})


@case(INDEX, "without is_chat_model the refusal says what to use")
def _():
    from llama_index.llms.openai_like import OpenAILike

    plain = OpenAILike(api_base=V1, api_key="none", model=CHAT, max_retries=0)
    assert "/v1/chat/completions" in str(raises(Exception, lambda: plain.complete("Hello!")))


@case(INDEX, "embeddings")
def _():
    from llama_index.embeddings.openai import OpenAIEmbedding

    embedding = OpenAIEmbedding(api_base=V1, api_key="none", model_name=EMBED)
    assert len(embedding.get_text_embedding("a harbour")) > 10


LITELLM = "litellm"
OF_LITELLM = {"model": f"openai/{CHAT}", "api_base": V1, "api_key": "none", "num_retries": 0}
HELLO = [{"role": "user", "content": "Hello!"}]


def litellm():
    import litellm

    return litellm


@case(LITELLM, "completion answers")
def _():
    assert litellm().completion(**OF_LITELLM, messages=HELLO, max_tokens=12).choices[0].message.content


@case(LITELLM, "completion streams")
def _():
    assert len(list(litellm().completion(**OF_LITELLM, messages=HELLO, max_tokens=12, stream=True))) > 1


@case(LITELLM, "a required tool is called")
def _():
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": Weather.model_json_schema()}}
    answer = litellm().completion(**OF_LITELLM, messages=HELLO, max_tokens=100, tools=[tool], tool_choice="required")
    equal(answer.choices[0].message.tool_calls[0].function.name, "get_weather")


@case(LITELLM, "response_format as a class")
def _():
    answer = litellm().completion(**OF_LITELLM, messages=HELLO, max_tokens=60, response_format=Switch)
    Switch.model_validate_json(answer.choices[0].message.content)


@case(LITELLM, "embedding")
def _():
    answer = litellm().embedding(model=f"openai/{EMBED}", api_base=V1, api_key="none", input=["a harbour"])
    assert len(answer.data[0]["embedding"]) > 10


@case(LITELLM, "responses")
def _():
    assert litellm().responses(**OF_LITELLM, input="Hello!", max_output_tokens=12).output


LONG = [{"role": "user", "content": "word " * 60_000}]
for kind, members in {"openai": OF_LITELLM, "anthropic": {**OF_LITELLM, "model": f"anthropic/{CHAT}", "api_base": URL}}.items():

    @case(LITELLM, f"a prompt that is too long is ContextWindowExceededError, by {kind}")
    def _(members=members):
        raises(litellm().ContextWindowExceededError, lambda: litellm().completion(**members, messages=LONG, max_tokens=12))

    @case(LITELLM, f"fallbacks run when a prompt is too long, by {kind}")
    def _(members=members):
        router = litellm().Router(
            model_list=[
                {"model_name": "short", "litellm_params": {**members, "max_tokens": 12}},
                {"model_name": "long", "litellm_params": {**members, "max_tokens": 12, "mock_response": "from the other"}},
            ],
            context_window_fallbacks=[{"short": ["long"]}],
            num_retries=0,
        )
        equal(router.completion("short", messages=LONG).choices[0].message.content, "from the other")


HAYSTACK = "haystack"


def haystack(**more):
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    return OpenAIChatGenerator(
        api_key=Secret.from_token("none"), model=CHAT, api_base_url=V1, generation_kwargs={"max_tokens": 100}, max_retries=0, **more
    )


def haystack_user(text):
    from haystack.dataclasses import ChatMessage

    return [ChatMessage.from_user(text)]


@case(HAYSTACK, "a generator answers")
def _():
    assert haystack().run(haystack_user("Hello!"))["replies"][0].text


@case(HAYSTACK, "a generator streams")
def _():
    chunks = []
    haystack(streaming_callback=chunks.append).run(haystack_user("Hello!"))
    assert len(chunks) > 1


@case(HAYSTACK, "a required tool is called")
def _():
    from haystack.tools import Tool

    tool = Tool(name="get_weather", description="The weather", parameters=Weather.model_json_schema(), function=lambda city: city)
    replies = haystack(tools=[tool]).run(haystack_user("What is the weather in Karvo?"), generation_kwargs={"tool_choice": "required"})["replies"]
    equal(replies[0].tool_calls[0].tool_name, "get_weather")


@case(HAYSTACK, "texts are embedded")
def _():
    from haystack.components.embedders import OpenAITextEmbedder
    from haystack.utils import Secret

    embedder = OpenAITextEmbedder(api_key=Secret.from_token("none"), model=EMBED, api_base_url=V1)
    assert len(embedder.run("a harbour")["embedding"]) > 10


DSPY = "dspy"


def dspy_model():
    import dspy

    class Server(dspy.LM):
        """DSPy takes a model that LiteLLM's catalogue does not have for one without formats."""

        supports_response_schema = True
        supported_params = frozenset({"response_format", "tools", "tool_choice"})

    return dspy, Server(f"openai/{CHAT}", api_base=V1, api_key="none", max_tokens=100, temperature=0, cache=False, num_retries=0)


@case(DSPY, "a model answers")
def _():
    _, model = dspy_model()
    assert model("Hello!")[0]


@case(DSPY, "a signature is followed by schema")
def _():
    dspy, model = dspy_model()
    with dspy.context(lm=model, adapter=dspy.JSONAdapter()):
        equal(type(dspy.Predict("question -> is_open: bool")(question="Is the harbour open?").is_open), bool)


@case(DSPY, "texts are embedded")
def _():
    dspy, _ = dspy_model()
    equal(dspy.Embedder(f"openai/{EMBED}", api_base=V1, api_key="none", caching=False)(["a harbour"]).shape[0], 1)


CREW = "crewai"


def crew_model(**more):
    from crewai import LLM

    return LLM(model=CHAT, provider="openai", base_url=V1, api_key="none", max_tokens=60, temperature=0, **more)


@case(CREW, "a model answers")
def _():
    assert crew_model().call("Hello!")


@case(CREW, "a model streams")
def _():
    assert crew_model(stream=True).call("Hello!")


@case(CREW, "a model answers by a class")
def _():
    answer = crew_model().call("Switch on the lamp.", response_model=Switch)
    assert isinstance(answer, Switch) or Switch.model_validate_json(answer)


run()
