"""Prints held-out prompts as JSON Lines: what a client sends, and the text and tokens that training makes of it.

python3 models/svc-chat-tiny/prompt_sample.py TOKENIZER.json COUNT
"""
import json
import random
import sys

from data import conversation
from chat import render
from evaluation import wire
from recipe.tokenizer import load_tokenizer
from recipe.words import EVAL

tokenizer, rng = load_tokenizer(sys.argv[1]), random.Random("prompt sample")
for _ in range(int(sys.argv[2])):
    messages, tools = conversation(rng, EVAL)
    prompt = messages[: max(i for i, m in enumerate(messages) if m["role"] == "assistant")]
    text = render(prompt, tools, add_generation_prompt=True)
    print(json.dumps({"messages": wire(prompt), "tools": tools, "text": text, "ids": tokenizer.encode(text)}))
