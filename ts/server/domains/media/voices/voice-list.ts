/** The voices of the node: those of the installed engines, and those that an operator described in a folder. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';
import { mediaError } from '../errors.ts';
import type { Voice, VoiceEngine, VoiceEngineName } from './voice.ts';

interface VoiceListOptions {
  engines: readonly VoiceEngine[];
  /** Empty: there is none. */
  folder: string;
  /** Empty: the first of the folder, else of flite, else English of espeak-ng. */
  defaultVoice: string;
}

interface WantedVoice {
  /** Empty: whichever speaks the language. */
  voice: string;
  language: string | undefined;
  engine?: VoiceEngineName | undefined;
}

const VoiceFile = Type.Object(
  {
    engine: Type.String({ minLength: 1, maxLength: 64 }),
    model: Type.String({ minLength: 1, maxLength: 256 }),
    mmproj: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    sample: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 2 })),
    language: Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$', maxLength: 64 }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    license: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
);
const check = new SchemaCheck(VoiceFile);

/** OpenAI's own voices: they mean the default voice here. */
const FOREIGN_VOICE = /^(alloy|ash|ballad|cedar|coral|echo|fable|marin|nova|onyx|sage|shimmer|verse)$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const MOST_FILES = 1_000;
const MOST_FILE_BYTES = 64 * 1024;

export class VoiceList {
  readonly #options: VoiceListOptions;

  constructor(options: VoiceListOptions) {
    this.#options = options;
  }

  /** Those of the folder come first. `faults` are sentences about its files that describe no voice. */
  async all(): Promise<{ voices: Voice[]; faults: string[] }> {
    const { engines, folder } = this.#options;
    const built = (await Promise.all(engines.map((engine) => engine.voices()))).flat();
    const described = folder === '' ? { voices: [], faults: [] } : await readFolder(folder, engines);
    const names = new Set(described.voices.map(({ id }) => id));
    return { voices: [...described.voices, ...built.filter(({ id }) => !names.has(id))], faults: described.faults };
  }

  defaultOf(voices: readonly Voice[]): Voice | undefined {
    const { defaultVoice, folder } = this.#options;
    const named = voices.find(({ id }) => id === defaultVoice);
    const described = folder === '' ? undefined : voices.find(({ id }) => !/^(espeak|flite)-/.test(id));
    const english = voices.find(({ engine, language }) => engine === 'espeak-ng' && /^en-(us|gb)$/.test(language));
    return named ?? described ?? voices.find(({ engine }) => engine === 'flite') ?? english ?? voices[0];
  }

  engineOf({ engine }: Voice): VoiceEngine {
    return this.#options.engines.find(({ name }) => name === engine) as VoiceEngine;
  }

  /** Throws voice_not_found, no_voice_for_language and no_voice. */
  async choose({ voice, language, engine }: WantedVoice): Promise<{ voice: Voice; isSubstitute: boolean }> {
    const { voices } = await this.all();
    const usable = engine === undefined ? voices : voices.filter((each) => each.engine === engine);
    const fallback = this.defaultOf(usable);
    if (fallback === undefined) throw mediaError('no_voice', 'No voice is installed on this node.');
    const named = usable.find(({ id }) => id === voice);
    if (named !== undefined) return { voice: named, isSubstitute: false };
    if (voice !== '' && !FOREIGN_VOICE.test(voice))
      throw mediaError('voice_not_found', `There is no voice ${JSON.stringify(voice.slice(0, 100))} here.`, { param: 'voice' });
    const speaking =
      language === undefined || speaks(fallback, language) ? fallback : usable.find((each) => speaks(each, language));
    if (speaking !== undefined) return { voice: speaking, isSubstitute: voice !== '' };
    throw mediaError('no_voice_for_language', `No voice here speaks ${JSON.stringify(language)}.`, { param: 'language' });
  }
}

/** English is spoken by a voice for American English, too. */
function speaks({ language }: Voice, asked: string): boolean {
  const [own, wanted] = [language.toLowerCase(), asked.toLowerCase()];
  return own === wanted || own.startsWith(`${wanted}-`) || wanted.startsWith(`${own}-`);
}

async function readFolder(folder: string, engines: readonly VoiceEngine[]): Promise<{ voices: Voice[]; faults: string[] }> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return { voices: [], faults: ['the folder cannot be read'] };
  const voices: Voice[] = [];
  const faults: string[] = [];
  for (const name of names
    .filter((each) => each.endsWith('.json'))
    .sort()
    .slice(0, MOST_FILES)) {
    const found = await readVoice(folder, name.slice(0, -'.json'.length), engines).catch((error: Error) => error.message);
    if (typeof found === 'string') faults.push(`${name}: ${found}`);
    else voices.push(found);
  }
  return { voices, faults };
}

/** Throws an error whose message says what is amiss. */
async function readVoice(folder: string, id: string, engines: readonly VoiceEngine[]): Promise<Voice> {
  const path = join(folder, `${id}.json`);
  if (!ID.test(id)) throw new Error('its name is no name of a voice');
  if ((await stat(path)).size > MOST_FILE_BYTES) throw new Error('it is too large');
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  const fault = check.findFault(value, 'the file');
  if (fault !== undefined) throw new Error(fault.sentence);
  const { engine: engineName, name = id, license, ...described } = value as Static<typeof VoiceFile>;
  const engine = engines.find((each) => each.name === engineName);
  if (engine === undefined) throw new Error(`there is no engine ${engineName}`);
  const made = await engine.describe(folder, described);
  return { ...made, id, name, language: described.language.toLowerCase(), license: license ?? made.license };
}
