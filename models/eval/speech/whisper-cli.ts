/** Runs whisper-cli of the same source and ggml on a recording. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rivalProgram } from '../../../bench/contenders/rival-program.ts';

interface CliToken {
  text: string;
  id: number;
  p: number;
  /** Milliseconds; absent where a token has no time. */
  offsets?: { from: number; to: number };
}

export interface CliSegment {
  text: string;
  /** Milliseconds. */
  offsets: { from: number; to: number };
  tokens: CliToken[];
}

export interface CliOptions {
  language?: string;
  translates?: boolean;
  prompt?: string;
  temperature?: number;
}

export function runWhisperCli(
  model: string,
  recording: string,
  options: CliOptions,
): { language: string; segments: CliSegment[] } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-eval-cli-'));
  const { language = 'auto', translates = false, prompt, temperature = 0 } = options;
  try {
    execFileSync(
      rivalProgram('whisper-cli'),
      [
        ['--model', model, '--file', recording, '--threads', '1', '--no-prints', '--no-gpu'],
        [
          '--output-json-full',
          '--output-file',
          join(folder, 'out'),
          '--language',
          language,
          '--temperature',
          String(temperature),
        ],
        translates ? ['--translate'] : [],
        prompt === undefined ? [] : ['--prompt', prompt],
      ].flat(),
      { stdio: 'ignore' },
    );
    const { result, transcription } = JSON.parse(readFileSync(join(folder, 'out.json'), 'latin1')) as {
      result: { language: string };
      transcription: CliSegment[];
    };
    return { language: result.language, segments: transcription };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
