"""JSON with given fields, filled from a text."""
import json

from recipe.words import choose_part, every_fifth, garble, up_to
from slots import make_slots, value_sources
from values import LEXICON, thing

_TASKS = {
    "en": ["Extract {f} as JSON.", "Return JSON with the fields {f}.", "Give me {f} from the text as a JSON object.", "Fill in {f} as JSON.", "Read out {f}, in JSON.", "Answer in JSON with the keys {f}.", "Turn this into JSON ({f}).", "JSON only, with {f}:", "Parse {f} from this text into JSON.", "Write a JSON object holding {f}."],
    "de": ["Gib {f} als JSON aus.", "Antworte mit JSON und den Feldern {f}.", "Lies {f} aus dem Text und gib JSON aus.", "Fülle {f} als JSON aus.", "Schreibe {f} in ein JSON-Objekt.", "Wandle das in JSON um ({f}).", "Nur JSON, mit {f}:", "Extrahiere {f} als JSON.", "JSON mit den Schlüsseln {f}, bitte.", "Erzeuge JSON aus {f}."],
}  # fmt: skip
_OPEN_TASKS = {
    "en": ["Extract the data as JSON.", "Answer in JSON.", "Turn this into JSON.", "Read out the data.", "Give me the data as JSON."],
    "de": ["Gib die Daten als JSON aus.", "Antworte in JSON.", "Wandle das in JSON um.", "Extrahiere die Daten.", "Gib mir die Daten als JSON."],
}
_SCHEMA_TASKS = {
    "en": ["Answer with JSON that matches this schema: {s}", "Use this JSON schema: {s}", "Schema: {s}", "Your output must match {s}", "Follow the JSON schema {s} exactly."],
    "de": ["Antworte mit JSON nach diesem Schema: {s}", "Nutze dieses JSON-Schema: {s}", "Schema: {s}", "Die Ausgabe muss {s} entsprechen.", "Halte dich an das JSON-Schema {s}."],
}
_OPENINGS = {
    "en": ["{e}, ", "This is {e}, ", "A note about {e}: ", "We received {e}, ", "{e} was entered "],
    "de": ["{e}, ", "Das ist {e}, ", "Eine Notiz zu {e}: ", "Eingegangen ist {e}, ", "{e} wurde erfasst, "],
}


def extraction_conversation(rng, part, language, difficulty=1.0, n_turns=None):
    """(messages, JSON schema of the last answer)"""
    messages = []
    for _ in range(n_turns or rng.choice((1, 1, 2, 3))):
        slots = make_slots(rng, part, language, up_to(rng, (1, 2, 3, 4, 5), difficulty))
        stated = rng.sample(slots, len(slots))
        text = _text(rng, part, language, stated)
        kept = slots if rng.random() < 0.7 else rng.sample(slots, rng.randint(1, len(slots)))
        schema = json_schema(kept)
        messages += _task(rng, part, language, text, kept, schema, first=not messages)
        answer = json.dumps({slot.name: slot.value for slot in kept}, ensure_ascii=False)
        messages.append({"role": "assistant", "kind": "json", "content": answer, "sources": value_sources(kept, text)})
    return messages, schema


def json_schema(slots):
    properties = {slot.name: slot.schema for slot in slots}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _text(rng, part, language, slots):
    opening = rng.choice(every_fifth(_OPENINGS[language], part)).format(e=thing(rng, part, language)) if rng.random() < 0.6 else ""
    end = f". {rng.choice(choose_part(LEXICON[language].FILLERS, part)).capitalize()}." if rng.random() < 0.2 else "."
    text = opening + rng.choice((", ", "; ", ", ", " and " if language == "en" else " und ")).join(slot.phrase for slot in slots) + end
    return text[0].upper() + text[1:]


def _task(rng, part, language, text, slots, schema, first):
    names = [slot.name for slot in slots]
    named = rng.choice((", ".join(names), ", ".join(names), " and ".join(names) if language == "en" else " und ".join(names)))
    choice = rng.random()
    if choice < 0.55:
        task = garble(rng, part, rng.choice(every_fifth(_TASKS[language], part)), 0.2).format(f=named)
    elif choice < 0.75:
        task = rng.choice(every_fifth(_OPEN_TASKS[language], part))
    else:
        task = rng.choice(every_fifth(_SCHEMA_TASKS[language], part)).format(s=json.dumps(schema, ensure_ascii=False))
    if first and rng.random() < 0.4:
        return [{"role": "system", "content": task}, {"role": "user", "content": text}]
    between = rng.choice(("\n\n", "\n", " "))
    return [{"role": "user", "content": task + between + text if rng.random() < 0.7 else text + between + task}]
