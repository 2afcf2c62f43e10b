/** Small tasks that tell what a model can do. Names and numbers are invented for each probe, so that nothing can be known beforehand. */
import type { Prompt } from '../../../native/llama-shapes.ts';
import type { Ability } from './abilities.ts';

export interface ProbeAnswer {
  readonly text: string;
  /** The first call; undefined: none was made. */
  readonly call: { readonly name: string; readonly arguments: string } | undefined;
}

export interface ProbeTask {
  readonly prompt: Extract<Prompt, { kind: 'chat' }>;
  readonly jsonSchema?: string;
  /** The checks of an answer, for each ability that the task is for. */
  readonly checks: Partial<Record<Ability, (answer: ProbeAnswer) => boolean>>;
}

type Random = (below: number) => number;

/** The sentences of one language. */
interface Phrases {
  readonly instruction: string;
  readonly fact: (town: string, year: number) => string;
  readonly question: (town: string) => string;
  /** Asks for something that no passage says. */
  readonly otherQuestion: (town: string) => string;
  readonly person: (name: string, age: number, town: string) => string;
  readonly weather: (town: string) => string;
  readonly dog: (name: string) => string;
  readonly reply: string;
  readonly dogQuestion: string;
}

const PHRASES: readonly Phrases[] = [
  {
    instruction:
      'Answer from the numbered passages alone, in one sentence, and put the number of the passage in square brackets behind it, for example [2]. If the passages do not say it, answer: "The passages do not say."',
    fact: (town, year) => `The harbour of ${town} was opened in ${year}.`,
    question: (town) => `When was the harbour of ${town} opened?`,
    otherQuestion: (town) => `Who built the harbour of ${town}?`,
    person: (name, age, town) => `${name} is ${age} years old and lives in ${town}. Give the name, the age and the town.`,
    weather: (town) => `What is the weather in ${town} now? Use the tool.`,
    dog: (name) => `My dog is called ${name}.`,
    reply: 'What a nice name!',
    dogQuestion: 'What is my dog called?',
  },
  {
    instruction:
      'Antworte nur aus den nummerierten Passagen, in einem Satz, und setze die Nummer der Passage in eckigen Klammern dahinter, zum Beispiel [2]. Sagen die Passagen es nicht, antworte: „Die Passagen sagen es nicht.“',
    fact: (town, year) => `Der Hafen von ${town} wurde im Jahr ${year} eröffnet.`,
    question: (town) => `Wann wurde der Hafen von ${town} eröffnet?`,
    otherQuestion: (town) => `Wer hat den Hafen von ${town} gebaut?`,
    person: (name, age, town) => `${name} ist ${age} Jahre alt und wohnt in ${town}. Nenne Namen, Alter und Ort.`,
    weather: (town) => `Wie ist das Wetter in ${town} gerade? Nutze das Werkzeug.`,
    dog: (name) => `Mein Hund heißt ${name}.`,
    reply: 'Was für ein schöner Name!',
    dogQuestion: 'Wie heißt mein Hund?',
  },
];

const DENIAL = /\b(?:not|no|never|nicht|kein\w*|nichts|unbekannt|unknown|\w+n['’]t)\b/iu;
const MARK = /\[(\d+)\]/g;
const N_PASSAGES = 3;
/** The tasks of each kind and language; questions from passages are twice as many, since two abilities are read from them. */
const ROUNDS = 2;

/** 24 tasks, those of one ability far from each other: whoever ends early knows something of each. */
export function makeProbeTasks(seed: number): ProbeTask[] {
  const random = randomOf(seed);
  const kinds = [fromPassages, beyondPassages, bySchema, byTool, fromPassages, twoTurns];
  return Array.from({ length: ROUNDS }, () => kinds.flatMap((kind) => PHRASES.map((phrases) => kind(phrases, random)))).flat();
}

function fromPassages(phrases: Phrases, random: Random): ProbeTask {
  const { towns, years, text } = passages(phrases, random);
  const asked = random(N_PASSAGES);
  return {
    prompt: chat([
      ['system', phrases.instruction],
      ['user', `${text}\n\n${phrases.question(towns[asked] ?? '')}`],
    ]),
    checks: {
      answers: (answer) => years.every((year, i) => answer.text.includes(String(year)) === (i === asked)),
      cites: (answer) => {
        const marks = [...answer.text.matchAll(MARK)].map(([, number]) => Number(number));
        return marks.length > 0 && marks.every((mark) => mark === asked + 1);
      },
    },
  };
}

function beyondPassages(phrases: Phrases, random: Random): ProbeTask {
  const { towns, years, text } = passages(phrases, random);
  return {
    prompt: chat([
      ['system', phrases.instruction],
      ['user', `${text}\n\n${phrases.otherQuestion(towns[random(N_PASSAGES)] ?? '')}`],
    ]),
    checks: {
      denies: ({ text: said }) => DENIAL.test(said) && !years.some((year) => said.includes(String(year))),
    },
  };
}

function bySchema({ person }: Phrases, random: Random): ProbeTask {
  const [name, town, age] = [invented(random), invented(random), 20 + random(60)];
  const properties = { name: { type: 'string' }, age: { type: 'integer' }, town: { type: 'string' } };
  return {
    prompt: chat([['user', person(name, age, town)]]),
    jsonSchema: JSON.stringify({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    }),
    checks: {
      follows_schema: ({ text }) => {
        const said = parsed(text);
        return said?.['name'] === name && said['age'] === age && said['town'] === town;
      },
    },
  };
}

function byTool({ weather }: Phrases, random: Random): ProbeTask {
  const town = invented(random);
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tool = { name: 'get_weather', description: 'Tells the weather in a city.', parameters };
  return {
    prompt: {
      ...chat([['user', weather(town)]]),
      toolsJson: JSON.stringify([{ type: 'function', function: tool }]),
      toolChoice: 'auto',
    },
    checks: {
      calls_tools: ({ call }) => call?.name === tool.name && parsed(call.arguments)?.['city'] === town,
    },
  };
}

function twoTurns({ dog, reply, dogQuestion }: Phrases, random: Random): ProbeTask {
  const name = invented(random);
  return {
    prompt: chat([
      ['user', dog(name)],
      ['assistant', reply],
      ['user', dogQuestion],
    ]),
    checks: { refers: ({ text }) => text.includes(name) },
  };
}

function passages({ fact }: Phrases, random: Random): { towns: string[]; years: number[]; text: string } {
  const named = new Set<string>();
  while (named.size < N_PASSAGES) named.add(invented(random));
  const towns = [...named];
  // Different ones, whatever is added to the first.
  const years = towns.map((_, i) => 1700 + 90 * i + random(80));
  return { towns, years, text: towns.map((town, i) => `[${i + 1}] ${fact(town, years[i] ?? 0)}`).join('\n') };
}

function chat(messages: readonly [role: string, content: string][]): ProbeTask['prompt'] {
  return {
    kind: 'chat',
    messagesJson: JSON.stringify(messages.map(([role, content]) => ({ role, content }))),
    enableThinking: false,
  };
}

const SYLLABLES = ['ka', 'lo', 'mi', 'ren', 'tu', 'vor', 'sel', 'dra', 'nim', 'po', 'gar', 'fel'];

function invented(random: Random): string {
  const [first = '', ...rest] = Array.from({ length: 3 }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
  return first.toUpperCase() + rest.join('');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The same numbers for the same seed: a linear congruential generator, of whose state the upper bits are used. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
