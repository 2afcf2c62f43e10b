import fc from 'fast-check';
import t from 'tap';
import { type AskedKind, askedKindOf, saysKind } from './asked-kind.ts';
import { WordSet } from './word-forms.ts';

t.test('what kind of thing is asked for is told in several languages', async (t) => {
  for (const [question, kind] of [
    ['When was it built?', 'date'],
    ['In what year did it end?', 'date'],
    ['Wann wurde er gebaut?', 'date'],
    ['Когда он родился?', 'date'],
    ['它是什么时候建的？', 'date'],
    ['How many rooms has it?', 'quantity'],
    ['Wie viele Zimmer hat es?', 'quantity'],
    ['Сколько комнат?', 'quantity'],
    ['How expensive was it?', 'price'],
    ['Was kostet er?', 'price'],
    ['Wie oft wird er gewartet?', 'frequency'],
    ['What colour is the door?', 'colour'],
    ['An welchem Tag ist er zu?', 'weekday'],
    ['Welcher Tag ist frei?', 'weekday'],
    ['Where does it stand?', 'place'],
    ['Wo steht er?', 'place'],
    ['Who keeps it?', 'person'],
    ['Wer betreut ihn?', 'person'],
    ['Tell me about it', undefined],
  ] as [string, AskedKind | undefined][])
    t.equal(askedKindOf(question), kind, question);
});

t.test('a sentence says such a thing, may, or says none', async (t) => {
  const says = (kind: AskedKind, sentence: string, question = 'What is it?') =>
    saysKind(kind, sentence, question, new WordSet(question));
  for (const [kind, sentence, expected] of [
    ['date', 'It was built in 1893.', 1],
    ['date', 'It has 12 rooms.', 0],
    ['date', 'It is green.', -1],
    ['quantity', 'It has 12 rooms.', 1],
    ['quantity', 'It was bought in 1969.', 0],
    ['quantity', 'It has three rooms.', 0],
    ['quantity', 'It is green.', -1],
    ['person', 'Its keeper is Mira Doll.', 1],
    ['person', 'Nobody keeps it.', -1],
    ['price', 'It cost 12,500 pounds.', 1],
    ['weekday', 'It is closed on Sundays.', 1],
    ['colour', 'Die Tür ist dunkelrot.', 1],
    ['frequency', 'It is serviced every 11 months.', 1],
  ] as [AskedKind, string, number][])
    t.equal(says(kind, sentence), expected, `${kind}: ${sentence}`);
  t.equal(says('date', 'It was so in 1893.', 'What was in 1893?'), -1, 'the question’s own number answers nothing');
});

t.test('any text is judged', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      (question, sentence) => {
        const kind = askedKindOf(question) ?? 'person';
        saysKind(kind, sentence, question, new WordSet(question.toWellFormed()));
      },
    ),
    { numRuns: 500 },
  );
});
