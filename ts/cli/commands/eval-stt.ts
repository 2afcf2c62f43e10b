import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Client } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { formatTable, printable } from '../format.ts';
import { serverCommand } from '../server-command.ts';
import { errorRate, type WordErrors, wordErrors } from '../word-errors.ts';
import { fileAt } from './transcribe.ts';

/** What came of one recording. */
interface Heard extends WordErrors {
  file: string;
  seconds: number;
  text: string;
}

const RECORDING = /^\.(wav|mp3|flac|ogg|opus|m4a|mp4|webm|aiff?|aac|mkv|mov)$/i;
const MOST_SHOWN = 10;

export const evalStt = serverCommand({
  words: ['eval', 'stt'],
  summary: 'Measure how many words a speech model hears wrong in a folder of your own recordings',
  positionals: [{ name: 'FOLDER', help: 'recordings, each with what is said in it beside: talk.wav and talk.txt' }],
  options: {
    model: { kind: 'text', value: 'NAME', help: 'speech model (else the server’s default)', aliases: ['-m'] },
    language: { kind: 'text', value: 'CODE', help: 'language that is spoken, as de or en (else the model finds out)' },
    parallel: { kind: 'integer', value: 'N', min: 1, max: 64, help: 'recordings that are heard at once (default: 1)' },
  },
  examples: ['svc eval stt recordings', 'svc eval stt recordings --model whisper-base --parallel 8 --json'],
  async run({ options, positionals: [folder = ''], client, terminal }) {
    const { recordings, withoutText } = await listRecordings(folder);
    const progress = terminal.progress();
    const began = performance.now();
    const heard: Heard[] = [];
    const waiting = [...recordings];
    const work = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        heard.push(await hear(client, folder, name, options));
        progress.update('hearing', heard.length, recordings.length);
      }
    };
    await Promise.all(Array.from({ length: options.parallel ?? 1 }, work));
    progress.end();
    const report = reportOf(options.model, heard, withoutText, (performance.now() - began) / 1000);
    terminal.result(report, textOf(report));
    return 'ok';
  },
});

async function listRecordings(folder: string): Promise<{ recordings: string[]; withoutText: string[] }> {
  const names = await readdir(folder).catch(() => {
    throw usageError(`${folder} cannot be read`, 'name a folder that is there');
  });
  const found = names.filter((name) => RECORDING.test(extname(name))).sort();
  const hasText = (name: string) => names.includes(textFileOf(name));
  const recordings = found.filter(hasText);
  if (recordings.length === 0)
    throw usageError(`${folder} has no recording with its text`, 'put what is said in talk.wav into talk.txt beside it');
  return { recordings, withoutText: found.filter((name) => !hasText(name)) };
}

function textFileOf(name: string): string {
  return `${name.slice(0, -extname(name).length)}.txt`;
}

async function hear(
  client: Client,
  folder: string,
  file: string,
  { model, language }: { model?: string | undefined; language?: string | undefined },
): Promise<Heard> {
  const right = await readFile(join(folder, textFileOf(file)), 'utf8');
  const form = new FormData();
  form.append('file', await fileAt(join(folder, file)), file);
  form.append('response_format', 'verbose_json');
  if (model !== undefined) form.append('model', model);
  if (language !== undefined) form.append('language', language);
  const answer = await client.call('POST /v1/audio/transcriptions', { body: form as never });
  return { file, text: answer.text, seconds: 'duration' in answer ? answer.duration : 0, ...wordErrors(right, answer.text) };
}

function reportOf(model: string | undefined, heard: readonly Heard[], withoutText: readonly string[], wallSeconds: number) {
  const { rate, interval } = errorRate(heard);
  const seconds = heard.reduce((sum, each) => sum + each.seconds, 0);
  const rateOf = ({ nErrors, nWords }: WordErrors) => nErrors / Math.max(1, nWords);
  return {
    model: model ?? null,
    recordings: heard.length,
    seconds: rounded(seconds),
    words: heard.reduce((sum, { nWords }) => sum + nWords, 0),
    errors: heard.reduce((sum, { nErrors }) => sum + nErrors, 0),
    wer: rate === null ? null : rounded(rate),
    wer_95: interval === null ? null : interval.map(rounded),
    real_time_factor: seconds === 0 ? null : rounded(wallSeconds / seconds),
    without_text: withoutText,
    worst: heard
      .filter(({ nErrors }) => nErrors > 0)
      .toSorted((a, b) => rateOf(b) - rateOf(a) || a.file.localeCompare(b.file))
      .slice(0, MOST_SHOWN)
      .map((each) => ({ file: each.file, wer: rounded(rateOf(each)), words: each.nWords, heard: each.text })),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function textOf(report: ReturnType<typeof reportOf>): string {
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`;
  const { wer, wer_95: interval, real_time_factor: factor } = report;
  const rows = [
    ['recordings', `${report.recordings} (${report.seconds.toFixed(1)} s)`],
    ['words', `${report.words} (${report.errors} wrong)`],
    ['word error rate', wer === null ? '-' : percent(wer)],
    ['with 95 % between', interval === null ? '-' : interval.map(percent).join(' and ')],
    ['seconds for each of sound', factor === null ? '-' : factor.toFixed(3)],
  ];
  const worst = report.worst.map(({ file, wer: rate, heard }) => `  ${percent(rate)} ${printable(file)}: ${printable(heard)}`);
  const left = report.without_text.map((name) => `  left out, since it has no text beside it: ${printable(name)}`);
  return [formatTable(['speech', report.model ?? 'default model'], rows), ...worst, ...left].join('\n');
}
