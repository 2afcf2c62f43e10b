/** A model of random weights, on which rounding would show: our tokens, times and log probabilities beside whisper-cli's, alone and sixteen at once. */
import { join } from 'node:path';
import { SpeechModel, type SpeechSegment, type TranscriptionOptions } from '../../../ts/server/native/whisper.ts';
import { INSTALL_ROOT } from '../../../ts/server/platform/files/install-root.ts';
import { SeededRandom } from '../../random/seeded-random.ts';
import { writeRandomSpeechModel } from '../../random/speech-model.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { type Clip, RATE, samplesOf, writeClip } from './clips.ts';
import { type CliOptions, runWhisperCli } from './whisper-cli.ts';

const SETTINGS: readonly CliOptions[] = [
  { language: 'en' },
  { language: 'de' },
  {},
  { language: 'de', translates: true },
  { language: 'en', prompt: 'A talk about ships, harbors and the sea.' },
  { language: 'en', temperature: 0.4 },
];
const AT_ONCE = 16;
/** whisper-cli writes probabilities with so many digits that logs of them agree to this. */
const CLOSE = 1e-3;

interface Heard {
  language: string;
  segments: SpeechSegment[];
}

export async function measureSameTokens(folder: string, nClips: number, people: readonly Clip[]): Promise<Figure[]> {
  const path = join(folder, 'random.bin');
  await writeRandomSpeechModel(path, 7);
  const clips = await makeClips(folder, nClips, people);
  const voicePath = join(INSTALL_ROOT, 'models', 'silero-vad', 'silero-vad.dat');
  const model = await SpeechModel.load({ path, voicePath, nStates: 2, nThreads: 1, nMostJobs: AT_ONCE });
  try {
    let nSame = 0;
    let nTokens = 0;
    let nSameBeside = 0;
    for (const settings of SETTINGS) {
      const alone: Heard[] = [];
      for (const clip of clips) {
        const ours = await hear(model, clip, settings);
        alone.push(ours);
        nTokens += ours.segments.reduce((sum, { tokens }) => sum + tokens.length, 0);
        const difference = differenceOf(ours, runWhisperCli(path, clip.path, settings), clip.seconds);
        if (difference === undefined) nSame += 1;
        else console.log(`${clip.name}, ${JSON.stringify(settings)}: ${difference}`);
      }
      for (let at = 0; at < clips.length; at += AT_ONCE) {
        const some = clips.slice(at, at + AT_ONCE);
        const beside = await Promise.all(some.map((clip) => hear(model, clip, settings)));
        nSameBeside += beside.filter((heard, i) => wordsOf(heard) === wordsOf(alone[at + i])).length;
      }
    }
    const count = clips.length * SETTINGS.length;
    console.log(`${nTokens} tokens were compared`);
    return [
      shareFigure('clips and settings that equal whisper-cli', nSame, count, 1),
      shareFigure('the same with sixteen at once', nSameBeside, count, 1),
    ];
  } finally {
    await model.close();
  }
}

/** People first; then tones and noise of other lengths, which tell a random model as much. */
async function makeClips(folder: string, nClips: number, people: readonly Clip[]): Promise<Clip[]> {
  const random = new SeededRandom(11);
  const made = Array.from({ length: Math.max(0, nClips - people.length) }, (_, i) => {
    const seconds = 1 + random.integer(28);
    const hertz = 80 + random.integer(2_000);
    const samples = Float32Array.from({ length: seconds * RATE }, (_, at) => {
      const tone = Math.sin((2 * Math.PI * hertz * at) / RATE) * Math.sin(at / (900 + hertz));
      return 0.3 * tone + 0.2 * (random.integer(2_001) / 1_000 - 1);
    });
    return writeClip(folder, `made-${i}`, '', samples);
  });
  return [...people, ...made].slice(0, nClips);
}

async function hear(model: SpeechModel, { path }: Clip, settings: CliOptions): Promise<Heard> {
  const samples = await samplesOf(path);
  const options: TranscriptionOptions = { tenant: 'eval', skipsSilence: false, hasWords: true, ...settings };
  return await new Promise<Heard>((resolve, reject) => {
    const segments: SpeechSegment[] = [];
    const recording = model.start(options, (event) => {
      segments.push(...event.segments);
      if (event.isLast && event.error) reject(event.error);
      else if (event.isLast) resolve({ language: event.language, segments });
    });
    recording.write(samples);
    recording.end();
  });
}

/** All but the probability that nobody speaks, whose last digits are those of the state that was lent. */
function wordsOf(heard: Heard | undefined): string {
  return JSON.stringify(heard, (name, value: unknown) => (name === 'noSpeechProb' ? undefined : value));
}

/** The first place where they differ, or undefined. Our times do not pass the end of a recording, and theirs may. */
function differenceOf(ours: Heard, theirs: ReturnType<typeof runWhisperCli>, seconds: number): string | undefined {
  if (ours.language !== theirs.language) return `language ${ours.language}, not ${theirs.language}`;
  if (ours.segments.length !== theirs.segments.length) return `${ours.segments.length} segments, not ${theirs.segments.length}`;
  for (const [i, { begin, end, tokens, logprobs }] of ours.segments.entries()) {
    const other = theirs.segments[i];
    if (other === undefined) return `segment ${i} is missing`;
    const times = [other.offsets.from, other.offsets.to].map((ms) => Math.min(ms / 1000, seconds));
    if (begin !== times[0] || end !== times[1]) return `segment ${i} from ${begin} to ${end} s, not ${times.join(' to ')}`;
    if (tokens.join() !== other.tokens.map(({ id }) => id).join()) return `other tokens in segment ${i}`;
    for (const [j, { p }] of other.tokens.entries())
      if (Math.abs(Math.exp(logprobs[j] ?? Infinity) - p) > CLOSE)
        return `token ${j} of segment ${i}: log probability ${logprobs[j]}, not ${Math.log(p)}`;
  }
  return undefined;
}
