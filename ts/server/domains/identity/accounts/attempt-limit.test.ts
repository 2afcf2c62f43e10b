import t from 'tap';
import { AttemptLimit } from './attempt-limit.ts';

const WINDOW_MS = 60_000;
/** More than the limit keeps windows of. */
const FLOOD = 25_000;

function limit(now = () => 0): AttemptLimit {
  return new AttemptLimit({ perAccount: 3, perAddress: 5, windowMs: WINDOW_MS, now });
}

const tooMany = { code: 'too_many_attempts' };

t.test('an address that is refused does not flush what is known of others by fresh names', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 3; i++) attempts.count('ann', '192.0.2.1');
  for (let i = 0; i < FLOOD; i++) {
    try {
      attempts.count(`name ${i}`, '192.0.2.66');
    } catch {
      // From the sixth on.
    }
  }
  t.throws(() => attempts.count('ann', '192.0.2.2'), tooMany, 'the account is still limited');
  t.throws(() => attempts.count('fresh', '192.0.2.66'), tooMany, 'and so is the address itself');
});

t.test(
  'many addresses with fresh names evict windows that are hardly used, not those of an account that is being guessed',
  async (t) => {
    const attempts = limit();
    for (let i = 0; i < 3; i++) attempts.count('ann', '192.0.2.1');
    for (let i = 0; i < FLOOD; i++) attempts.count(`name ${i}`, `10.0.${i >> 8}.${i & 255}`);
    t.throws(() => attempts.count('ann', '192.0.2.2'), tooMany);
    attempts.count('name 0', '192.0.2.2');
  },
);

t.test('a refused attempt prolongs nothing, and a window that is over counts no longer', async (t) => {
  let now = 0;
  const attempts = limit(() => now);
  for (let i = 0; i < 3; i++) attempts.count('ann', '192.0.2.1');
  now = WINDOW_MS - 1;
  t.throws(() => attempts.count('ann', '192.0.2.1'), { ...tooMany, retryAfterMs: 1000 });
  now = WINDOW_MS;
  attempts.count('ann', '192.0.2.1');
  attempts.succeeded('ann');
  for (let i = 0; i < 3; i++) attempts.countAccount('ann');
  t.throws(() => attempts.countAccount('ann'), tooMany);
});
