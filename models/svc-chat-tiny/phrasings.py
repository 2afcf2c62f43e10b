"""How facts are stated and asked for. Every fifth phrasing of a list is kept for the evaluation.

{a}: the attribute, {e}: the thing, {v}: the value.
German: {d_a} with its article, {den_a} in the accusative, {welchen_a}, {sein_a}.
Events: {p}: the participle, {y}, {w}, {l}: when, who and where.
"""

STATEMENTS = {
    "en": [
        "The {a} of {e} is {v}.",
        "{e} has a {a} of {v}.",
        "The {a} of {e} was {v}.",
        "{v} is the {a} of {e}.",
        "For {e}, the {a} amounts to {v}.",
        "{e}'s {a} is {v}.",
        "At {e} the {a} is {v}.",
        "According to the records, the {a} of {e} is {v}.",
        "With {v} as its {a}, {e} is well known.",
        "As of today {e} reports {v} as {a}.",
        "The {a} at {e}: {v}.",
        "It is known that the {a} of {e} is {v}.",
        "When it comes to {e}, the {a} is {v}.",
        "{e} lists {v} as its {a}.",
        "People put the {a} of {e} at {v}.",
        "The {a} for {e} is now {v}.",
        "{e} ({a}: {v}) is mentioned often.",
        "In the case of {e}, {v} is the {a}.",
        "{e}: the {a} is {v}.",
        "Anyone who asks about the {a} of {e} is told: {v}.",
    ],
    "de": [
        "{D_a} von {e} ist {v}.",
        "{e} hat {v} als {a}.",
        "{D_a} von {e} beträgt {v}.",
        "{D_a} von {e} war {v}.",
        "Bei {e} liegt {d_a} bei {v}.",
        "{v} ist {d_a} von {e}.",
        "Laut Unterlagen ist {d_a} von {e} {v}.",
        "Für {e} gilt als {a}: {v}.",
        "{D_a} bei {e}: {v}.",
        "Wer nach {a} von {e} fragt, hört: {v}.",
        "Bekannt ist, dass {d_a} von {e} {v} ist.",
        "{e} nennt als {a} {v}.",
        "{D_a} für {e} ist jetzt {v}.",
        "Im Fall von {e} ist {v} {d_a}.",
        "Man gibt {den_a} von {e} mit {v} an.",
        "{e} ({a}: {v}) wird oft erwähnt.",
        "Als {a} von {e} wurde {v} angegeben.",
        "{e}: {d_a} ist {v}.",
        "Mit {v} als {a} ist {e} bekannt.",
        "Zu {e} heißt es, {d_a} sei {v}.",
    ],
}
PRONOUN_STATEMENTS = {
    "en": ["Its {a} is {v}.", "The {a} is {v}.", "It has a {a} of {v}.", "The {a} was {v}.", "Here the {a} comes to {v}.", "{v} is its {a}.",
           "It lists {v} as its {a}.", "The {a} there is {v}.", "Today the {a} is {v}.", "It also reports {v} as {a}."],
    "de": ["{D_a} ist {v}.", "{D_a} beträgt {v}.", "{Sein_a} ist {v}.", "{D_a} war {v}.", "Hier liegt {d_a} bei {v}.", "{v} ist {d_a}.", "Als {a} gilt {v}.",
           "{D_a} dort ist {v}.", "Heute ist {d_a} {v}.", "Ferner wurde {v} als {a} angegeben."],
}  # fmt: skip
QUESTIONS = {
    "en": [
        "What is the {a} of {e}?",
        "What is {e}'s {a}?",
        "Which {a} does {e} have?",
        "Tell me the {a} of {e}.",
        "Could you look up the {a} of {e}?",
        "What was the {a} of {e}?",
        "What {a} is given for {e}?",
        "{e}: {a}?",
        "I need the {a} of {e}.",
        "Regarding {e}, what would be the {a}?",
        "Do you know the {a} of {e}?",
        "what's the {a} of {e}",
        "The {a} of {e}?",
        "For {e}, what is the {a}?",
        "Find {e}'s {a}.",
        "I'd like to know the {a} of {e}, please.",
        "Can you tell me which {a} {e} has?",
        "{a} of {e}",
        "Give me the {a} for {e}.",
        "About {e}: how is the {a} described?",
    ],
    "de": [
        "Was ist {d_a} von {e}?",
        "Wie lautet {d_a} von {e}?",
        "{Welchen_a} hat {e}?",
        "Nenne mir {den_a} von {e}.",
        "Kannst du {den_a} von {e} nachsehen?",
        "Wie ist {d_a} von {e}?",
        "{e}: {a}?",
        "Ich brauche {den_a} von {e}.",
        "{D_a} von {e}?",
        "Was steht dort über {den_a} von {e}?",
        "Kennst du {den_a} von {e}?",
        "wie war {d_a} von {e}",
        "Sag mir bitte {den_a} von {e}.",
        "Was gilt bei {e} als {a}?",
        "Gib für {e} {den_a} an.",
        "Ich möchte {den_a} von {e} wissen.",
        "{a} von {e}",
        "Um was für {a} handelt es sich bei {e}?",
        "Weißt du, {welchen_a} {e} hat?",
        "Suche {den_a} zu {e} heraus.",
    ],
}
EVENTS = {
    "en": [
        "{e} was {p} by {w} in {y}.",
        "In {y}, {e} was {p} by {w} in {l}.",
        "{e} was {p} in {l} in {y}.",
        "It was {w} who {p} {e} in {y}.",
        "Records say that {e} got {p} by {w} at {l}.",
        "{w} {p} {e} in {y}.",
        "{w} {p} {e} in {l}.",
        "{e} was first {p} in {y} by {w}.",
        "{e}, {p} in {y} by {w}, is well known.",
        "By {y}, {w} had {p} {e}.",
    ],
    "de": [
        "{e} wurde {y} von {w} {p}.",
        "Im Jahr {y} wurde {e} von {w} in {l} {p}.",
        "{e} wurde {y} in {l} {p}.",
        "{w} hat {e} im Jahr {y} {p}.",
        "Es heißt, {e} sei in {l} von {w} {p} worden.",
        "{w} hat {e} in {l} {p}.",
        "Von {w} wurde {e} {y} {p}.",
        "{e}, {y} von {w} {p}, ist bekannt.",
        "In {l} hat {w} {e} {p}.",
        "{y} war {e} von {w} {p} worden.",
    ],
}
EVENT_QUESTIONS = {
    "en": {
        "y": ["When was {e} {p}?", "In which year was {e} {p}?", "In what year was {e} {p}?", "{e} was {p} when?", "Which year was {e} {p} in?", "Name the year in which {e} was {p}.", "{e}: when was it {p}?", "Do you know when {e} was {p}?"],
        "w": ["Who {p} {e}?", "By whom was {e} {p}?", "Who was it that {p} {e}?", "Tell me who {p} {e}.", "Which person {p} {e}?", "Name the person who {p} {e}.", "Do you know who {p} {e}?", "{e} was {p} by whom?"],
        "l": ["Where was {e} {p}?", "In which place was {e} {p}?", "Tell me where {e} was {p}.", "{e} was {p} where?", "At what place was {e} {p}?", "Name the place where {e} was {p}.", "In which city was {e} {p}?", "Do you know where {e} was {p}?"],
    },
    "de": {
        "y": ["Wann wurde {e} {p}?", "In welchem Jahr wurde {e} {p}?", "Seit wann ist {e} {p}?", "Sag mir, wann {e} {p} wurde.", "{e} wurde wann {p}?", "Nenne das Jahr, in dem {e} {p} wurde.", "Weißt du, wann {e} {p} wurde?", "In welches Jahr fällt es, dass {e} {p} wurde?"],
        "w": ["Wer hat {e} {p}?", "Von wem wurde {e} {p}?", "Sag mir, wer {e} {p} hat.", "Durch wen wurde {e} {p}?", "Welche Person hat {e} {p}?", "Nenne die Person, die {e} {p} hat.", "Weißt du, wer {e} {p} hat?", "{e} wurde von wem {p}?"],
        "l": ["Wo wurde {e} {p}?", "An welchem Ort wurde {e} {p}?", "Sag mir, wo {e} {p} wurde.", "{e} wurde wo {p}?", "In welcher Stadt wurde {e} {p}?", "Nenne die Stadt, in der {e} {p} wurde.", "Nenne den Ort, an dem {e} {p} wurde.", "Weißt du, wo {e} {p} wurde?"],
    },
}  # fmt: skip
ANSWERS = {"en": "The {a} of {e} is {v}", "de": "{a} von {e}: {v}"}
EVENT_ANSWERS = {
    "en": {"y": "{e} was {p} in {y}", "w": "{e} was {p} by {w}", "l": "{e} was {p} in {l}"},
    "de": {"y": "{P} wurde {e} {y}", "w": "{P} wurde {e} von {w}", "l": "{P} wurde {e} in {l}"},
}

# Questions of an opening, what is asked for, and an ending: there are more of them than a model could learn by heart.
OPENINGS = {
    "en": [
        "", "what is", "what was", "please tell me", "Could someone tell me", "tell me", "I need", "I want to know", "show me", "do you have", "I am looking for", "can you give me",
        "Hello, what is", "please find", "Let me hear", "look up", "is there anything on", "what about", "we are asked for", "Just out of curiosity, what is", "give me", "name",
        "can I get", "Hi! I need", "My colleague would like", "the customer asks for", "quick question:", "one more thing,", "and", "It would help to have",
    ],
    "de": [
        "", "was ist", "wie ist", "bitte sag mir", "Kann mir jemand sagen:", "sag mir", "ich brauche", "ich suche", "zeig mir", "gibt es etwas zu", "hast du", "ich frage nach",
        "Hallo, was ist", "bitte finde", "Lass hören:", "such mal", "was steht da über", "was ist mit", "wir brauchen", "Nur aus Neugier:", "gib mir", "nenne",
        "kann ich das haben:", "Hi! Ich brauche", "Meine Kollegin fragt nach", "der Kunde fragt nach", "kurze Frage:", "noch etwas,", "und", "Hilfreich wäre",
    ],
}  # fmt: skip
ASKED = {
    "en": ["the {a} of {e}", "{e}'s {a}", "the {a} for {e}", "{a} of {e}", "any {a} of {e}", "the {a} that {e} has", "{e} and its {a}", "the {a} at {e}", "{a} {e}", "the {a} belonging to {e}"],
    "de": ["{d_a} von {e}", "{den_a} von {e}", "{den_a} für {e}", "{a} von {e}", "{den_a}, was {e} angeht", "{d_a} bei {e}", "{e} und {sein_a}", "{d_a} zu {e}", "{a} {e}", "{den_a} zu {e}"],
}  # fmt: skip
ENDINGS = {
    "en": ["?", ".", "", ", please.", ", if you know it?", "? Thanks!", " please", "?", "!", " - do the texts say?"],
    "de": ["?", ".", "", ", bitte.", ", falls du das weißt?", "? Danke!", " bitte", "?", "!", " - steht das irgendwo?"],
}
