"""Questions over numbered passages: the passages, the questions with their answers, and the many ways a prompt may be laid out."""
from facts import absent_event_questions, attribute_fact, event_facts
from recipe.words import EVAL, TRAIN, capital, choose_part, made_up_word, one_of, up_to
from values import LEXICON, kind_of_thing, name_word, person, thing
from vocabulary import garble, other_words

# Behind the lead that says what was asked for.
REFUSAL = {"en": "not in the passages.", "de": "das steht nicht in den Textstellen."}

_INTROS = {
    "en": ["{e} is a {k}.", "The {k} {e} is in {l}.", "{e} is a {k} near {l}.", "This is about {e}, a {k} in {l}.", "{e} belongs to {l}."],
    "de": ["{e} ist {ein_k}.", "{e} liegt bei {l}.", "{e} ist {ein_k} in {l}.", "Hier geht es um {e} in {l}.", "{e} gehört zu {l}."],
}
_INSTRUCTIONS = {
    "en": [
        "Answer the question from the passages and cite them as [1], [2].",
        "Use only the passages below. Cite the passage number in square brackets.",
        "Answer briefly with the numbered sources and name the source like [1]. If they do not contain the answer, say so.",
        "You are a helpful assistant. Base your answer on the context and cite it as [n].",
        "Reply with facts from these excerpts only, each with its number in brackets.",
        "Below are search results. Answer the user's question with them and cite the results you use, for example [2].",
        "Answer using the context. If the answer is not in the context, say that it is not there.",
        "Give the answer and the number of the passage in brackets.",
        "Cite as [1], [2], ... and do not use other knowledge.",
        "The following documents may help. Quote where you found the answer as [number].",
        "Read the sources and answer. Mark each statement with its source, [1] or [2] and so on.",
        "Ground your answer in the retrieved passages, with citations in the form [n].",
        "Use the knowledge base passages to answer. Say so when they do not tell.",
        "You answer questions about documents. Always cite.",
        "Stick to what the numbered texts say and refer to them by [number].",
    ],
    "de": [
        "Beantworte die Frage mit den Textstellen und zitiere sie als [1], [2].",
        "Nutze nur die folgenden Textstellen. Nenne die Nummer in eckigen Klammern.",
        "Antworte kurz mit den nummerierten Quellen und gib sie wie [1] an. Steht die Antwort nicht darin, sage das.",
        "Du bist ein hilfreicher Assistent. Stütze dich auf den Kontext und zitiere ihn als [n].",
        "Antworte allein mit Angaben aus diesen Auszügen, jeweils mit Nummer in Klammern.",
        "Unten stehen Suchergebnisse. Beantworte damit die Frage und zitiere, was du verwendest, zum Beispiel [2].",
        "Antworte anhand des Kontexts. Steht die Antwort nicht im Kontext, sage, dass sie fehlt.",
        "Gib die Antwort und die Nummer der Textstelle in Klammern an.",
        "Zitiere als [1], [2], ... und nutze kein anderes Wissen.",
        "Die folgenden Dokumente helfen vielleicht. Gib als [Nummer] an, wo die Antwort steht.",
        "Lies die Quellen und antworte. Belege jede Aussage mit ihrer Quelle, [1] oder [2] und so weiter.",
        "Verwende die Textstellen der Wissensbasis. Sage, wenn sie nichts dazu sagen.",
        "Du beantwortest Fragen zu Dokumenten. Zitiere immer.",
        "Stütze die Antwort auf die gefundenen Stellen, mit Belegen der Form [n].",
        "Halte dich an das, was in den nummerierten Texten steht, und verweise mit [Nummer] darauf.",
    ],
}
_HEADINGS = {
    "en": ["Passages:", "Context:", "Sources:", "Search results:", "Excerpts:", "Documents:", "Knowledge base:", "### Context", "", "Retrieved texts:"],
    "de": ["Textstellen:", "Kontext:", "Quellen:", "Suchergebnisse:", "Auszüge:", "Dokumente:", "Wissensbasis:", "### Kontext", "", "Gefundene Texte:"],
}
_QUESTION_MARKS = {
    "en": ["Question: ", "", "", "Q: ", "User question: ", "### Question\n", "My question: "],
    "de": ["Frage: ", "", "", "F: ", "Frage des Nutzers: ", "### Frage\n", "Meine Frage: "],
}
_NUMBERINGS = [
    "[{i}] {text}",
    "[{i}] {text}",
    "[{i}] {title}\n{text}",
    "[{i}] ({file}) {text}",
    "[{i}] {file}, {page}: {text}",
    "Passage [{i}]: {text}",
    "[{i}]\n{text}",
    "{i}. {text}",
    '<passage id="{i}">{text}</passage>',
    "[{i}] {title}: {text}",
    "Source {i}: {text}",
    "[{i}] {file} ({page})\n{text}",
    "({i}) {text}",
    '<doc n="{i}" source="{file}">\n{text}\n</doc>',
    "### [{i}] {title}\n{text}",
]

# The share of questions that no passage answers.
_UNANSWERABLE = {TRAIN: 0.27, EVAL: 0.2}


def passage_conversation(rng, part, language, difficulty=1.0, n_questions=None):
    """Messages of a conversation over passages. An answer's `kind` is value or refusal. At a difficulty of 0 there are one or three
    passages with one fact each or two, so that a model may first learn to copy, then to choose what."""
    n_passages = up_to(rng, (1, 3, 2, 4, 2, 5, 3, 6, 4), difficulty)
    filler = rng.choice((0, 0, 0.2, 0.5, 1)) * difficulty
    passages, facts = _write_passages(rng, part, language, n_passages, filler, difficulty)
    layout = _Layout(rng, part, language, passages)
    asked = rng.sample(facts, min(len(facts), n_questions or rng.choice((2, 5, 7, 9, 12))))
    turns = [_turn(rng, fact.question, "value", f"{fact.value} [{n}].", value=fact.value, **layout.told(n, fact)) for n, fact in asked]
    for i in range(len(turns)):
        if rng.random() < _UNANSWERABLE[part] * difficulty:
            question = _unanswerable(rng, part, language, [fact for _, fact in facts])
            turns[i] = _turn(rng, question, "refusal", REFUSAL[language])
    return layout.messages(turns)


def _turn(rng, question, kind, ending, **told):
    """(what is asked, the answer)"""
    content = f"{question.lead} {ending}"
    return rng.choice(question.texts), {"kind": kind, "content": content, "lead": question.lead, "echoes": question.echoes, **told}


def _write_passages(rng, part, language, count, filler, difficulty):
    """Texts, and (number, fact) for every fact in them. Sometimes two passages are about the same thing."""
    texts, facts, things, known = [], [], [], set()
    for n in range(1, count + 1):
        e = rng.choice(things) if things and rng.random() < 0.15 else _similar_thing(rng, part, language, things)
        things.append(e)
        own, sentences = [], []
        if rng.random() < 0.5:
            sentences.append(_intro(rng, part, language, e))
        for _ in range(up_to(rng, (1, 1, 2, 2, 3, 4) if count > 2 else (1, 2, 3, 4, 5), difficulty)):
            new = event_facts(rng, part, language, e) if rng.random() < 0.3 else [attribute_fact(rng, part, language, e, bool(sentences))]
            if any(f.asked in known for f in new):
                continue
            known.update(f.asked for f in new)
            own += new
            sentences.append(new[0].sentence)
            while rng.random() < filler * 0.6:
                sentences.append(_filler(rng, part, language))
        texts.append((e, _lay_out(rng, e, own, sentences)))
        facts += [(n, fact) for fact in own]
    return texts, facts


def _similar_thing(rng, part, language, things):
    """Another thing; sometimes one whose name begins like that of an earlier thing."""
    while True:
        e = thing(rng, part, language)
        if things and rng.random() < 0.2 and " " in things[-1]:
            e = f"{things[-1].split()[0]} {name_word(rng, part)}"
        if e not in things:
            return e


def _intro(rng, part, language, e):
    kind = kind_of_thing(rng, part, language)
    one = f"{'eine' if kind[-1] == 'f' else 'ein'} {kind[0]}"
    template = one_of(rng, part, _INTROS[language])
    return template.format(e=e, k=kind[0], ein_k=one, l=name_word(rng, part))


def _filler(rng, part, language):
    if rng.random() < 0.5:
        words = [made_up_word(rng, part) for _ in range(rng.randint(3, 9))]
        if part == TRAIN and rng.random() < 0.5:
            words = [capital(word) if rng.random() < 0.25 else word for word in (*words, *other_words(rng, language).split())]
            rng.shuffle(words)
        text = " ".join(words)
    else:
        text = rng.choice(choose_part(LEXICON[language].FILLERS, part))
    return capital(text) + "."


def _lay_out(rng, e, facts, sentences):
    """Prose mostly; sometimes a heading with a list of attributes."""
    if rng.random() < 0.12 and facts:
        return "\n".join([e, *dict.fromkeys(f"- {fact.line}" for fact in facts)])
    return " ".join(sentences) or e


def _unanswerable(rng, part, language, facts):
    """A question that no passage answers: of an event that they tell of, another thing's, or another attribute's, or both."""
    absent = absent_event_questions(rng, part, language, facts)
    if absent and rng.random() < 0.4:
        return rng.choice(absent)
    present = {(fact.question.thing, fact.question.word) for fact in facts}
    things, questions = [fact.question.thing for fact in facts], []
    while not questions:
        e = rng.choice(things) if things and rng.random() < 0.6 else thing(rng, part, language)
        new = event_facts(rng, part, language, e) if rng.random() < 0.3 else [attribute_fact(rng, part, language, e, False)]
        if things and e not in things and rng.random() < 0.6:
            questions = [rng.choice(facts).question.about(e)]
        else:
            questions = [fact.question for fact in new if (e, fact.question.word) not in present]
    return rng.choice(questions)


class _Layout:
    """How one conversation presents its instruction, passages and questions."""

    def __init__(self, rng, part, language, passages):
        spoken = "en" if rng.random() < 0.2 else language
        self._rng, self._language = rng, language
        self._mark = rng.choice(_QUESTION_MARKS[language])
        self._instruction = garble(rng, part, spoken, one_of(rng, part, _INSTRUCTIONS[spoken]), 0.2)
        numbering, between = rng.choice(_NUMBERINGS), rng.choice(("\n", "\n\n", "\n\n", "\n---\n"))
        heading = rng.choice(_HEADINGS[spoken])
        self._numbering = numbering
        self._listed = [self._numbered(numbering, i, *passage, part) for i, passage in enumerate(passages, 1)]
        listed = between.join(self._listed)
        self._passages = f"{heading}\n{listed}" if heading else listed

    def _numbered(self, numbering, i, title, text, part):
        rng = self._rng
        file = f"{made_up_word(rng, part)}{rng.choice(('.pdf', '.md', '.docx', '.txt', ''))}"
        page = f"{rng.choice(('page', 'p.', 'Seite', 'S.'))} {rng.randint(1, 300)}"
        return numbering.format(i=i, text=text, title=title if rng.random() < 0.7 else file, file=file, page=page)

    def told(self, n, fact):
        """Where training shows that an answer about a fact of passage n comes from."""
        passage = self._listed[n - 1]
        # Another passage may say the same of something else.
        sources = [{**taken, "within": (passage, *taken["within"])} for taken in filter(None, fact.sources) if taken["within"][-1] in passage]
        return {"sources": sources, "number": (passage, self._numbering.index("{i}"))}

    def messages(self, turns):
        rng, first = self._rng, turns[0][0]
        question, where = self._mark + first, rng.random()
        if where < 0.3:
            opening = [("system", self._instruction), ("user", f"{self._passages}\n\n{question}")]
        elif where < 0.5:
            opening = [("system", f"{self._instruction}\n\n{self._passages}"), ("user", first)]
        elif where < 0.65:
            opening = [("user", f"{self._instruction}\n\n{self._passages}\n\n{question}")]
        elif where < 0.75:
            opening = [("user", f"{question}\n\n{self._passages}")]
        elif where < 0.85:
            opening = [("user", f"{self._passages}\n\n{self._instruction}\n\n{question}")]
        elif where < 0.92:
            opening = [("user", f"{self._passages}\n\n{question}")]
        else:
            opening = [("system", self._instruction), ("user", f"{question}\n\n{self._passages}")]
        messages = [{"role": role, "content": content} for role, content in opening]
        for i, (asked, answer) in enumerate(turns):
            if i:
                messages.append({"role": "user", "content": asked})
            messages.append({"role": "assistant", **answer})
        return messages
