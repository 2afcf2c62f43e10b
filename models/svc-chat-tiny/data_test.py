"""What the generator promises: python3 -m unittest data_test (in this folder). Needs Jinja2."""
import itertools
import json
import os
import random
import re
import unittest
from types import SimpleNamespace

import data
import extraction
import passages
import phrasings
import slots
import small_talk
import sources
import tool_phrasings
import tools
import vocabulary
from chat import render
from recipe.words import EVAL, TRAIN, choose_part, every_fifth, made_up_word
from values import LEXICON


# `npm run test:full` sets it: more conversations are drawn.
IS_LONG = os.environ.get("SVC_TEST_LONG") == "1"


def conversations(make, part):
    rng = random.Random(f"test {part}")
    return [make(rng, part, language) for _ in range(150 if IS_LONG else 50) for language in ("en", "de")]


class Disjoint(unittest.TestCase):
    """No name and no whole phrasing of the evaluation occurs in training."""

    def test_made_up_words(self):
        rng = random.Random(1)
        train, held_out = ({made_up_word(rng, part) for _ in range(20_000)} for part in (TRAIN, EVAL))
        self.assertFalse(train & held_out)
        self.assertGreater(len(held_out), 5_000)

    def test_word_lists(self):
        for words in (*LEXICON.values(),):
            for name in ("ADJECTIVES", "VERBS", "FILLERS"):
                self._divided(getattr(words, name), choose_part)
            for nouns in (words.KINDS, *(each.split() for each in words.ATTRIBUTES.values())):
                self.assertFalse(self._bare(nouns, TRAIN) & self._bare(nouns, EVAL))
                self.assertFalse(set().union(*vocabulary.REAL_WORDS.values()) & self._bare(nouns, EVAL))
        for items in (slots._NOUNS, slots._CHOICES, *tools._VERBS.values(), *tools._NOUNS.values()):
            self._divided(items, choose_part)

    def test_phrasings(self):
        by_language = (phrasings.STATEMENTS, phrasings.PRONOUN_STATEMENTS, phrasings.QUESTIONS, phrasings.EVENTS, phrasings.EVENT_FRAMES, phrasings.OPENINGS,
                       phrasings.ASKED, phrasings.TOLD_OPENINGS, phrasings.TOLD, phrasings.TOLD_OF_IT, phrasings.ASKED_BEFORE,
                       phrasings.ASKED_AFTER, passages._INSTRUCTIONS, tool_phrasings.DESCRIPTIONS, tool_phrasings.REQUESTS, tool_phrasings.LOOK_UPS,
                       tool_phrasings.DESCRIPTION_OPENINGS, tool_phrasings.DESCRIPTION_CORES, tool_phrasings.REQUEST_OPENINGS,
                       tool_phrasings.REQUEST_CORES, tool_phrasings.LOOK_UP_OPENINGS, tool_phrasings.LOOK_UP_CORES, slots._GENERIC,
                       slots._DETERMINERS, slots._CLAUSES, slots._PHRASES, slots._VALUE_FIRST,
                       slots._BEFORE_CLAUSES, slots._BEFORE_PHRASES, extraction._TASKS, extraction._OPEN_TASKS, extraction._SCHEMA_TASKS, extraction._OPENINGS)  # fmt: skip
        for lists in by_language:
            for language in ("en", "de"):
                self._divided(lists[language], every_fifth)
        for lists in (phrasings.EVENT_ADVERBIALS, phrasings.EVENT_ASKED, phrasings.EVENT_QUESTIONS, phrasings.EVENT_RELATIVES):
            for language in ("en", "de"):
                for key in "ywl":
                    self._divided(lists[language][key], every_fifth)
        for _, *phrases in slots._KNOWN.values():
            for *train, held_out in (one.split("|") for one in phrases):
                self.assertNotIn(held_out, train)
        for intent in small_talk._INTENTS:
            self._divided(intent[2].split("|"), every_fifth)

    def test_no_task_that_is_put_together_is_one_of_the_evaluation(self):
        plain = lambda task: re.sub(r"[\W_]+", " ", task.lower()).strip()
        for language in ("en", "de"):
            lists = (each[language] for each in (extraction._TASK_OPENINGS, extraction._TASK_CORES, extraction._TASK_ENDINGS))
            made = {plain(f"{opening} {core}{ending}") for opening, core, ending in itertools.product(*lists)}
            self.assertFalse(made & {plain(task) for task in every_fifth(extraction._TASKS[language], EVAL)})

    def test_no_sign_of_the_evaluation_is_drawn_for_training(self):
        rng = random.Random("signs")
        self.assertEqual(slots._HELD_OUT_SIGNS, {"->", ":="})
        self.assertFalse(slots._HELD_OUT_SIGNS & {slots._sign(rng) for _ in range(20_000)})

    def test_no_held_out_word_stands_anywhere_in_training(self):
        held_out = {word.lower() for words in self._named() for word in self._bare(words, EVAL)}
        # svc's own command has it.
        held_out.remove("list")
        rng = random.Random("held-out words")
        for _ in range(4000 if IS_LONG else 1000):
            text = render(*data.conversation(rng, TRAIN))
            self.assertFalse(held_out & {word.lower() for word in re.findall(r"[^\W\d_]+", text)}, text)

    def _named(self):
        """The lists of words that name something."""
        for words in LEXICON.values():
            yield from (*(each.split() for each in words.ATTRIBUTES.values()), words.ADJECTIVES, words.VERBS, words.KINDS)
        yield from (slots._NOUNS, slots._CHOICES, *tools._VERBS.values(), *tools._NOUNS.values())

    def test_questions_and_requests(self):
        for make in (passages.passage_conversation, tools.tool_conversation):
            asked = [{m["content"] for c in conversations(make, part) for m in (c[0] if isinstance(c, tuple) else c)
                      if m["role"] == "user" and len(m["content"]) > 25} for part in (TRAIN, EVAL)]  # fmt: skip
            self.assertTrue(all(asked))
            self.assertFalse(asked[0] & asked[1])

    def _bare(self, nouns, part):
        return {noun.split(":")[0] for noun in choose_part(nouns, part)}

    def _divided(self, items, divide):
        train, held_out = divide(items, TRAIN), divide(items, EVAL)
        self.assertTrue(train and held_out, items)
        self.assertEqual(sorted(train + held_out), sorted(items))
        self.assertFalse(set(train) & set(held_out), set(train) & set(held_out))


class Answers(unittest.TestCase):
    def test_what_is_said_to_the_model_has_one_answer(self):
        answers = {}
        for _, answer, said in small_talk._INTENTS:
            for each in said.split("|"):
                self.assertEqual(answers.setdefault(re.sub(r"[\W_]+", " ", each.lower()).strip(), answer), answer, each)

    def test_an_answer_begins_with_what_was_asked_for(self):
        for part in (TRAIN, EVAL):
            for messages in conversations(passages.passage_conversation, part):
                for asked, answer in zip(messages, messages[1:]):
                    if answer.get("kind") in ("value", "refusal"):
                        self.assertTrue(answer["content"].startswith(answer["lead"] + " "))
                        for word in answer["echoes"]:
                            self.assertIn(word, answer["lead"])
                            self.assertIn(word.lower(), asked["content"].lower())

    def test_an_answer_stands_in_the_passage_that_it_cites(self):
        for part in (TRAIN, EVAL):
            for messages in conversations(passages.passage_conversation, part):
                prompt = "\n".join(m["content"] for m in messages if m["role"] != "assistant")
                for message in messages:
                    if message.get("kind") == "value":
                        number = re.fullmatch(r".+ \[(\d)\]\.", message["content"])[1]
                        self.assertTrue(message["content"].endswith(f"{message['value']} [{number}]."))
                        self.assertIn(message["value"], prompt)
                        self.assertTrue(re.search(rf"\b{number}\b", prompt))

    def test_a_call_is_to_an_offered_tool_with_its_required_arguments(self):
        for messages, offered in conversations(tools.tool_conversation, TRAIN):
            functions = {tool["function"]["name"]: tool["function"]["parameters"] for tool in offered}
            self.assertEqual(len(functions), len(offered), "names differ")
            for message in messages:
                for call in message.get("tool_calls", ()):
                    parameters = functions[call["function"]["name"]]
                    self.assertLessEqual(set(parameters["required"]), set(call["function"]["arguments"]))
                    self.assertLessEqual(set(call["function"]["arguments"]), set(parameters["properties"]))

    def test_the_same_seed_gives_the_same_conversations(self):
        first, second = ([json.dumps(data.conversation(random.Random(f"{i}"), TRAIN)) for i in range(50)] for _ in range(2))
        self.assertEqual(first, second)


class Sources(unittest.TestCase):
    """Training shows where an answer's words come from: a wrong place would teach to look there. Characters serve as tokens."""

    def test_what_is_pointed_at_is_what_is_said(self):
        found = {"value": [], "call": [], "json": []}
        for make in (passages.passage_conversation, tools.tool_conversation, extraction.extraction_conversation):
            for made in conversations(make, TRAIN):
                messages, offered = made if make is tools.tool_conversation else (made[0] if isinstance(made, tuple) else made, None)
                text = render(messages, offered)
                copied, decided, *others = sources.pointers(messages, text, text, [len(c.encode()) for c in text])
                for position, place in enumerate(copied):
                    if place >= 0:
                        self.assertEqual(text[place], text[position + 1])
                        self.assertLess(place, position)
                for row in (decided, *others):
                    self.assertTrue(all(place <= position for position, place in enumerate(row)))
                self._count(messages, text, copied, decided, found)
        for kind, share in (("value", 0.9), ("call", 1.0), ("json", 0.7)):
            self.assertGreaterEqual(sum(found[kind]) / len(found[kind]), share, kind)

    def _count(self, messages, text, copied, decided, found):
        start = 0
        for message in messages:
            if message["role"] == "assistant":
                start = text.index("<|assistant|>", start) + len("<|assistant|>")
                lead = start - 1 + len(message.get("lead", ""))
                if message["kind"] in found:
                    found[message["kind"]].append(any(place >= 0 for place in copied[lead : text.index("<|end|>", start)]))
                if message["kind"] == "value" and decided[lead] >= 0:
                    passage = text.index(message["number"][0])
                    self.assertTrue(text.startswith(message["value"], decided[lead]))
                    self.assertLess(passage, decided[lead])
                    self.assertLess(decided[lead], passage + len(message["number"][0]))
                if message["kind"] in ("refusal", "no_call"):
                    self.assertEqual(decided[lead], 0)

    def test_a_value_that_is_the_citation_s_number_is_found_once(self):
        passage, line = "Karvo, Depth: 1", "Depth: 1"
        taken = [sources.source("1", text, name="Depth", thing="Karvo") for text in (passage, line)]
        answer = {"role": "assistant", "kind": "value", "content": "The Depth of Karvo is 1 [1].", "lead": "The Depth of Karvo is", "echoes": ["Karvo", "Depth"],
                  "sources": taken, "number": (f"[1] {passage}", 1)}  # fmt: skip
        messages = [{"role": "user", "content": f"[1] {passage}\n\nWhat is the Depth of Karvo?"}, answer]
        text = render(messages)
        rows = sources.pointers(messages, text, text, [1] * len(text))
        said, cited = text.rindex("is 1") + 2, text.rindex("[1]")
        value = text.index(passage) + len(passage) - 1
        self.assertEqual([rows[sources.DECIDED][said - 1], rows[sources.COPIED][said], rows[sources.CITED][cited]], [value] * 3)
        self.assertEqual(rows[sources.NUMBER][value], text.index("[1]") + 1)

    def test_what_an_earlier_passage_says_of_something_else_is_found_in_its_own(self):
        taken = [sources.source("7 m", text, name="Depth", thing="Mellit") for text in ("Mellit has the Depth 7 m.", "Depth: 7 m")]
        layout = passages._Layout(random.Random(1), TRAIN, "en", [("Karvo", "They say of Karvo, Depth: 7 m."), ("Mellit", "Mellit\n- Depth: 7 m")])
        told = layout.told(2, SimpleNamespace(sources=taken))
        answer = {"role": "assistant", "kind": "value", "content": "For Mellit, Depth: 7 m [2].", "lead": "For Mellit, Depth:", "echoes": ["Mellit", "Depth"], **told}
        messages = [{"role": "user", "content": layout._passages}, answer]
        text = render(messages)
        rows = sources.pointers(messages, text, text, [1] * len(text))
        self.assertEqual(rows[sources.DECIDED][text.rindex(" 7 m [2]") - 1], text.index("- Depth: 7 m") + len("- Depth: "))

    def test_words_that_stand_twice_or_inside_another_point_nowhere(self):
        self.assertEqual(sources.source("7", "It is 7 m.")["at"], 6)
        self.assertIsNone(sources.source("7", "7 of 7"))
        self.assertIsNone(sources.source("7", "It is 77 m."))


class Slots(unittest.TestCase):
    def test_a_phrase_says_each_value_once(self):
        for part in (TRAIN, EVAL):
            for made in conversations(lambda rng, part, language: slots.make_slots(rng, part, language, 4), part):
                for slot in made:
                    self.assertTrue(all(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", slot.phrase) == [value] for value in slot.said), slot)

    def test_slots_are_restated_with_other_values_of_the_same_schema(self):
        rng = random.Random("restated")
        for i in range(1000):
            language, count = ("en", "de")[i % 2], 1 + i % 4
            made = slots.make_slots(rng, TRAIN, language, count)
            again = slots.restated(rng, TRAIN, language, made)
            self.assertEqual([(slot.name, slot.schema, slot.required) for slot in again], [(slot.name, slot.schema, slot.required) for slot in made])
            self.assertEqual(len({str(slot.value) for slot in again}), count)
            for slot in again:
                self.assertIn(slot.value, slot.schema.get("enum", [slot.value]))
                self.assertTrue(slot.is_clear)

    def test_what_one_phrase_may_state_does_not_stand_together(self):
        slot = lambda name, kind, template: slots.Slot(name, {}, "Karvo", template, kind=kind, template=template)
        self.assertTrue(slots._is_like(slot("city", "place", "in {v}"), slot("country", "place", "the country is {v}")))
        self.assertFalse(slots._is_like(slot("city", "place", "in {v}"), slot("color", "colour", "in {v}")))
        self.assertFalse(slots._is_like(slot("city", "place", "city {v}"), slot("depth", "place", "depth {v}")))


class Rendering(unittest.TestCase):
    def test_turns_are_framed_by_role_tokens(self):
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        self.assertEqual(render(messages), "<|user|>a<|end|><|assistant|>b<|end|>")

    def test_tools_are_described_in_the_system_turn(self):
        parameters = {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Which city"}, "unit": {"type": "string", "enum": ["C", "F"]}}}  # fmt: skip
        tool = {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather.", "parameters": parameters}}
        self.assertEqual(
            render([{"role": "system", "content": "Be brief."}], [tool]),
            '<|system|>Be brief.\n\n# Tools\n## get_weather: Tells the weather.\n- "city" (string): Which city\n- "unit" (C, F, optional)\n= "get_weather"<|end|>',
        )


if __name__ == "__main__":
    unittest.main()
