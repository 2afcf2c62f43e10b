/** Starts a steady writer again and again and kills it at a random moment, each time with ids that follow the last one's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { LineReader } from './line-reader.ts';
import type { WriterLine } from './steady-writer.ts';

const IDS_A_ROUND = 1_000_000;
const LONGEST_ROUND_MS = 150;

/** How often tests kill. */
export function killRounds(): number {
  return iterations(5, 25, 'SVC_TEST_KILLS');
}

export function startSteadyWriter(url: string, round: number): { writer: ChildProcess; output: LineReader<WriterLine> } {
  const program = new URL('steady-writer.ts', import.meta.url).pathname;
  const writer = spawn(process.execPath, [program, url, String(round * IDS_A_ROUND)], { stdio: ['pipe', 'pipe', 'inherit'] });
  return { writer, output: new LineReader<WriterLine>(writer) };
}

/** Resolves with what all writers printed. */
export async function killSteadyWriters(url: string, rounds: number): Promise<WriterLine[]> {
  const lines: WriterLine[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { writer, output } = startSteadyWriter(url, round);
    await output.find(({ acknowledged }) => acknowledged !== undefined);
    await wait(random.next() * LONGEST_ROUND_MS);
    const exited = once(writer, 'exit');
    writer.kill('SIGKILL');
    await Promise.all([exited, output.ended]);
    lines.push(...output.lines);
  }
  return lines;
}
