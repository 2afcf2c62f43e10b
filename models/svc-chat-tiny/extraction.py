"""JSON with given fields, filled from a text."""
import json

from recipe.words import capital, choose_part, garble, one_of, up_to
from slots import make_slots, value_sources
from values import LEXICON, thing
from vocabulary import REAL_WORDS

_TASKS = {
    "en": ["Extract {f} as JSON.", "Return JSON with the fields {f}.", "Give me {f} from the text as a JSON object.", "Fill in {f} as JSON.", "Read out {f}, in JSON.", "Answer in JSON with the keys {f}.", "Turn this into JSON ({f}).", "JSON only, with {f}:", "Parse {f} from this text into JSON.", "Write a JSON object holding {f}.",
           "I need {f} as JSON.", "Please give {f} in JSON.", "Convert the text to JSON: {f}.", "Collect {f} in one JSON object.", "Make a JSON object of {f}.", "Find {f} and answer in JSON.", "Only a JSON object with {f}, please.",
           "What are {f}? JSON.", "Could you list {f} as JSON?", "Put {f} into JSON."],
    "de": ["Gib {f} als JSON aus.", "Antworte mit JSON und den Feldern {f}.", "Lies {f} aus dem Text und gib JSON aus.", "Fülle {f} als JSON aus.", "Schreibe {f} in ein JSON-Objekt.", "Wandle das in JSON um ({f}).", "Nur JSON, mit {f}:", "Extrahiere {f} als JSON.", "JSON mit den Schlüsseln {f}, bitte.", "Erzeuge JSON aus {f}.",
           "Ich brauche {f} als JSON.", "Bitte {f} in JSON.", "Mach aus dem Text JSON: {f}.", "Sammle {f} in einem JSON-Objekt.", "Bilde ein JSON-Objekt mit {f}.", "Finde {f} und antworte in JSON.",
           "Nur ein JSON-Objekt mit {f}, bitte.", "Was sind {f}? JSON.", "Kannst du {f} als JSON nennen?", "Trage {f} in JSON ein."],
}  # fmt: skip
_OPEN_TASKS = {
    "en": ["Extract the data as JSON.", "Answer in JSON.", "Turn this into JSON.", "Read out the data.", "Give me the data as JSON.",
           "Please extract the fields.", "JSON, please.", "Convert this to JSON.", "Only JSON.", "Fill in the fields."],
    "de": ["Gib die Daten als JSON aus.", "Antworte in JSON.", "Wandle das in JSON um.", "Extrahiere die Daten.", "Gib mir die Daten als JSON.",
           "Bitte lies die Felder aus.", "JSON bitte.", "Mach JSON daraus.", "Nur JSON.", "Fülle die Felder aus."],
}
_SCHEMA_TASKS = {
    "en": ["Answer with JSON that matches this schema: {s}", "Use this JSON schema: {s}", "Schema: {s}", "Your output must match {s}", "Follow the JSON schema {s} exactly.",
           "The answer is JSON of this schema: {s}", "Fill this schema: {s}", "Return an object that fits {s}", "JSON schema of the answer: {s}", "Keep to the schema {s}"],
    "de": ["Antworte mit JSON nach diesem Schema: {s}", "Nutze dieses JSON-Schema: {s}", "Schema: {s}", "Die Ausgabe muss {s} entsprechen.", "Halte dich an das JSON-Schema {s}.",
           "Die Antwort ist JSON mit diesem Schema: {s}", "Fülle dieses Schema: {s}", "Gib ein Objekt zurück, das zu {s} passt", "JSON-Schema der Antwort: {s}", "Bleib beim Schema {s}"],
}
_OPENINGS = {
    "en": ["{e}, ", "This is {e}, ", "A note about {e}: ", "We received {e}, ", "{e} was entered ",
           "New: {e}, ", "About {e}: ", "{e} came in, ", "Here is {e}: ", "Note: {e}, "],
    "de": ["{e}, ", "Das ist {e}, ", "Eine Notiz zu {e}: ", "Eingegangen ist {e}, ", "{e} wurde erfasst, ",
           "Neu: {e}, ", "Zu {e}: ", "{e} kam herein, ", "Hier ist {e}: ", "Notiert: {e}, "],
}


def extraction_conversation(rng, part, language, difficulty=1.0, n_turns=None):
    """(messages, JSON schema of the last answer)"""
    messages = []
    for _ in range(n_turns or rng.choice((1, 1, 2, 3))):
        slots = make_slots(rng, part, language, up_to(rng, (1, 2, 3, 4, 5), difficulty))
        stated = rng.sample(slots, len(slots))
        text = _text(rng, part, language, stated)
        kept = slots if rng.random() < 0.7 else rng.sample(slots, rng.randint(1, len(slots)))
        names_fields = rng.random() < 0.8
        # Where the task names no fields, they are those of the text in its order.
        kept = kept if names_fields else stated
        schema = json_schema(kept)
        task = _task(rng, part, language, kept, schema) if names_fields else one_of(rng, part, _OPEN_TASKS[language])
        messages += _laid_out(rng, task, text, first=not messages)
        answer = json.dumps({slot.name: slot.value for slot in kept}, ensure_ascii=False)
        messages.append({"role": "assistant", "kind": "json", "content": answer, "sources": value_sources(kept, text)})
    return messages, schema


def json_schema(slots):
    properties = {slot.name: slot.schema for slot in slots}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _text(rng, part, language, slots):
    opening = one_of(rng, part, _OPENINGS[language]).format(e=thing(rng, part, language)) if rng.random() < 0.6 else ""
    end = f". {capital(rng.choice(choose_part(LEXICON[language].FILLERS, part)))}." if rng.random() < 0.2 else "."
    text = opening + rng.choice((", ", "; ", ", ", " and " if language == "en" else " und ")).join(slot.phrase for slot in slots) + end
    # A value that comes first stays as it is.
    return text


def _task(rng, part, language, slots, schema):
    names = [slot.name for slot in slots]
    named = rng.choice((", ".join(names), ", ".join(names), " and ".join(names) if language == "en" else " und ".join(names)))
    if rng.random() < 0.7:
        return garble(rng, part, one_of(rng, part, _TASKS[language]), 0.2, REAL_WORDS[language]).format(f=named)
    return one_of(rng, part, _SCHEMA_TASKS[language]).format(s=json.dumps(schema, ensure_ascii=False))


def _laid_out(rng, task, text, first):
    if first and rng.random() < 0.4:
        return [{"role": "system", "content": task}, {"role": "user", "content": text}]
    between = rng.choice(("\n\n", "\n", " "))
    return [{"role": "user", "content": task + between + text if rng.random() < 0.7 else text + between + task}]
