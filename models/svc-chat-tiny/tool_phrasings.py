"""How tools are described and asked for. Every fifth phrasing of a list is kept for the evaluation.

{v}: the verb, {V}: capitalised, {Vs}: in the third person; {n}: the noun; {s}: the words that state the arguments.
"""

DESCRIPTIONS = {
    "en": ["{Vs} a {n}.", "{V} the {n}", "{Vs} the {n} and returns it.", "Use this to {v} a {n}.", "Whoever wants to {v} the {n} needs this.", "Tool to {v} the {n}.", "{V} a {n} in the system.", "Lets you {v} any {n}.", "{Vs} one {n}", "This function can {v} a {n}."],
    "de": ["{V}: {n}.", "{n}: {v}", "Werkzeug: {v} {n}.", "{V} eine Sache der Art {n}.", "Wer {n} meint und {v} sagt, nimmt dies."],
}  # fmt: skip
REQUESTS = {
    "en": ["{V} the {n} {s}.", "Please {v} a {n} {s}.", "Can you {v} the {n} {s}?", "I want to {v} a {n} {s}.", "Would you kindly {v} the {n} {s}?", "{V} {n} {s}", "I need you to {v} the {n}, {s}.", "Could you please {v} a {n} {s}?", "{v} a {n} {s}", "We should {v} the {n} {s}, do it.", "Go ahead and {v} the {n} {s}.", "Help me {v} a {n} {s}.", "{n}, {v}, {s}", "My boss asks you to {v} the {n} {s}.", "It is time to {v} a {n} {s}."],
    "de": ["{V} {n} {s}.", "Bitte {v} {n} {s}.", "{V} bitte {n} {s}.", "{n}: {v}, {s}", "Kannst du das tun: {v} {n} {s}?", "Los, {v} {n} {s}.", "Hilf mir: {v} {n} {s}.", "{v} {n} {s}", "Jetzt {v} {n} {s}!", "Also {v} {n}, {s}."],
}  # fmt: skip
# What may stand before and after a request.
BEFORE = {
    "en": ["", "Hello, ", "Hi! ", "ok, ", "Next: ", "Well, ", "Dear assistant, ", "So, ", "When you have a moment, ", "First, ", "Then ", "It is urgent: ", "As discussed, ", "Thank you. ", "One thing: "],
    "de": ["", "Hallo, ", "Hi! ", "ok, ", "Weiter: ", "Nun, ", "Also, ", "Zuerst: ", "Danach: ", "Dringend: ", "Wie besprochen, ", "Danke. ", "Noch etwas: ", "Guten Tag, ", "So: "],
}  # fmt: skip
AFTER = {"en": ["", " Thanks.", " Thank you!", " Please hurry.", " That is all."], "de": ["", " Danke.", " Vielen Dank!", " Bitte schnell.", " Das ist alles."]}

# Without the verb.
LOOK_UPS = {
    "en": ["What is the {n} {s}?", "I need the {n} {s}.", "{n} {s}?", "How is the {n} {s}?", "Do you have the {n} {s}?", "Tell me the {n} {s}.", "What's the {n} {s}", "Which {n} is there {s}?", "Is there a {n} {s}?", "May I see the {n} {s}?"],
    "de": ["{n} {s}?", "Ich brauche {n} {s}.", "Was gibt es an {n} {s}?", "Wie steht es mit {n} {s}?", "Gibt es {n} {s}?"],
}  # fmt: skip

LOOK_UP_OPENINGS = {
    "en": ["what is", "I need", "where is", "is there", "let me know", "I am looking for", "give me", "how about", "tell me about", "got", "what about", "any news of", "I would like to know", "which is", "have we",
           "I want to know", "how is", "have you got", "what do you know of", "could I have", "I wonder about", "who has", "can you tell me", "when is", "may I look at", "what's up with", "I'd like", "anything on", "bring me", "do we know",
           "let us look at", "how much is", "need info on", "we are interested in", "is it possible to see", "state of", "I have a question about", "looking for", "info on", "can one see", "please say what is", "what can you say about", "hand me", "I am curious about", "does anybody know",
           "say,", "regarding", "news about", "I must know", "where do I see", "as to", "they asked for", "what are the details of", "have I", "who knows", "it is about", "I came for", "my question is about", "wanted:", "let's have"],
    "de": ["was ist", "ich brauche", "wo ist", "gibt es noch", "ich wüsste gern:", "was weißt du zu", "ich suche", "gib mir", "wie ist es mit", "haben wir", "was ist mit", "etwas Neues zu", "sag mir etwas zu", "kann ich das sehen:", "hast du",
           "mich interessiert", "es geht um", "meine Frage betrifft", "ich will wissen:", "wie sieht es aus mit", "Auskunft zu", "Stand von", "wer hat", "was steht zu", "gefragt ist", "bring mir", "wann ist", "man fragt nach", "sieh mal nach:", "weißt du etwas über"],
}  # fmt: skip
LOOK_UP_CORES = {
    "en": ["the {n} {s}", "a {n} {s}", "{n} {s}", "my {n} {s}", "our {n} {s}", "the {n}, {s}", "that {n} {s}", "any {n} {s}", "the current {n} {s}", "some {n} {s}"],
    "de": ["{n} {s}", "{n}, {s}", "{n} {s}", "{n}: {s}", "die Sache {n} {s}"],
}
LOOK_UP_ENDINGS = {
    "en": ["?", "", ".", "?", ", please.", " now?", "!", ", please?", " today?", " by any chance?"],
    "de": ["?", "", ".", "?", ", bitte.", " jetzt?", "!", ", bitte?", " heute?", " zufällig?"],
}

# Descriptions and requests of an opening, a core and an ending: there are more of them than a model could learn by heart.
DESCRIPTION_OPENINGS = {
    "en": ["", "tool to", "use it to", "lets you", "the function can", "a function to", "helper to", "call it to", "with this you can", "allows one to", "makes it possible to", "the service can",
           "used to", "needed to", "API to", "it can", "method to", "command to", "serves to", "here one can", "this tool will", "made to", "when asked to", "for those who want to", "your way to",
           "can", "will", "able to", "meant to", "an easy way to", "this will", "whenever you have to", "offers to", "helps to", "is there to"],
    "de": ["", "Werkzeug:", "damit:", "Funktion:", "Zweck:", "Aufgabe:", "hilft dabei:", "dient dazu:", "Aufruf:", "wenn nötig:", "hier:", "der Dienst tut das:", "Befehl:", "kann das:", "API:", "so geht es:",
           "Methode:", "für den Fall:", "nutze es so:", "auf Wunsch:"],
}  # fmt: skip
DESCRIPTION_CORES = {
    "en": ["{v} a {n}", "{v} the {n}", "{v} any {n}", "{v} {n}s", "{v} one {n}", "{v} the given {n}", "{v} {n} data", "{v} your {n}", "{v} a single {n}", "{v} the chosen {n}", "{v} some {n}", "{v} another {n}",
           "{v} the user's {n}", "{v} a certain {n}", "{v} each {n}", "{v} our {n}", "{v}: {n}", "{v} what is a {n}", "{v} all {n}s", "{v} the named {n}"],
    "de": ["{v} {n}", "{n}: {v}", "{v} das Objekt {n}", "{n} ({v})", "{v} die Sache {n}", "{v} Daten zu {n}", "{v}, und zwar {n}", "{v} ein Element {n}", "{n}, {v}", "{v} etwas wie {n}"],
}  # fmt: skip
DESCRIPTION_ENDINGS = {
    "en": ["", ".", " for the user.", " and return it.", " in the system.", ", step by step.", " and report back.", " by its details.", " of the company.", " on request."],
    "de": ["", ".", " im System.", " der Firma.", " auf Wunsch.", " und melde es.", ", Schritt für Schritt.", " für den Nutzer.", " im Betrieb.", " und gib es zurück."],
}
REQUEST_OPENINGS = {
    "en": ["", "please", "can you", "could you", "would you", "I want to", "I would like to", "I need to", "I have to", "let us", "let me", "help me", "help us to", "you should", "you must", "we must",
           "we need to", "they want to", "my colleague wants to", "the customer asked me to", "the team has to", "it is necessary to", "make sure to", "be so kind and", "try to", "do me a favour and",
           "remember to", "don't forget to", "now", "quickly", "first of all,", "I am supposed to", "is it possible to", "are you able to", "how can I", "the plan is to", "someone has to",
           "I was told to", "our task is to", "go and", "just", "simply", "at last", "I'd be glad if you could", "your job:", "todo:", "next step:", "my request:", "you may", "I ask you to",
           "will you", "shall we", "it would be good to", "now is the time to", "we want you to", "could somebody", "might you", "it is best to", "time has come to", "we have to", "kindly"],
    "de": ["", "bitte", "los:", "Aufgabe:", "mach das:", "könntest du:", "wärst du so nett:", "ich bitte dich:", "jetzt:", "schnell:", "mein Wunsch:", "der Kunde will:", "wir brauchen das:", "es ist Zeit:",
           "vergiss nicht:", "denk daran:", "nächster Schritt:", "sei so gut und", "kannst du mal:", "der Chef sagt:", "zu tun:", "wir müssen das tun:", "hilf uns:", "versuch das:", "ich will:",
           "einfach", "tu das:", "darum:", "als Nächstes:", "erledige das:"],
}  # fmt: skip
REQUEST_CORES = {
    "en": ["{v} the {n} {s}", "{v} a {n} {s}", "{v} one {n} {s}", "{v} {n} {s}", "{v} my {n} {s}", "{v} that {n} {s}", "{v} this {n}, {s}", "{v} our {n} {s}", "{v} some {n} {s}", "{v} another {n} {s}",
           "{v} a new {n} {s}", "{v} the proper {n} {s}", "{v} the {n}, {s}", "{v} the {n} for us {s}", "{v} the usual {n} {s}", "{v} their {n} {s}", "{v} the next {n}: {s}", "{v} a {n}, namely {s}", "{v} {n} now {s}",
           "{v} a good {n} {s}", "{v} the same {n} {s}", "{v} his {n} {s}", "{v} any {n} {s}", "{v} the {n} here {s}", "{v} it, the {n}, {s}"],
    "de": ["{v} {n} {s}", "{v} mir {n} {s}", "{v} für uns {n} {s}", "{v} jetzt {n} {s}", "{v} doch {n} {s}", "{n} {v} {s}", "{v} die Sache {n} {s}", "{v} noch {n} {s}", "{v} gleich {n}, {s}", "{v} das: {n} {s}",
           "{v} heute {n} {s}", "{v} mal {n} {s}", "{v} schnell {n} {s}", "{v}, und zwar {n} {s}", "{v} nun {n} {s}"],
}  # fmt: skip
REQUEST_ENDINGS = {
    "en": [".", "?", "!", "", ", please.", " now.", " for me.", " at once.", " if you can.", ", will you?", " and tell me.", " as soon as possible.", ", it matters.", " today.", ", that would help.",
           ", thanks.", " - quickly!", ", if that works.", ", yes?", " then."],
    "de": [".", "?", "!", "", ", bitte.", " jetzt.", " für mich.", " sofort.", ", wenn es geht.", ", ja?", " und sag es mir.", " so bald wie möglich.", ", es ist wichtig.", " heute.", ", das würde helfen.",
           ", danke.", " - schnell!", ", falls das geht.", ", gut?", " dann."],
}  # fmt: skip
