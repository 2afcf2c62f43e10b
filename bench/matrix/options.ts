import type { Condition } from './conditions.ts';

interface MatrixOptions {
  /** Conditions to run; all unless told. */
  names: readonly string[] | undefined;
  /** Passed on to the bench of each. */
  benchArgs: readonly string[];
}

/** From the bench's command line: `--machine NAME` may be given several times. Throws for a name that is none. */
export function readMatrixOptions(args: readonly string[], conditions: readonly Pick<Condition, 'name'>[]): MatrixOptions {
  const names: string[] = [];
  const benchArgs: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '--machine-matrix' || (arg === 'serving' && i === 0)) continue;
    if (arg === '--machine') names.push(args[++i] ?? '');
    else benchArgs.push(arg);
  }
  const known = conditions.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--machine "${unknown}": choose from ${known.join(', ')}`);
  return { names: names.length > 0 ? names : undefined, benchArgs };
}
