/** espeak-ng where it is installed: a hundred languages, in a process of its own for each sentence, which the server confines. */
import { outputOf, startConfined } from '../programs/confined-program.ts';
import { findProgram } from '../programs/ffmpeg.ts';
import { stretched, wholeOf } from './time-stretch.ts';
import {
  type DescribedVoice,
  installedVoice,
  type SpeakingOptions,
  type SpokenPiece,
  type Voice,
  type VoiceEngine,
  type VoiceMaking,
} from './voice.ts';

/** Words a minute of its voices as they were made, and the slowest that it speaks. */
const WORDS_A_MINUTE = 175;
const LEAST_WORDS = 80;
const RATE = 22_050;
const HEAD_BYTES = 44;
const limits = { memoryMiB: 256, cpuSeconds: 60, readable: [] };
const MOST_LIST_BYTES = 256 * 1024;
/** A line of `espeak-ng --voices`: priority, language, age and gender, name, file. */
const LINE = /^\s*\d+\s+([a-z]{2,3}(?:-[a-z0-9]+)*)\s+\S+\s+(\S+)\s+(\S+)/i;
/** No model can be taken for an option, or for a path. */
const MODEL = /^[a-z0-9]+(?:[-_+][a-z0-9]+)*$/i;

export class EspeakEngine implements VoiceEngine {
  readonly name = 'espeak-ng';
  #known: { program: string; voices: Promise<Voice[]> } | undefined;

  async voices(): Promise<Voice[]> {
    const program = findProgram('espeak-ng');
    if (program === undefined) return [];
    if (this.#known?.program !== program) this.#known = { program, voices: listVoices(program) };
    return await this.#known.voices;
  }

  describe(_folder: string, described: DescribedVoice): Promise<VoiceMaking> {
    return installedVoice(this, described);
  }

  async *speak({ model }: Voice, text: string, { speed, signal }: SpeakingOptions): AsyncGenerator<SpokenPiece> {
    const program = findProgram('espeak-ng');
    if (program === undefined || !MODEL.test(model)) throw new Error(`espeak-ng cannot speak as ${model}`);
    const words = Math.max(LEAST_WORDS, Math.round(WORDS_A_MINUTE * speed));
    const process = startConfined([program, '-v', model, '-s', String(words), '-b', '1', '--stdin', '--stdout'], {
      ...limits,
      signal,
    });
    // Between two brackets it would take phonemes for text.
    process.input.end(text.replaceAll('[[', '[ ['));
    const slower = words / (WORDS_A_MINUTE * speed);
    try {
      if (slower > 1.01) yield { rate: RATE, samples: stretched(await wholeOf(samplesOf(process.output)), slower, RATE) };
      else for await (const samples of samplesOf(process.output)) yield { rate: RATE, samples };
      const code = await process.exit;
      signal.throwIfAborted();
      if (code !== 0) throw new Error(`espeak-ng ended with ${code}: ${await process.reason}`);
    } finally {
      process.kill();
    }
  }
}

async function listVoices(program: string): Promise<Voice[]> {
  const { signal } = new AbortController();
  const process = startConfined([program, '--voices'], { ...limits, signal });
  process.input.end();
  const { bytes } = await outputOf(process, MOST_LIST_BYTES);
  return bytes
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, language = '', name = ''] = LINE.exec(line) ?? [];
      if (!MODEL.test(language)) return [];
      const common = { engine: 'espeak-ng', sampleRate: RATE, license: 'GPL-3.0-or-later' } as const;
      return [{ id: `espeak-${language}`, name: name.replaceAll('_', ' '), language, model: language, ...common }];
    });
}

/** Samples behind the head of a WAV file, which on a pipe says nothing true of its length. */
async function* samplesOf(output: AsyncIterable<unknown>): AsyncGenerator<Int16Array> {
  let toSkip = HEAD_BYTES;
  for await (const bytes of wholeSamples(output)) {
    const from = Math.min(toSkip, bytes.length);
    toSkip -= from;
    if (bytes.length > from) yield int16(bytes.subarray(from));
  }
}

/** The bytes of a stream in pieces of whole samples of 16 bits. */
export async function* wholeSamples(output: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of output) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const nBytes = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(nBytes);
    if (nBytes > 0) yield bytes.subarray(0, nBytes);
  }
}

export function int16(bytes: Uint8Array): Int16Array {
  return new Int16Array(new Uint8Array(bytes).buffer);
}
