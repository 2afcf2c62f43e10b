"""Instructor, whose pins fit to no other client's."""

import instructor
import openai
from pydantic import BaseModel
from suite import CHAT, V1, case, run


class Switch(BaseModel):
    """Switches a lamp."""

    on: bool


def patched(mode):
    return instructor.from_openai(openai.OpenAI(base_url=V1, api_key="none", max_retries=0), mode=mode)


ASKING = {"model": CHAT, "messages": [{"role": "user", "content": "Switch on the lamp."}], "max_tokens": 100, "max_retries": 0}

for mode in [instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA]:

    @case("instructor", f"an object of the class, by {mode.value}")
    def _(mode=mode):
        assert isinstance(patched(mode).chat.completions.create(**ASKING, response_model=Switch), Switch)


@case("instructor", "parts of an object come as they are written")
def _():
    parts = list(patched(instructor.Mode.TOOLS).chat.completions.create_partial(**ASKING, response_model=Switch))
    assert isinstance(parts[-1].on, bool)


@case("instructor", "several objects of the class")
def _():
    several = patched(instructor.Mode.JSON_SCHEMA).chat.completions.create_iterable(**{**ASKING, "max_tokens": 60}, response_model=Switch)
    assert all(isinstance(each, Switch) for each in several)


run()
