"""Where the words of an answer stand in the conversation before it. Training shows the model where to look, not only what to say: to
find a value among twenty is slow to learn from the value alone."""
import re
from bisect import bisect_left
from itertools import accumulate

_OPENING = "<|assistant|>"


def source(said, *within):
    """Says that an answer's words `said` were taken from the last text of `within`, each of which stands in the conversation behind the
    beginning of the one before. None where they do not stand there exactly once."""
    found = list(re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", within[-1]))
    return {"said": said, "within": within, "at": found[0].start()} if len(found) == 1 else None


def pointers(messages, text, tokens, lengths):
    """Two lists as long as `tokens`. The first: for each position the position of the token that the next one is taken from, else -1.
    The second: for the position before an answer that of its first source's first token, 0 if the answer is that there is none, else
    -1. `text`: the conversation as it is rendered, `lengths`: bytes of each of its `tokens`."""
    starts = list(accumulate(lengths, initial=0))
    copied, decided, start = [-1] * len(tokens), [-1] * len(tokens), 0
    for message in messages:
        if message["role"] == "assistant":
            start = text.index(_OPENING, start) + len(_OPENING)
            position = bisect_left(starts, len(text[:start].encode())) - 1
            cursor = start
            for taken in filter(None, message.get("sources", ())):
                cursor = _point(taken, text, cursor, tokens, starts, copied)
            if message["kind"] in ("refusal", "no_call"):
                decided[position] = 0
            elif message["kind"] in ("value", "call"):
                decided[position] = next((j for j in copied[position:] if j >= 0), -1)
    return copied, decided


def _point(taken, text, start, tokens, starts, found):
    """Enters one source, and returns where in the text the next may begin."""
    at, origin = text.find(taken["said"], start), 0
    for anchor in taken["within"]:
        origin = text.find(anchor, origin)
        if at < 0 or origin < 0 or origin >= start:
            return start
    first, behind = len(text[:at].encode()), len(text[: at + len(taken["said"])].encode())
    shift = len(text[: origin + taken["at"]].encode()) - first
    i = bisect_left(starts, first)
    if starts[i] > first and i > 0:
        i -= 1  # a token that begins before the words, with a space
    while i < len(tokens) and starts[i] < behind:
        j = bisect_left(starts, starts[i] + shift)
        if starts[j] == starts[i] + shift and tokens[j] == tokens[i] and i > 0:
            found[i - 1] = j
        i += 1
    return at + len(taken["said"])
