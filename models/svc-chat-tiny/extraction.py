"""JSON with given fields, filled from a text."""
import json

from recipe.words import TRAIN, capital, choose_part, one_of, put_together, up_to
from slots import make_slots, value_sources
from values import LEXICON, thing
from vocabulary import garble

_TASKS = {
    "en": ["Extract {f} as JSON.", "Return JSON with the fields {f}.", "Give me {f} from the text as a JSON object.", "Fill in {f} as JSON.", "Read out {f}, in JSON.", "Answer in JSON with the keys {f}.", "Turn this into JSON ({f}).", "JSON only, with {f}:", "Parse {f} from this text into JSON.", "Write a JSON object holding {f}.",
           "I need {f} as JSON.", "Please give {f} in JSON.", "Convert the text to JSON: {f}.", "Collect {f} in one JSON object.", "Make a JSON object of {f}.", "Find {f} and answer in JSON.", "Only a JSON object with {f}, please.", "What are {f}? JSON.", "Could you list {f} as JSON?", "Put {f} into JSON.",
           "The JSON object has these keys: {f}.", "Look for {f} and write them as JSON.", "Fields: {f}. Format: JSON.", "Use JSON for {f}.", "Take {f} out of the text, JSON please.", "Which {f} does the text give? Answer in JSON.", "JSON object, keys: {f}", "Name {f} in a JSON object.", "Reply with a JSON object that has {f}.", "Pick {f} from what is said, as JSON."],
    "de": ["Gib {f} als JSON aus.", "Antworte mit JSON und den Feldern {f}.", "Lies {f} aus dem Text und gib JSON aus.", "Fülle {f} als JSON aus.", "Schreibe {f} in ein JSON-Objekt.", "Wandle das in JSON um ({f}).", "Nur JSON, mit {f}:", "Extrahiere {f} als JSON.", "JSON mit den Schlüsseln {f}, bitte.", "Erzeuge JSON aus {f}.",
           "Ich brauche {f} als JSON.", "Bitte {f} in JSON.", "Mach aus dem Text JSON: {f}.", "Sammle {f} in einem JSON-Objekt.", "Bilde ein JSON-Objekt mit {f}.", "Finde {f} und antworte in JSON.", "Nur ein JSON-Objekt mit {f}, bitte.", "Was sind {f}? JSON.", "Kannst du {f} als JSON nennen?", "Trage {f} in JSON ein.",
           "Das JSON-Objekt hat diese Schlüssel: {f}.", "Suche {f} und schreib sie als JSON.", "Felder: {f}. Format: JSON.", "Nutze JSON für {f}.", "Nimm {f} aus dem Text, bitte als JSON.", "Was steht im Text zu {f}? Antworte in JSON.", "JSON-Objekt, Schlüssel: {f}", "Nenne {f} in einem JSON-Objekt.", "Antworte mit einem JSON-Objekt, das {f} hat.", "Hol {f} heraus, als JSON."],
}  # fmt: skip
_OPEN_TASKS = {
    "en": ["Extract the data as JSON.", "Answer in JSON.", "Turn this into JSON.", "Read out the data.", "Give me the data as JSON.",
           "Please extract the fields.", "JSON, please.", "Convert this to JSON.", "Only JSON.", "Fill in the fields.",
           "Write it all as a JSON object.", "I need this as JSON.", "Everything that is said, as JSON.", "Make a JSON object of the text.", "Put all of it into JSON."],
    "de": ["Gib die Daten als JSON aus.", "Antworte in JSON.", "Wandle das in JSON um.", "Extrahiere die Daten.", "Gib mir die Daten als JSON.",
           "Bitte lies die Felder aus.", "JSON bitte.", "Mach JSON daraus.", "Nur JSON.", "Fülle die Felder aus.",
           "Schreib alles als JSON-Objekt.", "Ich brauche das als JSON.", "Alles, was da steht, als JSON.", "Bilde ein JSON-Objekt aus dem Text.", "Trage alles in JSON ein."],
}  # fmt: skip
_SCHEMA_TASKS = {
    "en": ["Answer with JSON that matches this schema: {s}", "Use this JSON schema: {s}", "Schema: {s}", "Your output must match {s}", "Follow the JSON schema {s} exactly.",
           "The answer is JSON of this schema: {s}", "Fill this schema: {s}", "Return an object that fits {s}", "JSON schema of the answer: {s}", "Keep to the schema {s}",
           "Only JSON, by this schema: {s}", "Extract what {s} asks for.", "Give a JSON object as in {s}", "The fields are described by the schema {s}", "What you return has to fit this schema: {s}"],
    "de": ["Antworte mit JSON nach diesem Schema: {s}", "Nutze dieses JSON-Schema: {s}", "Schema: {s}", "Die Ausgabe muss {s} entsprechen.", "Halte dich an das JSON-Schema {s}.",
           "Die Antwort ist JSON mit diesem Schema: {s}", "Fülle dieses Schema: {s}", "Gib ein Objekt zurück, das zu {s} passt", "JSON-Schema der Antwort: {s}", "Bleib beim Schema {s}",
           "Nur JSON, nach diesem Schema: {s}", "Lies aus, was {s} verlangt.", "Gib ein JSON-Objekt wie in {s} aus.", "Die Felder beschreibt das Schema {s}", "Was du ausgibst, muss zu diesem Schema passen: {s}"],
}  # fmt: skip
# Tasks of an opening, a core and an ending, for training alone: there are more of them than a model could learn by heart.
_TASK_OPENINGS = {
    "en": ["", "please", "extract", "return", "give me", "list", "collect", "I need", "I want", "find", "show", "what is said of", "let me have", "write down", "we need", "please write", "can I get", "get", "copy", "fetch",
           "hand me", "could you extract", "tell me", "look up", "print", "output", "provide", "respond with", "my request:", "your task:", "it is about", "determine", "identify", "keep", "record", "just", "I'd like"],
    "de": ["", "bitte", "extrahiere", "gib", "gib mir", "nenne", "sammle", "ich brauche", "ich will", "finde", "zeige", "was steht da zu", "wir brauchen", "bitte notiere", "hole", "besorge", "lies", "ermittle", "drucke",
           "kannst du das liefern:", "sag mir", "gesucht:", "liefere", "antworte mit", "meine Bitte:", "deine Aufgabe:", "es geht um", "bestimme", "merke dir", "behalte", "nur", "ich möchte"],
}  # fmt: skip
_TASK_CORES = {
    "en": ["{f} as JSON", "{f} in JSON", "{f}, as JSON", "{f} (JSON)", "{f} as a JSON object", "JSON for {f}", "JSON with {f}", "a JSON object with {f}", "JSON, fields {f}", "{f} from this as JSON",
           "{f} in the form of JSON", "the values of {f} as JSON", "the JSON of {f}", "JSON that holds {f}", "{f}, and use JSON", "{f}, formatted as JSON", "an object with the keys {f}", "JSON (keys: {f})", "the fields {f} as JSON",
           "what the text says of {f} as JSON"],
    "de": ["{f} als JSON", "{f} in JSON", "{f}, als JSON", "{f} (JSON)", "{f} als JSON-Objekt", "JSON für {f}", "JSON mit {f}", "ein JSON-Objekt für {f}", "JSON, Felder {f}", "{f} hieraus als JSON", "{f} in Form von JSON",
           "die Werte von {f} als JSON", "das JSON zu {f}", "JSON, das {f} enthält", "{f}, und nutze JSON", "{f}, im Format JSON", "ein Objekt mit den Schlüsseln {f}", "JSON (Schlüssel: {f})", "die Felder {f} als JSON",
           "das, was der Text zu {f} sagt, als JSON"],
}  # fmt: skip
_TASK_ENDINGS = {
    "en": ["", ".", ":", "!", ", please.", " only.", ", nothing else.", "?", " now.", " for me."],
    "de": ["", ".", ":", "!", ", bitte.", ", sonst nichts.", "?", " jetzt.", " für mich.", " und nur das."],
}
_OPENINGS = {
    "en": ["{e}, ", "This is {e}, ", "A remark about {e}: ", "We received {e}, ", "{e} was entered ", "New: {e}, ", "About {e}: ", "{e} came in, ", "Here is {e}: ", "Note: {e}, ",
           "Entry {e}: ", "For {e} we have this: ", "They wrote about {e}: ", "{e}: ", "What we know of {e}: "],
    "de": ["{e}, ", "Das ist {e}, ", "Eine Bemerkung zu {e}: ", "Eingegangen ist {e}, ", "{e} wurde erfasst, ", "Neu: {e}, ", "Zu {e}: ", "{e} kam herein, ", "Hier ist {e}: ", "Notiert: {e}, ",
           "Eintrag {e}: ", "Für {e} haben wir dies: ", "Man schrieb über {e}: ", "{e}: ", "Was wir von {e} wissen: "],
}  # fmt: skip
# What comes between two stated values.
_JOINERS = {"en": (", ", "; ", ", ", " and "), "de": (", ", "; ", ", ", " und ")}
_SENTENCES, _LINES, _BULLETS = ". ", "\n", "\n- "


def extraction_conversation(rng, part, language, difficulty=1.0, n_turns=None):
    """(messages, JSON schema of the last answer)"""
    messages = []
    for _ in range(n_turns or rng.choice((1, 1, 2, 3))):
        slots = make_slots(rng, part, language, up_to(rng, (1, 2, 3, 4, 5), difficulty))
        stated = rng.sample(slots, len(slots))
        text = _text(rng, part, language, stated)
        kept = slots if rng.random() < 0.7 else rng.sample(slots, rng.randint(1, len(slots)))
        # Where the task names no fields, they are those that the text names, in its order.
        names_fields = rng.random() < 0.8 or not all(slot.is_named for slot in slots)
        kept = kept if names_fields else stated
        schema = json_schema(kept)
        task = _task(rng, part, language, kept, schema) if names_fields else _phrasing(rng, part, language, _OPEN_TASKS, 0.4)
        messages += _laid_out(rng, task, text, first=not messages)
        answer = json.dumps({slot.name: slot.value for slot in kept}, ensure_ascii=False)
        messages.append({"role": "assistant", "kind": "json", "content": answer, "sources": value_sources(kept, text)})
    return messages, schema


def json_schema(slots):
    properties = {slot.name: slot.schema for slot in slots}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _text(rng, part, language, slots):
    """A text that states the slots: in one sentence, in several, or in lines. Their phrases become what stands in it."""
    opening = _phrasing(rng, part, language, _OPENINGS, 0.4).format(e=thing(rng, part, language)) if rng.random() < 0.6 else ""
    joiner = rng.choices((rng.choice(_JOINERS[language]), _SENTENCES, _LINES, _BULLETS), (70, 13, 7, 10))[0]
    in_lines = joiner in (_LINES, _BULLETS)
    if in_lines:
        opening = opening.rstrip(" ,:") + f":{joiner}" if opening else joiner.lstrip()
    end = "" if in_lines else "."
    sentence = lambda: f"{capital(rng.choice(choose_part(LEXICON[language].FILLERS, part)))}."
    # One more sentence before the value with this index.
    at = rng.randrange(len(slots)) if rng.random() < 0.2 else -1
    between = "\n" if in_lines else " "
    text = opening
    for i, slot in enumerate(slots):
        is_interrupted = i > 0 and i == at
        if is_interrupted:
            text += f"{end}{between}{sentence()}{joiner if in_lines else ' '}"
        elif i > 0:
            text += joiner
        if is_interrupted or (joiner == _SENTENCES and (i > 0 or not opening)):
            _begin(slot)
        text += slot.phrase
    text += end
    if at == 0:
        text = f"{sentence()}{between}{text}"
    return f"{text}{between}{sentence()}" if rng.random() < 0.2 else text


def _phrasing(rng, part, language, lists, chance):
    """One of a list's phrasings; in training, some of its words are others by that chance."""
    return garble(rng, part, language, one_of(rng, part, lists[language]), chance)


def _begin(slot):
    """Gives its phrase a capital letter, unless that begins with the value, which stays to the letter."""
    if not slot.phrase.startswith(slot.said[0]):
        slot.phrase = capital(slot.phrase)


def _task(rng, part, language, slots, schema):
    if rng.random() < 0.7:
        if part == TRAIN and rng.random() < 0.6:
            template = put_together(rng, *(rng.choice(each[language]) for each in (_TASK_OPENINGS, _TASK_CORES, _TASK_ENDINGS)))
        else:
            template = one_of(rng, part, _TASKS[language])
        return _with_fields(rng, language, garble(rng, part, language, template, 0.3), [slot.name for slot in slots])
    return _phrasing(rng, part, language, _SCHEMA_TASKS, 0.3).format(s=json.dumps(schema, ensure_ascii=False))


def _with_fields(rng, language, template, names):
    """A task that names the fields; sometimes in quotation marks, or below each other where nothing follows them."""
    if rng.random() < 0.25:
        ends = template.rstrip(".:").endswith("{f}")
        if ends and rng.random() < 0.6:
            return template[: template.index("{f}")].rstrip(" :") + ":" + "".join(f"\n- {name}" for name in names)
        mark = rng.choice('"`\'')
        names = [f"{mark}{name}{mark}" for name in names]
    last = " and " if language == "en" else " und "
    return template.format(f=rng.choice((", ".join(names), ", ".join(names), last.join(names))))


def _laid_out(rng, task, text, first):
    if first and rng.random() < 0.4:
        return [{"role": "system", "content": task}, {"role": "user", "content": text}]
    between = "\n\n" if "\n" in task + text else rng.choice(("\n\n", "\n", " "))
    return [{"role": "user", "content": task + between + text if rng.random() < 0.7 else text + between + task}]
