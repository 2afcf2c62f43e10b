/**
 * How often a random operation or property is tried: `short` in `npm test`, `long` in `npm run test:full`, which sets SVC_TEST_LONG.
 * `variable` names a variable of the environment that overrides both. Throws for one that is no positive integer.
 */
export function iterations(short: number, long: number, variable?: string): number {
  const asked = variable === undefined ? undefined : process.env[variable];
  if (asked === undefined) return process.env['SVC_TEST_LONG'] === '1' ? long : short;
  const count = Number(asked);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${variable} is "${asked}": give a whole number from 1`);
  return count;
}
