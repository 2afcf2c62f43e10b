/** flite where libflite1 is installed: English, by a program of ours (native/speak) that loads it and streams, in a process for each sentence. */
import { findNativeProgram } from '../../../native/confinement.ts';
import { outputOf, startConfined } from '../programs/confined-program.ts';
import { int16, wholeSamples } from './espeak-engine.ts';
import {
  type DescribedVoice,
  installedVoice,
  type SpeakingOptions,
  type SpokenPiece,
  type Voice,
  type VoiceEngine,
  type VoiceMaking,
} from './voice.ts';

const PROGRAM = 'svc_flite';
const limits = { memoryMiB: 512, cpuSeconds: 60, readable: [] };
const RATE_BYTES = 4;
const MOST_LIST_BYTES = 4_096;
const RATES: Readonly<Record<string, number>> = { kal: 8_000 };
const DEFAULT_RATE = 16_000;
const MODEL = /^[a-z0-9]+$/;

export class FliteEngine implements VoiceEngine {
  readonly name = 'flite';
  #known: { program: string; voices: Promise<Voice[]> } | undefined;

  async voices(): Promise<Voice[]> {
    const program = findNativeProgram(PROGRAM);
    if (program === undefined) return [];
    if (this.#known?.program !== program) this.#known = { program, voices: listVoices(program) };
    return await this.#known.voices;
  }

  describe(_folder: string, described: DescribedVoice): Promise<VoiceMaking> {
    return installedVoice(this, described);
  }

  async *speak({ model }: Voice, text: string, { speed, signal }: SpeakingOptions): AsyncGenerator<SpokenPiece> {
    const program = findNativeProgram(PROGRAM);
    if (program === undefined || !MODEL.test(model)) throw new Error(`flite cannot speak as ${model}`);
    const process = startConfined([program, model, speed.toFixed(4)], { ...limits, signal });
    process.input.end(text);
    let rate = 0;
    try {
      for await (const bytes of wholeSamples(process.output)) {
        const from = rate === 0 ? RATE_BYTES : 0;
        if (rate === 0) rate = bytes.readUInt32LE(0);
        if (bytes.length > from) yield { rate, samples: int16(bytes.subarray(from)) };
      }
      const code = await process.exit;
      signal.throwIfAborted();
      if (code !== 0) throw new Error(`flite ended with ${code}: ${await process.reason}`);
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
  const names = bytes
    .toString()
    .split('\n')
    .filter((name) => MODEL.test(name));
  return names.map((name) => ({
    id: `flite-${name}`,
    name: `${name.toUpperCase()} (flite)`,
    language: name === 'awb' ? 'en-gb-scotland' : 'en-us',
    engine: 'flite',
    model: name,
    sampleRate: RATES[name] ?? DEFAULT_RATE,
    license: 'BSD-style (CMU)',
  }));
}
