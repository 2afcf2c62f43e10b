import type { Cost } from './budgets.ts';

/** What test files say of themselves, read from the TAP that one process printed. */
export interface TapOutcome {
  passed: number;
  failed: number;
  skipped: number;
  /** A line for each test that was skipped, with its reason. */
  skips: string[];
  /** Each failed assertion with its diagnosis; below it the tests that failed with it. Empty where all passed. */
  failures: string;
}

const testSkipped = /^\s*ok \d+ - (.*?) # SKIP ?(.*)$/;
const allSkipped = /^1\.\.0 # ?(.*)$/;

/** A process that ended with a code, or before it told its totals, has failed, whatever it printed. */
export function readTap(tap: string, exitCode: number | null): TapOutcome {
  const lines = tap.split('\n');
  const totals = lines.findLast((line) => line.startsWith('# {'));
  const count = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals ?? '')?.[1] ?? 0);
  const whole = lines.map((line) => allSkipped.exec(line)?.[1]).find((reason) => reason !== undefined);
  const hasEndedBadly = exitCode !== 0 || totals === undefined;
  return {
    passed: count('pass'),
    failed: Math.max(count('fail'), hasEndedBadly ? 1 : 0),
    skipped: count('skip') + (whole === undefined ? 0 : 1),
    skips: [...(whole === undefined ? [] : [`all of it: ${whole}`]), ...lines.flatMap(skipOf)],
    failures: failuresOf(lines).join('\n'),
  };
}

function skipOf(line: string): string[] {
  const [, name, reason] = testSkipped.exec(line) ?? [];
  return name === undefined ? [] : [`${name}: ${reason || 'no reason given'}`];
}

function failuresOf(lines: readonly string[]): string[] {
  const shown: string[] = [];
  let inDiagnosis = false;
  let wasFailure = false;
  for (const line of lines) {
    const text = line.trim();
    const isShown: boolean = inDiagnosis || (wasFailure && text === '---') || isFailure(text);
    if (isShown) shown.push(line);
    inDiagnosis = isShown && (inDiagnosis ? text !== '...' : text === '---');
    wasFailure = !inDiagnosis && isFailure(text);
  }
  return shown;
}

function isFailure(text: string): boolean {
  return /^not ok\b/.test(text) && !/# (SKIP|TODO)/i.test(text);
}

const fileEnd = /^# end of (.+) ([\d.]+) ([\d.]+)\n/m;

/** What a process that runs several files prints behind the tests of each: their totals, and what it cost. */
export function endOfFile(
  file: string,
  { pass, fail, skip }: { pass: number; fail: number; skip: number },
  { wallSeconds, cpuSeconds }: Cost,
): string {
  return `{ pass: ${pass}, fail: ${fail}, skip: ${skip} }\nend of ${file} ${wallSeconds.toFixed(3)} ${cpuSeconds.toFixed(3)}`;
}

/** What such a process says of the files that it has ended. One that it died in is not there, and neither are those behind it. */
export function readFiles(tap: string): Map<string, { outcome: TapOutcome; cost: Cost }> {
  // Text in front of the first end, then for each its groups and the text in front of the next one.
  const parts = tap.split(fileEnd);
  const found = new Map<string, { outcome: TapOutcome; cost: Cost }>();
  for (let i = 0; i + 4 < parts.length; i += 4) {
    const [text = '', file = '', wall, cpu] = parts.slice(i, i + 4);
    found.set(file, { outcome: readTap(text, 0), cost: { wallSeconds: Number(wall), cpuSeconds: Number(cpu) } });
  }
  return found;
}
