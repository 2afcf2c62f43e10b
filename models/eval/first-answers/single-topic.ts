/**
 * Bases of a single topic with invented names: every document has the name of the thing, so that no word of it is rare, and each question uses
 * other words than its answer. Some documents are there twice, word for word or as copies that were edited.
 */
import { SeededRandom } from '../../random/seeded-random.ts';
import type { QuestionSet } from './question-set.ts';

const NAMES = ['Marlow', 'Vestrin', 'Karvo', 'Oldane', 'Brelo', 'Tirsen', 'Quillby', 'Hastra', 'Numark', 'Pellworth'];
const THINGS = {
  en: ['boiler', 'printer', 'tower', 'ferry', 'press', 'archive'],
  de: ['Kessel', 'Drucker', 'Turm', 'Kran', 'Ofen', 'Roboter'],
} as const;
const PLACES = {
  en: ['in the cellar', 'behind the kitchen', 'on the third floor'],
  de: ['im Keller', 'hinter der Küche', 'im dritten Stock'],
};
const PEOPLE = ['Mira Doll', 'Jonas Brandt', 'Ada Venn', 'Tomas Keel'];
const COLOURS = { en: ['green', 'dark red', 'pale blue'], de: ['grün', 'dunkelrot', 'hellblau'] };

export type TopicLanguage = keyof typeof THINGS;

interface Fact {
  readonly document: string;
  readonly question: string;
  readonly answer: string;
}

export function singleTopic(language: TopicLanguage, seed: number): QuestionSet {
  const facts = drawFacts(language, seed);
  const checked = language === 'en' ? 'Checked again.' : 'Erneut geprüft.';
  const copies = [`${facts[0]?.document} ${checked}`, `${facts[1]?.document} ${checked}`, `${facts[2]?.document}`];
  return {
    paragraphs: [...facts.map(({ document }) => document), ...copies],
    answerable: facts.map(({ question, answer }, i) => {
      return { text: question, answers: [answer], answeredBy: i < copies.length ? [i, facts.length + i] : [i] };
    }),
    unanswerable: [],
  };
}

/** Bases of two documents about one thing: what was asked first when nothing was found, and others made like it. */
export function pairsOfDocuments(language: TopicLanguage, count: number): QuestionSet[] {
  return Array.from({ length: count }, (_, i) => {
    const facts = drawFacts(language, 100 + i);
    const [asked, other] = [facts[i % facts.length], facts[(i + 3) % facts.length]] as [Fact, Fact];
    return {
      paragraphs: [asked.document, other.document],
      answerable: [{ text: asked.question, answers: [asked.answer], answeredBy: [0] }],
      unanswerable: [],
    };
  });
}

/** A word of all documents seemed to say nothing, and “where” to say all. */
export const MARLOW: QuestionSet = {
  paragraphs: [
    'The Marlow boiler is in the cellar below the kitchen. The Marlow boiler was bought in 2011.',
    'The Marlow boiler is serviced in May. Whoever opens the Marlow boiler needs a key.',
  ],
  answerable: [{ text: 'Where does the Marlow boiler stand?', answers: ['in the cellar'], answeredBy: [0] }],
  unanswerable: [],
};

function drawFacts(language: TopicLanguage, seed: number): Fact[] {
  const random = new SeededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[random.integer(items.length)] as T;
  const values: Values = {
    thing: `${pick(NAMES)} ${pick(THINGS[language])}`,
    place: pick(PLACES[language]),
    person: pick(PEOPLE),
    colour: pick(COLOURS[language]),
    year: String(1950 + random.integer(70)),
    litres: String(100 + random.integer(900)),
    months: String(2 + random.integer(20)),
    price: `${1 + random.integer(90)},${100 + random.integer(900)}`,
  };
  return language === 'en' ? english(values) : german(values);
}

interface Values {
  readonly thing: string;
  readonly place: string;
  readonly person: string;
  readonly colour: string;
  readonly year: string;
  readonly litres: string;
  readonly months: string;
  readonly price: string;
}

function english({ thing, place, person, colour, year, litres, months, price }: Values): Fact[] {
  return [
    fact(`The ${thing} is ${place}. The ${thing} may be used by all.`, `Where does the ${thing} stand?`, place),
    fact(`The ${thing} was bought in ${year}. The ${thing} was new then.`, `When did we get the ${thing}?`, year),
    fact(`${person} looks after the ${thing}. The ${thing} needs a key.`, `Who is responsible for the ${thing}?`, person),
    fact(`The door of the ${thing} is ${colour}. The ${thing} has one door.`, `What colour does the ${thing} have?`, colour),
    fact(`The ${thing} holds ${litres} litres. The ${thing} is never full.`, `How much fits into the ${thing}?`, litres),
    fact(
      `The ${thing} is serviced every ${months} months. The ${thing} is then off.`,
      `How often is the ${thing} maintained?`,
      months,
    ),
    fact(`The ${thing} cost ${price} pounds. The ${thing} is paid.`, `How expensive was the ${thing}?`, price),
    fact(`The ${thing} burns wood pellets. The ${thing} makes little ash.`, `Which fuel does the ${thing} take?`, 'wood pellets'),
    fact(
      `Nobody may open the ${thing} on Sundays. The ${thing} is loud.`,
      `On which day must the ${thing} stay closed?`,
      'Sundays',
    ),
    fact(
      `The manual of the ${thing} lies in room 12. The ${thing} has no other.`,
      `Where do I find the manual of the ${thing}?`,
      'room 12',
    ),
  ];
}

function german({ thing, place, person, colour, year, litres, months, price }: Values): Fact[] {
  return [
    fact(`Der ${thing} ist ${place}. Der ${thing} darf von allen benutzt werden.`, `Wo steht der ${thing}?`, place),
    fact(`Der ${thing} wurde ${year} gekauft. Der ${thing} war damals neu.`, `Wann haben wir den ${thing} bekommen?`, year),
    fact(`${person} betreut den ${thing}. Der ${thing} braucht einen Schlüssel.`, `Wer ist für den ${thing} zuständig?`, person),
    fact(`Die Tür vom ${thing} ist ${colour}. Der ${thing} hat eine Tür.`, `Welche Farbe hat der ${thing}?`, colour),
    fact(`In den ${thing} passen ${litres} Liter. Der ${thing} ist nie voll.`, `Wie viel fasst der ${thing}?`, litres),
    fact(
      `Der ${thing} wird alle ${months} Monate gewartet. Der ${thing} ist dann aus.`,
      `Wie oft ist beim ${thing} Wartung?`,
      months,
    ),
    fact(`Der ${thing} hat ${price} Euro gekostet. Der ${thing} ist bezahlt.`, `Wie teuer war der ${thing}?`, price),
    fact(`Der ${thing} verbrennt Pellets. Der ${thing} macht wenig Asche.`, `Welchen Brennstoff nimmt der ${thing}?`, 'Pellets'),
    fact(
      `Niemand darf den ${thing} sonntags öffnen. Der ${thing} ist laut.`,
      `An welchem Tag bleibt der ${thing} zu?`,
      'sonntags',
    ),
    fact(
      `Die Anleitung vom ${thing} liegt in Raum 12. Der ${thing} hat keine andere.`,
      `Wo finde ich die Anleitung zum ${thing}?`,
      'Raum 12',
    ),
  ];
}

function fact(document: string, question: string, answer: string): Fact {
  return { document, question, answer };
}
