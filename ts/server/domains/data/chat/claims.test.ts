/** An able model answers from its passages; now and then a number, a name, a date or a unit is planted that they do not say. */
import t from 'tap';
import type { SeededRandom } from '../../../../../models/random/seeded-random.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { readQuestion } from '../evidence/asked-question.ts';
import { readPassage } from '../evidence/read-passages.ts';
import { ConsultedPassages } from './consulted-passages.ts';
import { Speaker } from './speaker.ts';
import { passageResult } from './test-support/passage-result.ts';

const speaker = new Speaker('model', 'none');

/** What the citations name, and the whole reply. */
function answered(question: string, passages: readonly string[], answer: string) {
  const asked = readQuestion(question);
  const knowledge = new ConsultedPassages({
    tenant: 'default',
    question: asked,
    relevance: 'found',
    passages: passages.map((text, i) => readPassage(asked, passageResult(text, { documentNo: i, source: `${i}.txt` }))),
    isList: false,
    kept: { count: 0, files: [] },
    speaker,
  });
  const filter = knowledge.newFilter();
  const text = (answer.match(/.{1,5}/gs) ?? []).map((piece) => filter.push(piece)).join('') + filter.conclude();
  const { citations } = knowledge.citationsOf(filter);
  const named = citations.flatMap(({ unsupported = [] }) => unsupported);
  for (const claim of named) t.equal(text.slice(claim.start, claim.end), claim.text);
  return { text, citations, named: named.map((claim) => claim.text) };
}

const KARVO =
  'The lighthouse of Karvo was built on 25 February 1893 and is 41 metres high. Its keeper is Mira Doll, who has 1,200 books and six cats. ' +
  'A ticket costs £6. It is open from Tuesday to Friday, from 9:30 to 17 o’clock.';
const KARVO_DE =
  'Der Leuchtturm von Karvo wurde am 25. Februar 1893 eröffnet und ist 41,5 Meter hoch. Wärterin ist Mira Doll, die 1.200 Bücher und sechs ' +
  'Katzen hat. Eine Karte kostet 6 Euro. Der Turm ist von Dienstag bis Freitag geöffnet, von 9.30 Uhr bis 17 Uhr.';

t.test('what stands in a passage is supported however it is written', async (t) => {
  for (const answer of [
    'It was built on February 25, 1893 [1].',
    'It was built on 1893-02-25 [1].',
    'The lighthouse is 41 m high [1].',
    'The lighthouse is 41-metre high [1].',
    'Mira Doll has 6 cats and 1200 books [1].',
    'The keeper has twelve hundred books [1].',
    'A ticket costs 6 pounds [1].',
    'It is open on Wednesdays, from 9.30 am to 5 pm [1].',
    'The keeper, Mrs Doll, has six cats [1].',
    'Yes: the keeper of the Lighthouse of Karvo is Mira Doll [1].',
    '1. The keeper is Mira Doll [1].\n2. The lighthouse was built in February 1893 [1].',
  ])
    t.strictSame(answered('Who keeps the lighthouse of Karvo?', [KARVO], answer).named, [], answer);
  for (const answer of [
    'Der Turm ist 41,5 m hoch [1].',
    'Er wurde am 25.02.1893 eröffnet [1].',
    'Die Wärterin heißt Mira Doll [1].',
    'Mira Doll besitzt 1200 Bücher und 6 Katzen [1].',
    'Eine Karte kostet sechs Euro [1].',
    'Der Leuchtturm ist mittwochs ab 9:30 Uhr geöffnet [1].',
    'Die Höhe des Turms beträgt 41,5 Meter [1].',
  ])
    t.strictSame(answered('Wer betreut den Leuchtturm von Karvo?', [KARVO_DE], answer).named, [], answer);
});

t.test('what does not stand there is named with its place, and the evidence follows', async (t) => {
  for (const [answer, ...claims] of [
    ['It was built on 25 March 1893 [1].', '25 March 1893'],
    ['It was built in 1894 [1].', '1894'],
    ['The lighthouse is 41 feet high [1].', '41 feet'],
    ['The lighthouse is 410 metres high [1].', '410 metres'],
    ['Mira Doll has seven cats [1].', 'seven'],
    ['Mira Doll has 1.2 books [1].', '1.2'],
    ['A ticket costs £1 [1].', '£1'],
    ['A ticket costs 6 euros [1].', '6 euros'],
    ['The keeper of the lighthouse is Jonas Brandt [1].', 'Jonas Brandt'],
    ['Jonas Brandt keeps the lighthouse [1].', 'Jonas Brandt'],
    ['The lighthouse is open on Sundays [1].', 'Sundays'],
    ['The keeper is Mira Doll [1]. The lighthouse was built in 1899.', '1899'],
  ] as const) {
    const { named, text } = answered('Who keeps the lighthouse of Karvo?', [KARVO], answer);
    t.strictSame(named, claims, answer);
    t.match(text, /From the documents:/, answer);
  }
  for (const [answer, ...claims] of [
    ['Die Wärterin ist Ada Venn [1].', 'Ada Venn'],
    ['Ada Venn betreut den Leuchtturm [1].', 'Ada Venn'],
    ['Der Leuchtturm steht in Brelo [1].', 'Brelo'],
    ['Der Leuchtturm ist 42,5 Meter hoch [1].', '42,5 Meter'],
    ['Er wurde am 25. März 1893 eröffnet [1].', '25. März 1893'],
  ] as const)
    t.strictSame(answered('Wer betreut den Leuchtturm von Karvo?', [KARVO_DE], answer).named, claims, answer);
});

t.test('a sentence may say what several of its passages say, and what the question says', async (t) => {
  const other = 'The bakery of Karvo is run by Jonas Brandt since 1990.';
  const both = 'Mira Doll keeps the lighthouse, and Jonas Brandt has run the bakery since 1990 [1, 2].';
  t.strictSame(answered('Who keeps the lighthouse and the bakery of Karvo?', [KARVO, other], both).named, []);
  const one = 'Mira Doll keeps the lighthouse of Karvo since 1990 [1].';
  t.strictSame(answered('Who keeps the lighthouse of Karvo?', [KARVO, other], one).named, ['1990']);
  t.strictSame(answered('Who has kept the lighthouse of Karvo since 1990?', [KARVO], one).named, []);
});

t.test('a name with a hyphen is the same without one, and a text claims nothing that it does not say', async (t) => {
  const passage = 'Hans Joachim Marseille flew from Riverside-San Bernardino to the Six-time winner of Lake-town on 3 May 1942.';
  for (const answer of [
    'Hans-Joachim Marseille flew there [1].',
    'He flew from Riverside to the Six-time winner [1].',
    `${passage} [1]`,
  ])
    t.strictSame(answered('Who flew to Lake-town?', [passage], answer).named, [], answer);
  t.strictSame(answered('Who flew to Lake-town?', [passage], 'Hans-Peter Marseille flew there [1].').named, ['Peter']);
});

interface Case {
  readonly question: string;
  readonly passage: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const FIRST = ['Mira', 'Jonas', 'Ada', 'Tomas', 'Olga', 'Henrik', 'Selma', 'Viktor', 'Ruth', 'Emil'];
const LAST = ['Doll', 'Brandt', 'Venn', 'Keel', 'Sommer', 'Lindqvist', 'Marchetti', 'Novak', 'Haugen', 'Osei'];
const TOWNS = ['Karvo', 'Brelo', 'Vestrin', 'Oldane', 'Tirsen', 'Quillby', 'Hastra', 'Numark'];
const MONTHS = {
  en: ['January', 'March', 'April', 'May', 'August', 'October', 'December'],
  de: ['Januar', 'März', 'April', 'Mai', 'August', 'Oktober', 'Dezember'],
};
const SMALL = {
  en: ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  de: ['zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun', 'zehn', 'elf', 'zwölf'],
};
const THINGS = {
  en: ['lighthouse', 'library', 'mill', 'ferry', 'museum', 'bakery'],
  de: ['Leuchtturm', 'Speicher', 'Bahnhof', 'Kran', 'Garten', 'Hafen'],
};

function makeCase(language: 'en' | 'de', random: SeededRandom): Case {
  const two = <T>(items: readonly T[]): [T, T] => {
    const at = random.integer(items.length);
    return [items[at] as T, items[(at + 1 + random.integer(items.length - 1)) % items.length] as T];
  };
  const integer = (from: number, below: number) => from + random.integer(below - from);
  const [first, otherFirst] = two(FIRST);
  const [last, otherLast] = two(LAST);
  const [town, otherTown] = two(TOWNS);
  const [month, otherMonth] = two(MONTHS[language]);
  const [small, otherSmall] = two(SMALL[language]);
  const [thing] = two(THINGS[language]);
  const digit = SMALL[language].indexOf(small) + 2;
  const otherDigit = SMALL[language].indexOf(otherSmall) + 2;
  const [year, otherYear] = [integer(1800, 1900), integer(1900, 2020)];
  const [day, otherDay] = [integer(13, 20), integer(20, 29)];
  const height = integer(30, 60);
  const n = integer(1, 9) * 1000 + integer(100, 999);
  const grouped = (value: number) =>
    `${Math.floor(value / 1000)}${language === 'en' ? ',' : '.'}${String(value % 1000).padStart(3, '0')}`;
  const at = MONTHS[language].indexOf(month);
  const m = [1, 3, 4, 5, 8, 10, 12][at] ?? 1;
  const pad = (value: number) => String(value).padStart(2, '0');
  const other = `${otherFirst} ${otherLast}`;
  if (language === 'en')
    return {
      question: `What is known of the ${thing} of ${town}?`,
      passage:
        `The ${thing} of ${town} was opened on ${day} ${month} ${year}. It is ${height} metres high and has ${small} doors. ` +
        `${first} ${last} looks after it, and ${grouped(n)} visitors come every year. Entry costs ${digit + 20} euros.`,
      right: [
        `The ${thing} of ${town} was opened on ${month} ${day}, ${year} [1].`,
        `It opened on ${year}-${pad(m)}-${pad(day)} [1].`,
        `The opening was in ${month} ${year} [1].`,
        `It has ${digit} doors and is ${height} m high [1].`,
        `The ${thing} is ${height} meters tall [1].`,
        `Its caretaker is ${first} ${last} [1].`,
        `${last} looks after the ${thing} [1].`,
        `About ${n} people visit it every year [1].`,
        `Visitors pay €${digit + 20} [1].`,
        `According to the passage, ${first} ${last} looks after the ${thing} [1].`,
        `The ${thing} has ${small} doors [1]. It is looked after by ${first} ${last} [1].`,
      ],
      wrong: [
        `The ${thing} of ${town} was opened on ${otherDay} ${month} ${year} [1].`,
        `The ${thing} was opened on ${day} ${otherMonth} ${year} [1].`,
        `The ${thing} was opened in ${otherYear} [1].`,
        `It has ${otherDigit} doors [1].`,
        `The ${thing} has ${otherSmall} doors [1].`,
        `The ${thing} is ${height + 3} metres high [1].`,
        `The ${thing} is ${height} feet high [1].`,
        `The ${thing} is looked after by ${other} [1].`,
        `${other} looks after the ${thing} [1].`,
        `${first} ${otherLast} looks after the ${thing} [1].`,
        `The ${thing} stands in ${otherTown} [1].`,
        `Every year ${grouped(n + 7)} visitors come [1].`,
        `Entry costs ${digit + 20} dollars [1].`,
        `Entry costs ${digit + 21} euros [1].`,
      ],
    };
  return {
    question: `Was ist über den ${thing} von ${town} bekannt?`,
    passage:
      `Der ${thing} von ${town} wurde am ${day}. ${month} ${year} eröffnet. Er ist ${height} Meter hoch und hat ${small} Türen. ` +
      `${first} ${last} betreut ihn, und jedes Jahr kommen ${grouped(n)} Besucher. Der Eintritt kostet ${digit + 20} Euro.`,
    right: [
      `Der ${thing} von ${town} wurde am ${pad(day)}.${pad(m)}.${year} eröffnet [1].`,
      `Die Eröffnung war im ${month} ${year} [1].`,
      `Eröffnet wurde er am ${day}. ${month} ${year} [1].`,
      `Er hat ${digit} Türen und ist ${height} m hoch [1].`,
      `Die Höhe beträgt ${height} Meter [1].`,
      `Um den ${thing} kümmert sich ${first} ${last} [1].`,
      `Betreut wird der ${thing} von ${first} ${last} [1].`,
      `Herr ${last} betreut den ${thing} [1].`,
      `Pro Jahr kommen ${n} Besucher [1].`,
      `Eine Karte kostet ${digit + 20} € [1].`,
      `Laut Dokument betreut ${first} ${last} den ${thing} [1].`,
      `Der ${thing} besitzt ${small} Türen [1]. Für die Pflege ist ${first} ${last} zuständig [1].`,
    ],
    wrong: [
      `Der ${thing} von ${town} wurde am ${otherDay}. ${month} ${year} eröffnet [1].`,
      `Der ${thing} wurde am ${day}. ${otherMonth} ${year} eröffnet [1].`,
      `Der ${thing} wurde ${otherYear} eröffnet [1].`,
      `Er hat ${otherDigit} Türen [1].`,
      `Der ${thing} hat ${otherSmall} Türen [1].`,
      `Der ${thing} ist ${height + 3} Meter hoch [1].`,
      `Der ${thing} ist ${height} Zentimeter hoch [1].`,
      `Der ${thing} wird von ${other} betreut [1].`,
      `${other} betreut den ${thing} [1].`,
      `${first} ${otherLast} betreut den ${thing} [1].`,
      `Der ${thing} steht in ${otherTown} [1].`,
      `Jedes Jahr kommen ${grouped(n + 7)} Besucher [1].`,
      `Der Eintritt kostet ${digit + 20} Dollar [1].`,
      `Der Eintritt kostet ${digit + 21} Euro [1].`,
    ],
  };
}

const N_CASES = 30;
const LEAST_NAMED = 0.95;
const MOST_FLAGGED = 0.02;

t.test('of what is planted at least 95 % are named, of what is right at most 2 %', async (t) => {
  for (const language of ['en', 'de'] as const) {
    const missed: string[] = [];
    const flagged: string[] = [];
    for (let i = 0; i < N_CASES; i++) {
      const { question, passage, right, wrong } = makeCase(language, random);
      for (const answer of wrong) if (answered(question, [passage], answer).named.length === 0) missed.push(answer);
      for (const answer of right) if (answered(question, [passage], answer).named.length > 0) flagged.push(answer);
    }
    const { right, wrong } = makeCase(language, random);
    const share = { named: 1 - missed.length / (N_CASES * wrong.length), flagged: flagged.length / (N_CASES * right.length) };
    t.comment(`${language}: ${JSON.stringify(share)}`);
    t.ok(share.named >= LEAST_NAMED, `${language}: missed ${missed.slice(0, 12).join(' | ')}`);
    t.ok(share.flagged <= MOST_FLAGGED, `${language}: flagged ${flagged.slice(0, 12).join(' | ')}`);
  }
});
