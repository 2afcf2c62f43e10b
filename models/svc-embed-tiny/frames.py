"""Sentences and questions with gaps (_) for words of content."""

STATEMENTS = {
    'en': '''The _ of _ was _ by the _ in _.
In _, the _ _ became the first _ to _ the _.
_ and _ are known for their _ and for the _ that they _.
After the _, _ was able to _ the _ with a _ of _.
Most of the _ in the _ were _, while others _ into _.
It has been _ that the _ _ of _ _ more than _ _.
Although _ had _ the _, the _ was still _ at the time.
The _ _ is located between _ and _, where a _ _ was _.
During the _, several _ of the _ _ were _ by _.
Its _ is _ to the _ _, which _ about _ _ every _.
There are _ _ in _, including the _, the _ and the _.
_ _ the _ because of its _ and its _ _.
By _, the _ had _ a _ that _ the _ of the _.
Unlike the _, _ does not _ any _ without a _.
As a _, it _ both the _ and the _ of _.
Under _, the _ was _ and a new _ was _ at _.
The largest _ of the _ is the _ _, with _ _.
They _ the _ from _ to _ and _ it as a _ of _.
Many _ believe that _ would _ the _ if the _ were _.
When the _ _, it can be _ with _ or a _.''',
    'de': '''Der _ von _ wurde im _ durch die _ _.
Im Jahr _ wurde die _ _ zum ersten _, der das _ _.
_ und _ sind für ihre _ und für das _ bekannt, das sie _.
Nach dem _ konnte _ den _ mit einer _ von _ _.
Die meisten _ in der _ waren _, während andere in _ _.
Es wurde _, dass der _ _ von _ mehr als _ _ _.
Obwohl _ die _ _ hatte, war der _ damals noch _.
Die _ _ liegt zwischen _ und _, wo ein _ _ wurde.
Während der _ wurden mehrere _ des _ von _ _.
Sein _ ist der _ _, die etwa _ _ in jedem _ _.
Es gibt _ _ in _, darunter der _, die _ und das _.
_ _ den _ wegen seiner _ und seines _ _.
Bis _ hatte der _ eine _ _, die das _ der _ _.
Anders als die _ _ _ keine _ ohne einen _.
Als _ _ es sowohl die _ als auch den _ von _.
Unter _ wurde der _ _ und eine neue _ bei _ _.
Der größte _ der _ ist die _ _ mit _ _.
Sie _ den _ von _ nach _ und _ ihn als _ der _.
Viele _ glauben, dass _ die _ _ würde, wenn der _ _ wäre.
Wenn die _ _, kann sie mit _ oder einem _ _ werden.''',
}

QUESTIONS = {
    'en': '''What is the _?
Which _ was _ by _?
Who _ the _ of _?
When did _ _ the _?
How many _ did the _ _ in _?
Where was the _ of the _ _?
What did _ _ after the _?
Why was the _ of _ _?
How much _ does a _ _?
In what _ did the _ _ _?
What is the name of the _ that _ _?
Along with _, what _ the _?
What are _ _ called?
_ of _''',
    'de': '''Was ist der _?
Welche _ wurde von _ _?
Wer _ die _ von _?
Wann _ _ den _?
Wie viele _ _ die _ in _?
Wo wurde der _ der _ _?
Was _ _ nach dem _?
Warum wurde die _ von _ _?
Wie viel _ hat ein _ _?
In welchem _ _ der _ _?
Wie heißt der _, der _ _?
Was _ neben _ den _?
Wie nennt man _ _?
_ der _''',
}


def frames(texts):
    return {language: text.splitlines() for language, text in texts.items()}


def fill(frame, words):
    """The frame with its gaps filled in turn; gaps that are left over go, words that are left over follow."""
    words = list(words)
    parts = frame.split('_')
    text = parts[0]
    for part in parts[1:]:
        text += (words.pop(0) if words else '') + part
    return ' '.join([text, *words])
