/** Documents of made-up places, with a fact on each page that can be asked for, and its near-duplicate in the account of another year. */
import { SeededRandom } from '../../random/seeded-random.ts';

export interface PlantedPage {
  readonly heading: string;
  /** The fact stands in one of them. */
  readonly sentences: readonly string[];
  /** Asks for the fact in other words; the place and the year are named. */
  readonly question: string;
  /** Asks for another fact of the page in its own words, as the smallest models need it. */
  readonly literalQuestion: string;
}

export interface PlantedDocument {
  readonly title: string;
  readonly pages: readonly PlantedPage[];
}

interface Plantation {
  readonly documents: readonly PlantedDocument[];
  /** What no page says: of places that are in none, and of what is not told of those that are. */
  readonly unanswerable: readonly { readonly question: string; readonly isOfKnownPlace: boolean }[];
}

interface Topic {
  readonly heading: string;
  readonly fact: (place: string, year: number, value: string) => string;
  readonly question: (place: string, year: number) => string;
  readonly value: 'number' | 'person' | 'firm';
}

const TOPICS: readonly Topic[] = [
  {
    heading: 'The light',
    fact: (place, year, value) => `The lighthouse of ${place} was kept by ${value} in ${year}.`,
    question: (place, year) => `Who looked after the lighthouse of ${place} in ${year}?`,
    value: 'person',
  },
  {
    heading: 'Traffic',
    fact: (place, year, value) => `In ${year} there were ${value} ships that called at the quay of ${place}.`,
    question: (place, year) => `How many vessels came to the quay of ${place} during ${year}?`,
    value: 'number',
  },
  {
    heading: 'Berths',
    fact: (place, year, value) => `A berth in ${place} cost ${value} crowns a night in ${year}.`,
    question: (place, year) => `What had to be paid for one night at a berth in ${place} in ${year}?`,
    value: 'number',
  },
  {
    heading: 'Fires',
    fact: (place, year, value) => `The fire brigade of ${place} answered ${value} alarms in ${year}.`,
    question: (place, year) => `How often was the fire brigade of ${place} called out in ${year}?`,
    value: 'number',
  },
  {
    heading: 'The school',
    fact: (place, year, value) => `The school of ${place} taught ${value} pupils in ${year}.`,
    question: (place, year) => `How many children went to the school of ${place} in ${year}?`,
    value: 'number',
  },
  {
    heading: 'Bread',
    fact: (place, year, value) => `Bakers of ${place} sold ${value} loaves of rye bread a week in ${year}.`,
    question: (place, year) => `How much rye bread was bought each week in ${place} in ${year}?`,
    value: 'number',
  },
  {
    heading: 'Fuel',
    fact: (place, year, value) => `Coal for the tugs of ${place} came from the firm ${value} in ${year}.`,
    question: (place, year) => `Which company supplied the tugs of ${place} with coal in ${year}?`,
    value: 'firm',
  },
  {
    heading: 'The pier',
    fact: (place, year, value) => `Repairs of the pier of ${place} were led by the engineer ${value} in ${year}.`,
    question: (place, year) => `Who was in charge of mending the pier of ${place} in ${year}?`,
    value: 'person',
  },
  {
    heading: 'Reading',
    fact: (place, year, value) => `The library of ${place} lent ${value} books in ${year}.`,
    question: (place, year) => `How many volumes did people borrow from the library of ${place} in ${year}?`,
    value: 'number',
  },
  {
    heading: 'The mill',
    fact: (place, year, value) => `The mill of ${place} was leased to ${value} in ${year}.`,
    question: (place, year) => `Who rented the mill of ${place} in ${year}?`,
    value: 'person',
  },
];

/** What is told of each place in the words of the question. */
const LITERAL = [
  ...['keeper of the lighthouse', 'owner of the ferry', 'captain of the tug', 'master of the school', 'head of the brigade'],
  ...['warden of the pier', 'baker of the market', 'clerk of the council', 'leader of the choir', 'doctor of the clinic'],
] as const;

const ASIDES: readonly ((place: string, year: number) => string)[] = [
  (place, year) => `This page belongs to the account that the council of ${place} gives of the year ${year}.`,
  () => 'The figures were compared with the books by two members who are not of the council.',
  (place) => `As before, the clerk of ${place} wrote down what was reported, and added nothing.`,
  () => 'Whoever finds a mistake may tell the clerk, who will have it looked at before the next meeting.',
  (_, year) => `Weather and prices of ${year} are told in the almanac, and are not repeated here.`,
  () => 'What was decided later is found in the minutes, which anybody may ask for at the town hall.',
  (place, year) => `The council of ${place} approved this part of the account in the autumn of ${year}.`,
  () => 'Smaller matters were left out where they cost less than the paper that they would take.',
];

const UNTOLD: readonly ((place: string, year: number) => string)[] = [
  (place, year) => `Which football team won the tournament of ${place} in ${year}?`,
  (place, year) => `How many dentists had a practice in ${place} in ${year}?`,
  (place, year) => `What was the telephone number of the veterinary clinic of ${place} in ${year}?`,
  (place, year) => `Who composed the opera that the theatre of ${place} performed in ${year}?`,
];

const PAGES = 8;
const YEARS = [1923, 1924] as const;

export function plant(nPlaces: number, seed: number): Plantation {
  const random = new SeededRandom(seed);
  const names = new Set<string>();
  while (names.size < nPlaces * 2) names.add(madeUpName(random));
  const places = [...names];
  const documents = places.slice(0, nPlaces).flatMap((place) => {
    const topics = shuffled(random, TOPICS).slice(0, PAGES);
    return YEARS.map((year) => ({
      title: `Account of ${place}, ${year}`,
      pages: shuffled(random, topics).map((topic, i) => pageOf(random, topic, LITERAL[i] ?? LITERAL[0], place, year)),
    }));
  });
  const unknown = places.slice(nPlaces).flatMap((place, i) => {
    const topic = TOPICS[i % TOPICS.length] as Topic;
    return [{ question: topic.question(place, YEARS[i % 2] as number), isOfKnownPlace: false }];
  });
  const untold = places.slice(0, nPlaces).map((place, i) => {
    const ask = UNTOLD[i % UNTOLD.length] as (place: string, year: number) => string;
    return { question: ask(place, YEARS[i % 2] as number), isOfKnownPlace: true };
  });
  return { documents, unanswerable: [...unknown, ...untold] };
}

function pageOf(
  random: SeededRandom,
  { heading, fact, question, value }: Topic,
  literal: string,
  place: string,
  year: number,
): PlantedPage {
  const said = fact(place, year, drawValue(random, value));
  const asides = shuffled(random, ASIDES)
    .slice(0, 4)
    .map((write) => write(place, year));
  const at = random.integer(asides.length + 1);
  const role = `The ${literal} of ${place} in ${year} is ${madeUpName(random)} ${madeUpName(random)}.`;
  const literalQuestion = `Who is the ${literal} of ${place} in ${year}?`;
  return { heading, sentences: [...asides.toSpliced(at, 0, said), role], question: question(place, year), literalQuestion };
}

function drawValue(random: SeededRandom, kind: Topic['value']): string {
  if (kind === 'number') return String(11 + random.integer(900));
  return `${madeUpName(random)} ${kind === 'person' ? madeUpName(random) : 'and Sons'}`;
}

function madeUpName(random: SeededRandom): string {
  const onset = () => random.pick(['b', 'br', 'd', 'dr', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'w']);
  const vowel = () => random.pick(['a', 'e', 'i', 'o', 'u']);
  const name = `${onset()}${vowel()}${random.pick(['l', 'm', 'n', 'r', 's', 't'])}${onset()}${vowel()}${random.pick(['n', 'r', 's', '', 'm'])}`;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function shuffled<T>(random: SeededRandom, list: readonly T[]): T[] {
  return list
    .map((item) => [random.next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
