"""Writes the held-out sets: python3 models/svc-chat-tiny/evaluation.py FOLDER [--count N] [--seed N].

One JSON Lines file a set. A line holds what to send (messages, tools, schema), what is expected, and the language of questions over
passages. Names, attributes, verbs, tools and phrasings come from the evaluation part, which training never sees: of a phrasing that is
put together to state a named value, one part at least. Needs Python alone, no packages.
"""
import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from extraction import extraction_conversation
from passages import passage_conversation
from recipe.words import EVAL
from small_talk import small_talk_conversation
from tools import tool_conversation


def passage_items(kind):
    def make(rng):
        language = rng.choice(("en", "de"))
        conversation = passage_conversation(rng, EVAL, language, n_questions=1)
        return [(conversation, {"language": language})] if conversation[-1]["kind"] == kind else []

    return make


def tool_items(kind):
    def make(rng):
        messages, tools = tool_conversation(rng, EVAL, "de" if rng.random() < 0.2 else "en")
        return [(messages[: i + 1], {"tools": tools}) for i, m in enumerate(messages) if m.get("kind") == kind][:1]

    return make


def json_items(rng):
    messages, schema = extraction_conversation(rng, EVAL, "de" if rng.random() < 0.25 else "en", n_turns=1)
    return [(messages, {"schema": schema})]


def talk_items(rng):
    messages = small_talk_conversation(rng, EVAL, rng.choice(("en", "de")))
    start = 1 if messages[0]["role"] == "system" else 0
    return [(messages[: start + 2], {})]


SETS = {
    "passages-value": passage_items("value"),
    "passages-refusal": passage_items("refusal"),
    "tools-call": tool_items("call"),
    "tools-no-call": tool_items("no_call"),
    "tools-result": tool_items("result"),
    "json": json_items,
    "small-talk": talk_items,
}


def wire(messages):
    """Messages as an OpenAI client sends them: arguments are text, and calls have ids."""
    sent, ids = [], 0
    for message in messages:
        out = {key: value for key, value in message.items() if key in ("role", "content")}
        if "tool_calls" in message:
            ids += 1
            function = message["tool_calls"][0]["function"]
            text = json.dumps(function["arguments"], ensure_ascii=False)
            out["tool_calls"] = [{"id": f"call_{ids}", "type": "function", "function": {"name": function["name"], "arguments": text}}]
            out["content"] = None
        if message["role"] == "tool":
            out["tool_call_id"] = f"call_{ids}"
        sent.append(out)
    return sent


def expected(message):
    if "tool_calls" in message:
        return {"call": message["tool_calls"][0]["function"]}
    if message["kind"] == "json":
        return {"json": json.loads(message["content"])}
    if message["kind"] == "value":
        # With the word before the value: a longer one that ends like it is another.
        return {"ending": message["lead"].split()[-1] + message["content"].removeprefix(message["lead"])}
    if message["kind"] == "refusal":
        return {"refusal": message["content"].removeprefix(message["lead"]).strip()}
    return {"text": message["content"]}


def write_sets(folder, count, seed):
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SETS.items():
        rng = random.Random(f"evaluation {seed} {name}")
        lines = []
        while len(lines) < count:
            for messages, beside in make(rng):
                item = {"messages": wire(messages[:-1]), **beside, "expected": expected(messages[-1])}
                lines.append(json.dumps(item, ensure_ascii=False))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_sets(arguments.folder, arguments.count, arguments.seed)


if __name__ == "__main__":
    main()
