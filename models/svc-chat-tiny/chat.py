"""Renders conversations with the model's own chat template, so that training text is the text that the server will make."""
import json
from pathlib import Path

import jinja2

TEMPLATE = (Path(__file__).parent / "chat-template.jinja").read_text()


def _environment():
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    # Spaces after commas and colons, and no HTML escapes: what llama.cpp's tojson writes.
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


_template = _environment().from_string(TEMPLATE)


def render(messages, tools=None, add_generation_prompt=False):
    return _template.render(messages=messages, tools=tools, add_generation_prompt=add_generation_prompt)
