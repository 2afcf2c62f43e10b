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
