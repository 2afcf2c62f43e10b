/**
 * Numbers from 0 on, one for each round of a random test: `count` of them, or where SVC_TEST_MINUTES is set, as many as there are in
 * `share` of this time, and at least one. Throws for minutes that are no positive number.
 */
export function* rounds(count: number, share = 1): Generator<number> {
  const asked = process.env['SVC_TEST_MINUTES'];
  const minutes = Number(asked);
  if (asked !== undefined && !(minutes > 0)) throw new Error(`SVC_TEST_MINUTES is "${asked}": give minutes`);
  const until = performance.now() + minutes * 60_000 * share;
  for (let round = 0; asked === undefined ? round < count : round === 0 || performance.now() < until; round++) yield round;
}
