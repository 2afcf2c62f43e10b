"""Where the words of an answer stand in the conversation before it, and what they are about. Training shows some heads where to look: to
discover from the answers alone which of twenty values was asked for takes a small model a hundred times as many of them."""
import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

# What the pointing heads look for, in the order of `pointers`.
LOOKS = ("copied", "decided", "name", "thing", "mention", "value", "cited", "number")
COPIED, DECIDED, NAME, THING, MENTION, VALUE, CITED, NUMBER = range(len(LOOKS))
_OPENING = "<|assistant|>"
# A thing is named so many characters before a value of it, or in the same sentence.
_NEAR = 600


def source(said, *within, name=None, thing=None, reach=0):
    """Says that an answer's words `said` were taken from the last text of `within`, each of which stands in the conversation behind the
    beginning of the one before, and that they are the `name` of the `thing`. The name
    stands in that text too, or up to `reach` characters before. None where the words do not stand there exactly once."""
    found = list(re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", within[-1]))
    return {"said": said, "within": within, "at": found[0].start(), "name": name, "thing": thing, "reach": reach} if len(found) == 1 else None


def pointers(messages, text, tokens, lengths):
    """For each position of `tokens`, which `text` is rendered to and which have `lengths` bytes, eight positions to look at, or -1:
    COPIED, where the next token is taken from; DECIDED, before an answer, or behind its lead if it has one, where its first source
    begins, or 0 if it has none; NAME and THING, there, before a value and at it, where what it is called and what it belongs to end;
    MENTION, before a value is said, where what it is called ends beside that value; VALUE, there, where the value begins, if that
    comes first; CITED, before a citation's number, where the value stands; NUMBER, there, the passage's number."""
    found, start = _Pointers(text, tokens, lengths), 0
    for message in messages:
        if message["role"] == "assistant":
            start = text.index(_OPENING, start) + len(_OPENING)
            found.add_answer(message, start)
    return found.rows


class _Pointers:
    def __init__(self, text, tokens, lengths):
        self.rows = [[-1] * len(tokens) for _ in LOOKS]
        self._text, self._lower, self._tokens = text, text.lower(), tokens
        self._starts = list(accumulate(lengths, initial=0))  # bytes
        self._bytes = list(accumulate((len(c.encode()) for c in text), initial=0))  # before each character

    def add_answer(self, message, start):
        # Whether there is an answer is decided before its first token; where it has a lead, behind that.
        lead = start + len(message.get("lead", ""))
        before, cursor, end, first = self._token_at(lead) - 1, lead, self._text.index("<|end|>", start), True
        for word in message.get("echoes", ()):
            at, place = self._text.find(word, start, end), self._text.rfind(word, max(0, start - _NEAR), start)
            if at >= 0 and place >= 0:
                self._copy(at, place, len(word))
        for row, word in zip((THING, NAME), message.get("echoes", ())):
            self._bind(row, before, word, start, lead)
        for taken in filter(None, message.get("sources", ())):
            at, place = self._find(taken, start, cursor, end)
            if place < 0:
                continue
            cursor = at + len(taken["said"])
            said, held = self._copy(at, place, len(taken["said"]))
            if held < 0:
                continue
            if "number" in message:
                self._cite(message["number"], cursor, held)
            mention = self._mention(taken, place)
            if mention >= 0:
                self.rows[MENTION][said - 1] = mention
                self._bind(THING, mention, taken["thing"], place - _NEAR, place)
                if mention > held:
                    self.rows[VALUE][mention] = held
            if first and message["kind"] in ("value", "call"):
                self.rows[DECIDED][before], self.rows[MENTION][before] = held, mention
            for row, word in ((NAME, taken["name"]), (THING, taken["thing"])):
                self._bind(row, held, word, place - (_NEAR if row == THING else taken["at"] + taken["reach"]), place)
                if first and message["kind"] == "call":
                    self._bind(row, before, word, start - _NEAR, start)
                # A value is said behind what it is called; a tool is called by what the message wants.
                self._bind(row, said - 1, word, start - _NEAR if first and message["kind"] == "call" else start, at)
            first = False
            if "number" in message:
                break  # The others are where the same value may stand instead.
        if message["kind"] in ("refusal", "no_call"):
            self.rows[DECIDED][before] = 0

    def _find(self, taken, start, cursor, end):
        """Characters at which the words are said and at which they stand, or (-1, -1)."""
        at, origin = self._text.find(taken["said"], cursor, end), 0
        for anchor in taken["within"]:
            origin = self._text.find(anchor, origin)
            if at < 0 or not 0 <= origin < start:
                return -1, -1
        return at, origin + taken["at"]

    def _copy(self, at, place, count):
        """Enters the copied tokens; returns the first one in the answer and where it stands, or -1."""
        shift = self._bytes[place] - self._bytes[at]
        # A token may begin before the words, with a space.
        first = i = self._token_at(at)
        while i < len(self._tokens) and self._starts[i] < self._bytes[at + count]:
            j = bisect_left(self._starts, self._starts[i] + shift)
            if self._starts[j] == self._starts[i] + shift and self._tokens[j] == self._tokens[i]:
                self.rows[COPIED][i - 1] = j
            i += 1
        return first, self.rows[COPIED][first - 1]

    def _cite(self, number, cursor, held):
        passage, offset = number
        said = self._token_at(self._text.index("[", cursor) + 1)
        self.rows[CITED][said - 1] = held
        self.rows[NUMBER][held] = self._token_at(self._text.index(passage) + offset)

    def _token_at(self, character):
        return bisect_right(self._starts, self._bytes[character]) - 1

    def _mention(self, taken, place):
        """Where what the value at a character is called ends beside it, or -1."""
        if not taken["name"]:
            return -1
        word, low = taken["name"].lower(), place - taken["at"] - taken["reach"]
        at = self._lower.rfind(word, max(0, low), place)
        if at < 0:
            at = self._lower.find(word, place + len(taken["said"]), place - taken["at"] + len(taken["within"][-1]))
        return self._token_at(at + len(word) - 1) if at >= 0 else -1

    def _bind(self, row, position, word, low, high):
        """Points from a position to the end of the last such word between two characters."""
        at = self._lower.rfind(word.lower(), max(0, low), high) if word else -1
        if at >= 0:
            end = self._token_at(at + len(word) - 1)
            if end <= position:
                self.rows[row][position] = end
