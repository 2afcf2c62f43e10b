import t from 'tap';
import { PasswordHasher } from './password-hasher.ts';

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 21; i++) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[10] ?? 0;
}

/** A real difference shows in every round. */
async function isAlike(hasher: PasswordHasher, stored: string): Promise<boolean> {
  for (let round = 0; round < 5; round += 1) {
    const known = await medianMs(() => hasher.verify(stored, 'the wrong one'));
    const unknown = await medianMs(() => hasher.verify(undefined, 'the wrong one'));
    if (unknown > known / 2 && unknown < known * 2) return true;
  }
  return false;
}

t.test('a name without an account takes as long as a wrong password, and is never right', async (t) => {
  const hasher = new PasswordHasher();
  hasher.start();
  const stored = await hasher.hash('the right one');
  t.equal(await hasher.verify(stored, 'the right one'), true);
  t.equal(await hasher.verify(stored, 'the wrong one'), false);
  t.equal(await hasher.verify(undefined, 'the wrong one'), false);
  t.ok(await isAlike(hasher, stored), 'in one round of five, on a machine that others use too');
});

t.test('more passwords than may wait are refused, and the others are answered', async (t) => {
  const hasher = new PasswordHasher();
  hasher.start();
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => hasher.verify(undefined, 'x')));
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  t.equal(refused.length, 100 - 2 - 64);
  t.match(refused[0], { reason: { code: 'server_busy', retryAfterMs: 1000 } });
  t.equal(await hasher.verify(undefined, 'x'), false, 'afterwards there is room again');
});
