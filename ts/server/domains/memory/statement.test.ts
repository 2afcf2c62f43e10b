import t from 'tap';
import { readStatement, saysTheSame, sharesWord, statedDate, textHash } from './statement.ts';

const stated = (text: string, subject?: string) => ({ text, subject, textHash: textHash(text, subject) });
const sameAttribute = (one: string, other: string) => {
  const [a, b] = [readStatement(one, undefined), readStatement(other, undefined)];
  return a.attribute !== undefined && a.attribute === b.attribute && a.value !== b.value;
};

t.test('statements of another value contradict each other, in English and German', async (t) => {
  for (const [one, other] of [
    ['I live in Berlin', 'I moved to Munich yesterday.'],
    ['Ich wohne in Berlin', 'Ich bin nach München gezogen.'],
    ['I live in Berlin', 'The user now lives in Hamburg'],
    ['My favourite colour is blue', 'my favorite colour is now green'],
    ['Meine Lieblingsfarbe ist Blau', 'Meine Lieblingsfarbe ist jetzt Grün.'],
    ['Anna works at Siemens', 'Anna has joined Bosch'],
    ['Anna arbeitet bei Siemens', 'Anna arbeitet jetzt bei Bosch'],
    ['My phone number is 0123', 'My phone number is 0456'],
    ['The deadline of Apollo is Friday', 'The deadline of Apollo is Monday'],
    ['I am 41 years old', 'I am 42 years old'],
  ] as const)
    t.ok(sameAttribute(one, other), `${one} / ${other}`);
});

t.test('look-alikes do not', async (t) => {
  for (const [one, other] of [
    ['I live in Berlin', 'Anna lives in Munich'],
    ['My favourite colour is blue', 'My favourite book is Momo'],
    ['Meine Lieblingsfarbe ist Blau', 'Mein Lieblingsessen ist Pizza'],
    ['I like apples', 'I like pears'],
    ['The deadline of Apollo is Friday', 'The deadline of Gemini is Monday'],
    ["My sister's birthday is 3 May", "My brother's birthday is 4 May"],
    ['I work at Siemens', 'I work as a nurse'],
    ['I speak German', 'I speak French'],
    ['I do not live in Berlin', 'I live in Munich'],
    ['Ich mag Tee', 'Ich mag Kaffee'],
  ] as const)
    t.notOk(sameAttribute(one, other), `${one} / ${other}`);
});

t.test('the same in other words is told from what only looks alike', async (t) => {
  t.ok(saysTheSame(stated('I live in Berlin.'), stated('i  live in berlin')));
  t.ok(saysTheSame(stated('The user lives in Berlin'), stated('I live in Berlin now')));
  t.ok(saysTheSame(stated('My favourite colour is blue'), stated('my favorite color is blue!')));
  t.notOk(saysTheSame(stated('Anna loves Ben'), stated('Ben loves Anna')));
  t.notOk(saysTheSame(stated('I eat meat'), stated('I do not eat meat')));
  t.notOk(saysTheSame(stated('Lives in Berlin', 'Anna'), stated('Lives in Berlin', 'Ben')));
});

t.test('a question shares the word that it asks about, and not those that every question has', async (t) => {
  t.ok(sharesWord('What car do I drive?', 'My car is a Toyota'));
  t.ok(sharesWord('Welches Instrument spiele ich?', 'Ich spiele Trompete'));
  t.notOk(sharesWord('What grows in my garden?', 'My bicycle was stolen in November'));
  t.notOk(sharesWord('Wie heißt mein Hund?', 'Meine Schwester heißt Clara'));
});

t.test('a text says since when it holds, counted from its own date', async (t) => {
  const saidAt = Date.parse('2026-03-10T15:00:00Z');
  for (const [text, day] of [
    ['Yesterday I moved to Munich', '2026-03-09'],
    ['Ich bin vorgestern umgezogen', '2026-03-08'],
    ['I have lived here since 2021', '2021-01-01'],
    ['Seit 2025-07-01 arbeite ich bei Bosch', '2025-07-01'],
    ['We moved 2 weeks ago', '2026-02-24'],
    ['Vor 3 Tagen hatte ich Geburtstag', '2026-03-07'],
  ] as const)
    t.equal(new Date(statedDate(text, saidAt) ?? 0).toISOString().slice(0, 10), day, text);
  t.equal(statedDate('I live in Berlin', saidAt), undefined);
  t.equal(statedDate('It is open since 2031', saidAt), undefined, 'what is to come is no beginning');
});

t.test('the longest texts are read in no time', async (t) => {
  const started = performance.now();
  for (const piece of ['now ', 'my ', 'is ', 'x! ', 'because ', ' of', "i'm "])
    readStatement(piece.repeat(1_000).slice(0, 1_000), undefined);
  t.ok(performance.now() - started < 2_000);
});
