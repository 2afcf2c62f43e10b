"""How facts are stated and asked for. Every fifth phrasing of a list is kept for the evaluation.

{a}: the attribute, {e}: the thing, {v}: the value.
German: {d_a} with its article, {den_a} in the accusative, {welchen_a}, {sein_a}; {der}, {den}, {er}: its pronouns.
Events: {p}: the participle, {y}, {w}, {l}: when, who and where. {was}, {did}: the verbs before it.
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
        "{e} stands out for a {a} of {v}.",
        "Its records show {v} as the {a} of {e}.",
        "We were told that {e} has the {a} {v}.",
        "Given as {a} for {e}: {v}.",
        "Long has {v} been what {e} calls its {a}.",
        "As for the {a} of {e}, it is {v}.",
        "The {a} that {e} has is {v}.",
        "Mind that {e} comes with {v} as {a}.",
        "{a} of {e}: {v}.",
        "Both sources agree on {v} as the {a} of {e}.",
        "The {a} of {e} remains {v}.",
        "{e} has {v} for its {a}.",
        "The {a} given for {e} is {v}.",
        "Whoever visits {e} learns that its {a} is {v}.",
        "There, at {e}, one finds the {a} {v}.",
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
        "Angegeben ist für {e} {d_a} {v}.",
        "{D_a}, die Angabe zu {e}, lautet {v}.",
        "Es heißt, {e} habe {v} als {a}.",
        "{v} gilt bei {e} als {a}.",
        "Was {e} betrifft, so ist {d_a} {v}.",
        "{a} von {e}: {v}.",
        "Man nennt {v} als {a} von {e}.",
        "{D_a} von {e} bleibt {v}.",
        "Gemeldet wurde für {e} {v} als {a}.",
        "Das Schreiben nennt für {e} {den_a} {v}.",
        "{e} kommt mit {v} als {a} vor.",
        "Alle wissen, {d_a} von {e} ist {v}.",
        "{D_a}, wie {e} angibt, ist {v}.",
        "In der Liste steht {v} als {a} von {e}.",
        "Bei {e} nennt man {den_a} {v}.",
    ],
}
PRONOUN_STATEMENTS = {
    "en": ["Its {a} is {v}.", "The {a} is {v}.", "It has a {a} of {v}.", "The {a} was {v}.", "Speaking of its {a}, think of {v}.", "{v} is its {a}.",
           "It lists {v} as its {a}.", "The {a} there is {v}.", "Today the {a} is {v}.", "It also reports {v} as {a}.", "As {a}, {v} is given.", "There is also the {a}: {v}.", "The {a} remains {v}.", "Its {a} was put at {v}.", "One source gives {v} as the {a}.", "The {a} has been {v} since then.", "For the {a}, it has {v}.", "And the {a} is {v}.", "In addition, its {a} amounts to {v}.", "Its {a}, as many know, is {v}."],
    "de": ["{D_a} ist {v}.", "{D_a} beträgt {v}.", "{Sein_a} ist {v}.", "{D_a} war {v}.", "Hier liegt {d_a} bei {v}.", "{v} ist {d_a}.", "Als {a} gilt {v}.",
           "{D_a} dort ist {v}.", "Heute ist {d_a} {v}.", "Ferner wurde {v} als {a} angegeben.", "Es hat {v} als {a}.", "{D_a} bleibt {v}.", "Genannt wird als {a} {v}.", "Auch {d_a} ist bekannt: {v}.", "Eine Quelle gibt {v} als {a} an.", "Dazu kommt {d_a}: {v}.", "{Sein_a} lautet {v}.", "Und {d_a} ist {v}.", "Außerdem liegt {d_a} bei {v}.", "{D_a}, so heißt es, ist {v}."],
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
        "{e} has which {a}?",
        "What does it say about the {a} of {e}?",
        "I wonder what the {a} of {e} is.",
        "Please give the {a} of {e}.",
        "Any idea what {e}'s {a} might be?",
        "Is the {a} of {e} mentioned, and what is it?",
        "State the {a} of {e}.",
        "what {a} does {e} have",
        "Looking for the {a} of {e}.",
        "How about {e}: what is its {a}?",
        "In the texts, what is the {a} of {e}?",
        "Let me know the {a} of {e}.",
        "When you look at {e}, what is the {a}?",
        "Say which {a} {e} has.",
        "Which value is reported as the {a} of {e}?",
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
        "{e} hat {welchen_a}?",
        "Was sagen die Texte über {den_a} von {e}?",
        "Gesucht: {a} von {e}.",
        "Nenne {den_a} von {e}.",
        "Hast du eine Ahnung, was {d_a} von {e} sein mag?",
        "Wird {d_a} von {e} genannt, und wie lautet {er}?",
        "was ist bei {e} {d_a}",
        "Gib mir {den_a} von {e}.",
        "Wie lautet bei {e} {d_a}?",
        "Und was ist mit {e}, wie ist da {d_a}?",
        "Wie steht es um {den_a} von {e}?",
        "Lass mich {den_a} von {e} wissen.",
        "Schau nach {e}: was ist {d_a}?",
        "Sage, {welchen_a} {e} hat.",
        "Welche Angabe gibt es als {a} von {e}?",
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
        "In {y}, {w} {p} {e}.",
        "{e} was {p} by {w}.",
        "It was in {l} that {w} {p} {e}.",
        "{e} has been {p} since {y}.",
        "Long ago, in {y}, {e} was {p} in {l}.",
        "In {l}, {w}, as is known, {p} {e}.",
        "In {l} and in {y}, {e} was {p}.",
        "After some delay {e} was {p} by {w} in {l}.",
        "The year {y} saw {e} {p} by {w}.",
        "It is said that {w} {p} {e} in {l} in {y}.",
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
        "Im Jahr {y} hat {w} {e} {p}.",
        "{e} wurde von {w} {p}.",
        "In {l} wurde {e} {y} {p}.",
        "Seit {y} gilt {e} als {p}.",
        "Vor langem, {y}, wurde {e} in {l} {p}.",
        "{w}, damals in {l}, hat {e} {p}.",
        "{y} hat {w} in {l} {e} {p}.",
        "Nach langer Zeit wurde {e} von {w} in {l} {p}.",
        "{e} wurde in {l} von {w} {p}.",
        "Es heißt, {w} habe {e} {y} in {l} {p}.",
    ],
}
# Events of a frame, and adverbials at its {front} and in its {rest}.
EVENT_FRAMES = {
    "en": [
        "{e} {was} {p}{rest}", "{front}, {e} {was} {p}{rest}", "{front} {e} {was} {p}{rest}", "{w} {did} {p} {e}{rest}", "{p}{rest}, {e} is well known",
        "{front}, {w} {did} {p} {e}{rest}", "{e}, {p}{rest}, is well known", "it was {front} that {e} {was} {p}{rest}", "it was {w} who {did} {p} {e}{rest}", "the one who {did} {p} {e}{rest} is {w}",
        "they say {e} {was} {p}{rest}", "{e}: {p}{rest}", "{front} {w} {did} {p} {e}{rest}", "{w}, as is known, {did} {p} {e}{rest}", "that {e} {was} {p}{rest} is certain",
        "{e} is known as {p}{rest}", "once {e} {was} {p}{rest}, it was quiet again", "{e} {was}{rest} {p}", "{w} was the first who {did} {p} {e}{rest}", "somebody {did} {p} {e}{rest}",
        "as the papers show, {e} {was} {p}{rest}", "{front}, so they say, {e} {was} {p}{rest}", "people still remember that {e} {was} {p}{rest}", "{e}, as one reads, {was} {p}{rest}", "as the records show, {w} {did} {p} {e}{rest}",
        "nobody but {w} {did} {p} {e}{rest}", "{front} someone {did} {p} {e}{rest}", "the story goes that {w} {did} {p} {e}{rest}", "the records show that {e} {was} {p}{rest}", "the story goes that {e} {was} {p}{rest}",
    ],
    "de": [
        "{e} {was}{rest} {p}", "{front} {was} {e}{rest} {p}", "{e} ist{rest} {p} worden", "{w} {did} {e}{rest} {p}", "{p} {was} {e}{rest}",
        "{front} {did} {w} {e}{rest} {p}", "{e}, {front}{rest} {p}, ist bekannt", "man weiß, dass {e}{rest} {p} wurde", "{e} {did} {w}{rest} {p}", "{w} soll {e}{rest} {p} haben",
        "{front} ist {e}{rest} {p} worden", "{e}: {p}{rest}", "es war {w}, der {e}{rest} {p} hat", "bekanntlich {was} {e}{rest} {p}", "dass {e}{rest} {p} wurde, gilt als sicher",
        "{e} soll{rest} {p} worden sein", "man weiß, dass {w} {e}{rest} {p} hat", "als {e}{rest} {p} wurde, war es still", "{front} {did} man {e}{rest} {p}", "zuerst {did} {w} {e}{rest} {p}",
        "wie die Akten zeigen, {was} {e}{rest} {p}", "{front}, so heißt es, {was} {e}{rest} {p}", "viele wissen noch, dass {e}{rest} {p} wurde", "{e}, so liest man, {was}{rest} {p}", "wie man weiß, {did} {w} {e}{rest} {p}",
        "kein anderer als {w} {did} {e}{rest} {p}", "{front} {did} jemand {e}{rest} {p}", "man erzählt, dass {w} {e}{rest} {p} hat", "die Akten zeigen, dass {e}{rest} {p} wurde", "man erzählt, dass {e}{rest} {p} worden ist",
    ],
}  # fmt: skip
EVENT_WAS = {
    "en": ["was", "was", "had been", "got", "is said to have been", "has been", "came to be", "was at last", "was then", "was once again", "was finally", "was in fact", "got to be", "was really", "was indeed"],
    "de": ["wurde", "wurde", "wurde damals", "wurde dann", "wurde wohl", "wurde endlich", "wurde wieder", "wurde also", "wurde selbst", "wurde erneut", "wurde zuletzt", "wurde wirklich", "wurde einst", "wurde schließlich", "wurde tatsächlich"],
}
EVENT_DID = {
    "en": ["", "", "had", "once", "reportedly", "then", "at last", "has", "personally", "is said to have", "finally", "in fact", "once again", "really", "indeed"],
    "de": ["hat", "hat", "hatte", "hat", "habe", "hat dann", "hat wohl", "hatte einst", "hat endlich", "hat erneut", "hat zuletzt", "hat wirklich", "hat selbst", "hat schließlich", "hat tatsächlich"],
}
EVENT_ADVERBIALS = {
    "en": {
        "y": ["in {y}", "in the year {y}", "back in {y}", "during {y}", "by {y}", "as early as {y}", "around {y}", "in spring {y}", "already in {y}", "sometime in {y}",
              "in early {y}", "in late {y}", "in the summer of {y}", "towards the end of {y}", "in the winter of {y}", "at some point in {y}", "over the course of {y}", "at the start of {y}", "one day in {y}", "in the autumn of {y}"],
        "w": ["by {w}", "by {w}", "by a certain {w}", "by none other than {w}", "by old {w}", "by the late {w}", "by the hand of {w}", "by one {w}", "thanks to {w}", "by {w} alone",
              "by someone called {w}", "under {w}", "by {w} and nobody else", "by the well-known {w}", "by someone named {w}", "at the hands of {w}", "by a person called {w}", "by young {w}", "with the help of {w}", "by a person named {w}"],
        "l": ["in {l}", "at {l}", "over in {l}", "there in {l}", "in the town of {l}", "down in {l}", "just in {l}", "in the old {l}", "within {l}", "somewhere in {l}",
              "near the centre of {l}", "in a place called {l}", "in what is now {l}", "on the edge of {l}", "at a place called {l}", "in the middle of {l}", "inside {l}", "in distant {l}", "at the centre of {l}", "in the middle of old {l}"],
    },
    "de": {
        "y": ["{y}", "im Jahr {y}", "schon {y}", "im Jahre {y}", "um {y}", "bereits {y}", "erst {y}", "anno {y}", "im Frühling {y}", "noch {y}",
              "Anfang {y}", "Ende {y}", "im Sommer {y}", "gegen Ende {y}", "im Winter {y}", "irgendwann {y}", "im Lauf von {y}", "zu Beginn von {y}", "eines Tages {y}", "im Herbst {y}"],
        "w": ["von {w}", "von {w}", "durch {w}", "allein von {w}", "dank {w}", "von der Hand von {w}", "einst von {w}", "von {w} persönlich", "wohl von {w}", "von niemand anderem als {w}",
              "von jemandem namens {w}", "unter {w}", "von {w} und sonst niemandem", "durch die Person {w}", "von einer Person namens {w}", "durch die Hand von {w}", "mit Hilfe von {w}", "durch {w} selbst", "von der Person {w}", "mit der Hilfe von {w}"],
        "l": ["in {l}", "in {l}", "mitten in {l}", "drüben in {l}", "im Ort {l}", "dort in {l}", "direkt in {l}", "im alten {l}", "irgendwo in {l}", "im fernen {l}",
              "nahe der Mitte von {l}", "in einem Ort namens {l}", "im heutigen {l}", "am Rand von {l}", "an einem Ort namens {l}", "im Zentrum von {l}", "innerhalb von {l}", "gleich in {l}", "in der Mitte von {l}", "mitten im alten {l}"],
    },
}  # fmt: skip
# Others, for training alone, whose question word says what kind of value is wanted.
_WHO = {"en": ["Who is the {a} of {e}?", "Who is {e}'s {a}?", "who was the {a} of {e}", "Do you know who the {a} of {e} is?", "Tell me who is the {a} at {e}."],
        "de": ["Wer ist {d_a} von {e}?", "Wer war {d_a} von {e}?", "Weißt du, wer {d_a} von {e} ist?", "Sag mir, wer {d_a} bei {e} ist.", "wer ist bei {e} {d_a}"]}  # fmt: skip
_WHERE = {"en": ["Where is the {a} of {e}?", "Where does {e} have its {a}?", "Where do I find the {a} of {e}?", "where's the {a} of {e}"],
          "de": ["Wo ist {d_a} von {e}?", "Wo hat {e} {den_a}?", "Wo finde ich {den_a} von {e}?", "Wo liegt {d_a} von {e}?"]}  # fmt: skip
_WHEN = {"en": ["When is the {a} of {e}?", "When was the {a} of {e}?", "When does {e} have its {a}?", "when's the {a} of {e}", "Tell me when the {a} of {e} is."],
         "de": ["Wann ist {d_a} von {e}?", "Wann war {d_a} von {e}?", "Wann hat {e} {den_a}?", "Sag mir, wann {d_a} von {e} ist."]}  # fmt: skip
_HOW_MUCH = {"en": ["How much is the {a} of {e}?", "How high is the {a} of {e}?", "How large is the {a} of {e}?", "How long is the {a} of {e}?", "How much {a} does {e} have?", "How many is the {a} of {e}?"],
             "de": ["Wie hoch ist {d_a} von {e}?", "Wie groß ist {d_a} von {e}?", "Wie viel macht {d_a} von {e} aus?", "Wie lang ist {d_a} von {e}?", "Auf wie viel kommt {d_a} von {e}?"]}  # fmt: skip
QUESTIONS_BY_KIND = {"person": _WHO, "place": _WHERE, **dict.fromkeys(("year", "date", "time"), _WHEN),
                     **dict.fromkeys(("length", "weight", "count", "money", "percent", "duration", "speed", "temperature"), _HOW_MUCH)}  # fmt: skip
EVENT_QUESTIONS = {
    "en": {
        "y": ["When was {e} {p}?", "In which year was {e} {p}?", "In what year was {e} {p}?", "{e} was {p} when?", "Which year was {e} {p} in?", "Name the year in which {e} was {p}.", "{e}: when was it {p}?", "Do you know when {e} was {p}?", "What year was {e} {p}?", "Since when has {e} been {p}?", "Tell me when {e} was {p}.", "In which year did they say {e} was {p}?", "How long ago, in which year, was {e} {p}?", "when was {e} {p}", "The year in which {e} was {p}?",
              "In which year did {e} get {p}?", "Please say when {e} was {p}.", "year in which {e} was {p}", "What is the year that {e} was {p} in?", "Tell us in which year {e} was {p}.", "The texts: when was {e} {p}?", "Can you say when {e} got {p}?", "When exactly was {e} {p}?", "{e} was {p} in which year?"],
        "w": ["Who {p} {e}?", "By whom was {e} {p}?", "Who was it that {p} {e}?", "Tell me who {p} {e}.", "Which person {p} {e}?", "Name the person who {p} {e}.", "Do you know who {p} {e}?", "{e} was {p} by whom?", "Who was the one that {p} {e}?", "By which person was {e} {p}?", "who {p} {e}", "Say who {p} {e}.", "Whose work was it that {e} was {p}?", "I want to know who {p} {e}.", "The person who {p} {e}?",
              "By whom did {e} get {p}?", "Please say who {p} {e}.", "person who {p} {e}", "What is the name of who {p} {e}?", "Tell us by whom {e} was {p}.", "The texts: who {p} {e}?", "Can you say who {p} {e}?", "Who exactly {p} {e}?", "{e}: who {p} it?", "Which name has the person who {p} {e}?"],
        "l": ["Where was {e} {p}?", "In which place was {e} {p}?", "Tell me where {e} was {p}.", "{e} was {p} where?", "At what place was {e} {p}?", "Name the place where {e} was {p}.", "In which city was {e} {p}?", "Do you know where {e} was {p}?", "where was {e} {p}", "Say where {e} was {p}.", "In what city was {e} {p}?", "The place where {e} was {p}?", "Which place was {e} {p} in?", "I want to know where {e} was {p}.", "Where did they say {e} was {p}?",
              "Where did {e} get {p}?", "Please say where {e} was {p}.", "place where {e} was {p}", "What is the place that {e} was {p} in?", "Tell us in which place {e} was {p}.", "The texts: where was {e} {p}?", "Can you say where {e} got {p}?", "Where exactly was {e} {p}?", "{e} was {p} in which place?", "In which town was {e} {p}?"],
    },
    "de": {
        "y": ["Wann wurde {e} {p}?", "In welchem Jahr wurde {e} {p}?", "Seit wann ist {e} {p}?", "Sag mir, wann {e} {p} wurde.", "{e} wurde wann {p}?", "Nenne das Jahr, in dem {e} {p} wurde.", "Weißt du, wann {e} {p} wurde?", "In welches Jahr fällt es, dass {e} {p} wurde?", "Welches Jahr war es, als {e} {p} wurde?", "wann wurde {e} {p}", "Sag, wann {e} {p} wurde.", "Das Jahr, in dem {e} {p} wurde?", "Wann genau wurde {e} {p}?", "Ich möchte wissen, wann {e} {p} wurde.", "Wann hat man {e} {p}?",
              "In welchem Jahr hat man {e} {p}?", "Bitte sag, wann {e} {p} wurde.", "Jahr, in dem {e} {p} wurde", "Was ist das Jahr, in dem {e} {p} wurde?", "Sag uns, in welchem Jahr {e} {p} wurde.", "Die Texte: wann wurde {e} {p}?", "Kannst du sagen, wann {e} {p} wurde?", "Seit welchem Jahr ist {e} {p}?", "{e} wurde in welchem Jahr {p}?", "Zu welcher Zeit wurde {e} {p}?"],
        "w": ["Wer hat {e} {p}?", "Von wem wurde {e} {p}?", "Sag mir, wer {e} {p} hat.", "Durch wen wurde {e} {p}?", "Welche Person hat {e} {p}?", "Nenne die Person, die {e} {p} hat.", "Weißt du, wer {e} {p} hat?", "{e} wurde von wem {p}?", "wer hat {e} {p}", "Sag, wer {e} {p} hat.", "Welcher Mensch hat {e} {p}?", "Die Person, die {e} {p} hat?", "Wer war es, der {e} {p} hat?", "Ich möchte wissen, wer {e} {p} hat.", "Wessen Werk ist es, dass {e} {p} wurde?",
              "Bitte sag, wer {e} {p} hat.", "Person, die {e} {p} hat", "Wie heißt, wer {e} {p} hat?", "Sag uns, von wem {e} {p} wurde.", "Die Texte: wer hat {e} {p}?", "Kannst du sagen, wer {e} {p} hat?", "Wer genau hat {e} {p}?", "{e}: wer hat es {p}?", "Welchen Namen hat, wer {e} {p} hat?", "Durch welche Person wurde {e} {p}?"],
        "l": ["Wo wurde {e} {p}?", "An welchem Ort wurde {e} {p}?", "Sag mir, wo {e} {p} wurde.", "{e} wurde wo {p}?", "In welcher Stadt wurde {e} {p}?", "Nenne die Stadt, in der {e} {p} wurde.", "Nenne den Ort, an dem {e} {p} wurde.", "Weißt du, wo {e} {p} wurde?", "wo wurde {e} {p}", "Sag, wo {e} {p} wurde.", "Welcher Ort war es, an dem {e} {p} wurde?", "Der Ort, an dem {e} {p} wurde?", "Wo genau wurde {e} {p}?", "Ich möchte wissen, wo {e} {p} wurde.", "Wo hat man {e} {p}?",
              "Bitte sag, wo {e} {p} wurde.", "Ort, an dem {e} {p} wurde", "Was ist der Ort, an dem {e} {p} wurde?", "Sag uns, an welchem Ort {e} {p} wurde.", "Die Texte: wo wurde {e} {p}?", "Kannst du sagen, wo {e} {p} wurde?", "In welchem Ort wurde {e} {p}?", "An welcher Stelle wurde {e} {p}?", "{e} wurde an welchem Ort {p}?", "In welcher Gemeinde wurde {e} {p}?"],
    },
}  # fmt: skip
# Behind one of the openings below and before one of the endings.
EVENT_ASKED = {
    "en": {
        "y": ["when it was that {e} was {p}", "when {e} was {p}", "the year {e} was {p}", "when {e} got {p}", "the year in which {e} was {p}", "the date on which {e} was {p}", "{e} and when it was {p}", "the year that saw {e} {p}", "since when {e} is {p}", "the point in time when {e} was {p}"],
        "w": ["who {p} {e}", "the one who {p} {e}", "whoever {p} {e}", "the person that {p} {e}", "by whom {e} was {p}", "{e} and who {p} it", "the name of who {p} {e}", "the person by whom {e} got {p}", "who it was that {p} {e}", "who is behind {e} being {p}"],
        "l": ["where {e} was {p}", "the place where {e} was {p}", "in which town {e} was {p}", "the city in which {e} got {p}", "the spot where {e} was {p}", "{e} and where it was {p}", "at which place {e} was {p}", "the location where {e} was {p}", "where {e} got {p}", "what place it was where {e} was {p}"],
    },
    "de": {
        "y": ["wann {e} {p} wurde", "das Jahr, in dem {e} {p} wurde", "wann es war, dass {e} {p} wurde", "seit wann {e} {p} ist", "in welchem Jahr {e} {p} wurde", "den Zeitpunkt, zu dem {e} {p} wurde", "{e} und wann es {p} wurde", "wann man {e} {p} hat", "das Jahr, als {e} {p} wurde", "die Zeit, zu der {e} {p} wurde"],
        "w": ["wer {e} {p} hat", "von wem {e} {p} wurde", "die Person, die {e} {p} hat", "durch wen {e} {p} wurde", "wer es war, der {e} {p} hat", "den Namen der Person, die {e} {p} hat", "{e} und wer es {p} hat", "welche Person {e} {p} hat", "den, der {e} {p} hat", "wem man verdankt, dass {e} {p} wurde"],
        "l": ["wo {e} {p} wurde", "den Ort, an dem {e} {p} wurde", "in welcher Stadt {e} {p} wurde", "die Stadt, in der {e} {p} wurde", "an welcher Stelle {e} {p} wurde", "{e} und wo es {p} wurde", "an welchem Ort {e} {p} wurde", "wo man {e} {p} hat", "den Platz, an dem {e} {p} wurde", "die Gemeinde, in der {e} {p} wurde"],
    },
}  # fmt: skip
# What such a noun is followed by, behind the same openings. {der}, {den}, {dem}: the noun's pronoun.
EVENT_NOUNS = {
    "en": {"y": ["the year", "the time", "the date", "the moment", "the day"], "w": ["the person", "the one", "the name of the person", "the man or woman", "somebody"],
           "l": ["the place", "the town", "the city", "the location", "the site", "the spot"]},
    "de": {"y": ["Jahr:n", "Zeitpunkt:m", "Zeit:f", "Datum:n", "Tag:m"], "w": ["Person:f", "Mann:m", "Frau:f"], "l": ["Ort:m", "Stadt:f", "Platz:m", "Stelle:f", "Gemeinde:f"]},
}  # fmt: skip
EVENT_RELATIVES = {
    "en": {
        "y": ["in which {e} was {p}", "when {e} was {p}", "{e} was {p}", "that saw {e} {p}", "when one {p} {e}", "of {e} being {p}", "in which one {p} {e}", "that {e} was {p} in", "when they {p} {e}", "in which {e} got {p}"],
        "w": ["who {p} {e}", "that {p} {e}", "by whom {e} was {p}", "who first {p} {e}", "that {e} was {p} by", "who once {p} {e}", "through whom {e} got {p}", "by whom {e} got {p}", "who has {p} {e}", "who had {e} {p}"],
        "l": ["where {e} was {p}", "in which {e} was {p}", "at which {e} was {p}", "{e} was {p} in", "where one {p} {e}", "that saw {e} {p}", "where they {p} {e}", "in which one {p} {e}", "that {e} was {p} at", "at which {e} got {p}"],
    },
    "de": {
        "y": ["in {dem} {e} {p} wurde", "zu {dem} {e} {p} wurde", "als {e} {p} wurde", "in {dem} man {e} {p} hat", "zu {dem} man {e} {p} hat", "als man {e} {p} hat", "in {dem} {e} {p} worden ist", "da {e} {p} wurde", "an {dem} {e} {p} wurde", "als {e} {p} worden ist"],
        "w": ["{der} {e} {p} hat", "von {dem} {e} {p} wurde", "durch {den} {e} {p} wurde", "{der} {e} einst {p} hat", "{der} damals {e} {p} hat", "dank {dem} {e} {p} wurde", "{der} {e} {p} haben soll", "{der} {e} {p} hatte", "durch {den} {e} {p} worden ist", "von {dem} {e} {p} worden ist"],
        "l": ["in {dem} {e} {p} wurde", "an {dem} {e} {p} wurde", "wo {e} {p} wurde", "wo man {e} {p} hat", "an {dem} man {e} {p} hat", "in {dem} man {e} {p} hat", "an {dem} {e} {p} worden ist", "bei {dem} {e} {p} wurde", "da {e} {p} wurde", "wo {e} {p} worden ist"],
    },
}  # fmt: skip
# Answers begin with what was asked for, its words as they stand in the question: neither inflected nor capitalised anew.
LEADS = {"en": "The {a} of {e} is", "de": "Zu {e}, {n}:"}
EVENT_LEADS = {
    "en": {"y": "When {e} was {p}:", "w": "By whom {e} was {p}:", "l": "Where {e} was {p}:"},
    "de": {"y": "Zu {e}, wann {p}:", "w": "Zu {e}, von wem {p}:", "l": "Zu {e}, wo {p}:"},
}

# Questions of an opening, what is asked for, and an ending: there are more of them than a model could learn by heart.
OPENINGS = {
    "en": [
        "", "what is", "what was", "please tell me", "Could someone tell me", "tell me", "I need", "I want to know", "show me", "do you have", "I am looking for", "can you give me",
        "Hello, what is", "please find", "Let me hear", "look up", "is there anything on", "what about", "we are asked for", "Just out of curiosity, what is", "give me", "name",
        "can I get", "Hi! I need", "My colleague would like", "the customer asks for", "quick question:", "one more thing,", "and", "It would help to have",
        "I'd love to know", "would you tell me", "may I ask for", "someone wants to know", "let us see", "check",
        "my boss wants", "do the documents mention", "is it known what is", "help me find", "I forgot", "remind me of",
        "report", "read me", "we would like to have", "could I have", "what might be", "and now",
        "tell us", "I was wondering about",
    ],
    "de": [
        "", "was ist", "wie ist", "bitte sag mir", "Kann mir jemand sagen:", "sag mir", "ich brauche", "ich suche", "zeig mir", "gibt es etwas zu", "hast du", "ich frage nach",
        "Hallo, was ist", "bitte finde", "Lass hören:", "such mal", "was steht da über", "was ist mit", "wir brauchen", "Nur aus Neugier:", "gib mir", "nenne",
        "kann ich das haben:", "Hi! Ich brauche", "Meine Kollegin fragt nach", "der Kunde fragt nach", "kurze Frage:", "noch etwas,", "und", "Hilfreich wäre",
        "ich wüsste gern", "würdest du mir sagen:", "darf ich fragen:", "jemand will wissen:", "schauen wir nach:", "prüfe",
        "mein Chef will", "erwähnen die Dokumente", "ist bekannt, was ist", "hilf mir:", "ich habe vergessen:", "erinnere mich an",
        "berichte über", "lies mir vor:", "wir hätten gern", "bekomme ich", "was mag sein:", "und jetzt",
        "sag uns", "ich überlege gerade:",
    ],
}  # fmt: skip
ASKED = {
    "en": ["the {a} of {e}", "{e}'s {a}", "the {a} for {e}", "{a} of {e}", "any {a} of {e}", "the {a} that {e} has", "{e} and its {a}", "the {a} at {e}", "{a} {e}", "the {a} belonging to {e}", "which {a} {e} has", "the {a} given for {e}", "{e}, that is its {a}", "the exact {a} of {e}", "the {a} (of {e})", "{a} and {e}", "the {a} in the case of {e}", "what {a} {e} has", "for {e} the {a}", "{e}: the {a}",
        "the {a} you find for {e}", "{e} - {a}", "what the {a} of {e} is", "how the {a} of {e} reads", "in the case of {e}, the {a}", "the current {a} of {e}",
        "what is said of the {a} of {e}", "the {a} under {e}", "{e} with its {a}", "the {a} that goes with {e}"],
    "de": ["{d_a} von {e}", "{den_a} von {e}", "{den_a} für {e}", "{a} von {e}", "{den_a}, was {e} angeht", "{d_a} bei {e}", "{e} und {sein_a}", "{d_a} zu {e}", "{a} {e}", "{den_a} zu {e}", "{welchen_a} {e} hat", "{den_a}, {den} man zu {e} nennt", "{e}, und zwar {den_a}", "genau {den_a} von {e}", "{d_a} (von {e})", "{a} und {e}", "{den_a} im Fall von {e}", "zu {e} {den_a}", "für {e} {den_a}", "{e}: {d_a}",
        "{den_a}, {den} du zu {e} findest", "{e} - {a}", "was {d_a} von {e} ist", "wie {d_a} von {e} lautet", "im Fall {e} {den_a}", "derzeit {den_a} von {e}",
        "was man über {den_a} von {e} sagt", "{den_a} unter {e}", "{e} mit {a}", "{den_a}, wie {er} bei {e} steht"],
}  # fmt: skip
ENDINGS = {
    "en": ["?", ".", "", ", please.", ", if you know it?", "? Thanks!", " please", "?", "!", " - do the texts say?",
        ", thanks.", "? Please answer.", ", as stated there?", "? I need it now.", " - what do you find?"],
    "de": ["?", ".", "", ", bitte.", ", falls du das weißt?", "? Danke!", " bitte", "?", "!", " - steht das irgendwo?",
        ", danke.", "? Bitte antworte.", ", wie dort steht?", "? Ich brauche es jetzt.", " - was findest du?"],
}

# Statements of an opening, a core and an ending. {is} and {has}: one of the verbs below, or a made-up one.
TOLD_OPENINGS = {
    "en": [
        "", "", "according to the records,", "as a rule,", "it is known that", "mind that", "by the way,", "the report says that", "we were told that", "to be exact,", "reportedly,", "today",
        "in short,", "as many know,", "an old list says that", "officially,", "locals say that", "for years", "it seems that", "word has it that", "in a letter one reads that", "so far,",
        "all sources agree that", "on paper,", "as everybody here knows,", "last week we heard that", "by all accounts", "the guide adds that", "since then", "people claim that",
        "as always,", "in the end,", "to this day", "from what one hears,", "now and then one reads that", "in fact,",
        "according to a letter,", "the board states that", "once more:", "here is what we know:", "for the record,", "in the new edition,",
        "it was announced that", "an expert writes that", "at the same time,",
    ],
    "de": [
        "", "", "laut Akte:", "übrigens:", "wie man hört:", "Hinweis:", "kurz gesagt:", "aus der Akte:", "angeblich:", "nach allem, was man weiß:", "es heißt:", "genauer gesagt:",
        "die Liste sagt:", "in einem Brief steht:", "heute gilt:", "amtlich:", "man erzählt sich:", "allen ist bekannt:", "dazu wurde notiert:", "im Heft liest man:", "nebenbei:", "bisher gilt:",
        "alle Quellen sagen:", "auf dem Papier:", "jeder hier weiß:", "neulich hieß es:", "nach altem Brauch:", "der Führer ergänzt:", "seither gilt:", "manche sagen:",
        "wie immer:", "am Ende:", "bis heute:", "soweit man hört:", "hin und wieder liest man:", "tatsächlich:",
        "laut einer Notiz:", "der Vorstand sagt:", "noch einmal:", "das weiß man:", "fürs Protokoll:", "in der neuen Ausgabe:",
        "bekannt gegeben wurde:", "eine Fachfrau schreibt:", "zugleich:",
    ],
}  # fmt: skip
TOLD = {
    "en": [
        "the {a} of {e} {is} {v}", "{e}'s {a} {is} {v}", "{e} {has} a {a} of {v}", "{e} {has} {v} as its {a}", "the {a} recorded for {e} {is} {v}", "the {a} at {e} {is} {v}",
        "for {e} the {a} {is} {v}", "{e} {has} the {a} {v}", "{v} {is} the {a} of {e}", "with {e} goes the {a} {v}", "in {e}, the {a} {is} {v}", "about {e}: the {a} {is} {v}",
        "the {a} which {e} {has} {is} {v}", "{e} {has} {v} for a {a}", "{e}, whose {a} {is} {v}, is quiet", "{e}, and its {a}, {is} {v}", "those who come to {e} find that the {a} {is} {v}",
        "{v} {is} what {e} {has} as {a}", "the {a}, at least at {e}, {is} {v}", "{e} and the {a} {v} belong together", "as {a} {e} {has} {v}", "asked for the {a}, {e} {has} {v}",
        "the {a} {is} {v} for {e}", "{e} goes with {v} as {a}", "the {a} that belongs to {e} {is} {v}",
        "{e}: {a} {is} {v}", "the {a} named for {e} {is} {v}", "{e} is found with the {a} {v}", "you will find that the {a} of {e} {is} {v}", "{v}, that {is} the {a} of {e}", "{e} stays with {v} as its {a}",
        "the {a} of {e}, then, {is} {v}", "{e} came to have a {a} of {v}", "at {e} one has {v} as {a}", "{e}, with the {a} {v}, is old",
    ],
    "de": [
        "{d_a} von {e} {is} {v}", "bei {e} {is} {d_a} {v}", "{e} {has} {v} als {a}", "für {e} {is} {d_a} {v}", "{e} und {sein_a}: {v}", "{d_a} bei {e} {is} {v}", "als {a} {has} {e} {v}",
        "{v} {is} {d_a} von {e}", "zu {e} gehört {d_a} {v}", "was {e} angeht: {d_a} {is} {v}", "{e} {has} {den_a} {v}", "{d_a}, {der} zu {e} gehört, {is} {v}", "in {e} {is} {d_a} {v}",
        "{e}, {a}: {v}", "man nennt bei {e} {den_a} {v}", "von {e} weiß man: {d_a} {is} {v}", "{v} {has} {e} als {a}", "{d_a} {is} bei {e} {v}", "fragt man nach {a}, {has} {e} {v}",
        "{e} und {v} als {a} gehören zusammen", "{d_a} {is} {v} für {e}", "{e} {has} als {a} {v}", "{v} gilt für {e} als {a}", "im Fall {e} {is} {d_a} {v}", "{d_a}, jedenfalls von {e}, {is} {v}",
        "{e}: {d_a} {is} {v}", "{d_a}, für {e} genannt, {is} {v}", "{e} findet man mit {v} als {a}", "man findet: {d_a} von {e} {is} {v}", "{v}, das {is} {d_a} von {e}", "{e} bleibt bei {v} als {a}",
        "{d_a} von {e}, also, {is} {v}", "{e} kam zu {v} als {a}", "bei {e} hat man {v} als {a}", "{e}, mit {v} als {a}, ist alt",
    ],
}  # fmt: skip
TOLD_OF_IT = {
    "en": [
        "its {a} {is} {v}", "the {a} {is} {v}", "it {has} a {a} of {v}", "it {has} {v} as {a}", "the {a}, they say, {is} {v}", "there the {a} {is} {v}", "the {a} there {is} {v}",
        "{v} {is} its {a}", "as for the {a}, it {is} {v}", "the {a} it {has} {is} {v}", "with it goes the {a} {v}", "it {has} the {a} {v}", "also, the {a} {is} {v}", "as {a}, it {has} {v}",
        "and as {a} one gives {v}", "the {a} in question {is} {v}", "its own {a} {is} {v}", "it {has} {v} for a {a}", "here the {a} {is} {v}", "besides, its {a}, in fact, {is} {v}",
        "its {a}: {v}", "one finds that the {a} {is} {v}", "{v}, that {is} the {a}", "it stays with {v} as its {a}", "its {a}, then, {is} {v}", "it came to have a {a} of {v}",
        "one has {v} as {a} there", "of all things, the {a} {is} {v}", "the {a} of it {is} {v}", "in return, its {a} {is} {v}",
    ],
    "de": [
        "{d_a} {is} {v}", "{sein_a} {is} {v}", "dort {is} {d_a} {v}", "es {has} {v} als {a}", "als {a} {is} {v} bekannt", "{v} {is} {d_a}", "{d_a} hier {is} {v}", "als {a} {has} es {v}",
        "auch {d_a} {is} bekannt: {v}", "zudem {is} {d_a} {v}", "es {has} {den_a} {v}", "dazu gehört {d_a} {v}", "und {d_a} {is} {v}", "{d_a}, heißt es, {is} {v}", "man nennt {v} als {a}",
        "{sein_a}, übrigens, {is} {v}", "ferner {is} {d_a} {v}", "{d_a} davon {is} {v}", "{v} gilt als {a}", "im Übrigen {is} {d_a} {v}",
        "{a}: {v}", "man findet: {d_a} {is} {v}", "{v}, das {is} {d_a}", "es bleibt bei {v} als {a}", "{sein_a}, also, {is} {v}", "es kam zu {v} als {a}",
        "dort hat man {v} als {a}", "vor allem {is} {d_a} {v}", "{d_a} hiervon {is} {v}", "dafür {is} {d_a} {v}",
    ],
}  # fmt: skip
TOLD_ENDINGS = {
    "en": ["", "", "", "by now", ", as far as we know", "these days", ", they say", "at present", "and no other", ", which is rare", "for long", ", of course", "in all sources", "again", ", at least on paper"],
    "de": ["", "", "", ", heißt es", ", wie man sagt", ", und nichts anderes", ", soviel man weiß", "seit langem", ", was selten ist", ", wie immer", "bis heute", ", natürlich", ", in allen Quellen", "derzeit", ", zumindest laut Liste"],
}  # fmt: skip
BE = {
    "en": ["is", "is", "was", "remains", "amounts to", "comes to", "stands at", "has been", "turned out to be", "reads", "is said to be", "will be", "equals", "seems to be", "became"],
    "de": ["ist", "ist", "war", "bleibt", "beträgt", "lautet", "heißt", "wird", "wäre", "wurde", "sei", "macht", "ergibt", "bedeutet", "bildet"],
}  # fmt: skip
HAVE = {
    "en": ["has", "has", "reports", "shows", "gives", "lists", "names", "keeps", "carries", "comes with", "offers", "had", "claims", "boasts", "states"],
    "de": ["hat", "hat", "nennt", "zeigt", "führt", "meldet", "trägt", "hatte", "behält", "bietet", "kennt", "besitzt", "bekam", "erhielt", "verzeichnet"],
}  # fmt: skip
# What may stand before and after any question.
ASKED_BEFORE = {
    "en": ["hello,", "quick question:", "one more thing:", "so,", "ok,", "please answer:", "I wonder:", "next:", "hi!", "and now:", "excuse me,", "tell me:", "just checking:", "well,", "dear assistant,",
        "good morning,", "I have a question:", "help:", "first:", "listen:", "one question:",
        "what I need:", "for my notes:", "please,", "thanks so far;"],
    "de": ["hallo,", "kurze Frage:", "noch etwas:", "also,", "ok,", "bitte antworte:", "ich frage mich:", "weiter:", "hi!", "und nun:", "Entschuldigung,", "sag mir:", "nur zur Sicherheit:", "nun,", "guten Tag,",
        "guten Morgen,", "ich habe eine Frage:", "Hilfe:", "zuerst:", "hör zu:", "eine Frage:",
        "was ich brauche:", "für meine Notizen:", "bitte,", "danke soweit;"],
}  # fmt: skip
ASKED_AFTER = {
    "en": ["Thanks!", "Please be brief.", "I have to know.", "Thank you.", "It is for a report.", "Take your time.", "Cite it.", "Be exact.", "Many thanks.", "Only from the texts."],
    "de": ["Danke!", "Bitte kurz.", "Ich muss es wissen.", "Vielen Dank.", "Es ist für einen Brief.", "Lass dir Zeit.", "Mit Beleg.", "Genau bitte.", "Danke im Voraus.", "Nur aus den Texten."],
}  # fmt: skip
