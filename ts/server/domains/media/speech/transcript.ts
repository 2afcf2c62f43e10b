/** The transcript of a recording, and the files of subtitles that are made of it. */
import type { SpeechSegment } from '../../../native/whisper.ts';

export interface HeardSegment extends Omit<SpeechSegment, 'endsTurn'> {
  /** `A` or `B`, where speakers are told apart. */
  speaker?: string;
}

export interface Transcript {
  segments: HeardSegment[];
  /** The name of the model that heard it. */
  model: string;
  /** A code, for example `de`. */
  language: string;
  /** Seconds. */
  duration: number;
  speechSeconds: number;
}

export function textOf(segments: readonly HeardSegment[]): string {
  return segments
    .map(({ text }) => text)
    .join('')
    .trim();
}

/** Lines of a cue, and columns of a line, as broadcasters have them. */
const MOST_LINES = 2;
export const MOST_COLUMNS = 42;

interface Cue {
  begin: number;
  end: number;
  lines: string[];
}

/** SubRip. */
export function srtOf(segments: readonly HeardSegment[], mostColumns = MOST_COLUMNS): string {
  const cues = cuesOf(segments, mostColumns);
  return cues
    .map(({ begin, end, lines }, i) => `${i + 1}\n${time(begin, ',')} --> ${time(end, ',')}\n${lines.join('\n')}\n\n`)
    .join('');
}

/** WebVTT (W3C). */
export function vttOf(segments: readonly HeardSegment[], mostColumns = MOST_COLUMNS): string {
  const escaped = (line: string) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const cues = cuesOf(segments, mostColumns);
  const blocks = cues.map(
    ({ begin, end, lines }) => `${time(begin, '.')} --> ${time(end, '.')}\n${lines.map(escaped).join('\n')}\n\n`,
  );
  return `WEBVTT\n\n${blocks.join('')}`;
}

/** A long segment becomes several cues, each with its share of the time by its columns. */
function cuesOf(segments: readonly HeardSegment[], mostColumns: number): Cue[] {
  return segments.flatMap(({ text, begin, end }) => {
    const lines = wrapped(text, mostColumns);
    const total = lines.reduce((sum, line) => sum + columnsOf(line), 0);
    const cues: Cue[] = [];
    let at = begin;
    let columns = 0;
    for (let i = 0; i < lines.length; i += MOST_LINES) {
      const own = lines.slice(i, i + MOST_LINES);
      columns += own.reduce((sum, line) => sum + columnsOf(line), 0);
      const until = begin + ((end - begin) * columns) / total;
      cues.push({ begin: at, end: until, lines: own });
      at = until;
    }
    return cues;
  });
}

/** Lines that are broken between words, and where a word is longer than a line or there are no spaces, between letters. */
function wrapped(text: string, mostColumns: number): string[] {
  const lines: string[] = [];
  let line = '';
  // What would end the line of times in both formats is no part of speech.
  for (const word of text
    .replaceAll(/(?<!-)-{2,}>/g, '->')
    .split(/\s+/)
    .filter((each) => each !== '')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (columnsOf(joined) <= mostColumns) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const letter of word) {
      if (columnsOf(line + letter) > mostColumns) {
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Letters of East Asian scripts, and pictures, take two columns (Unicode Standard Annex 11). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

function columnsOf(text: string): number {
  let columns = 0;
  for (const letter of text) columns += WIDE.test(letter) ? 2 : 1;
  return columns;
}

/** hh:mm:ss and thousandths. */
function time(seconds: number, separator: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${clock}${separator}${String(ms % 1000).padStart(3, '0')}`;
}
