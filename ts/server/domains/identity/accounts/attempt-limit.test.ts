import t from 'tap';
import { type Attempt, AttemptLimit } from './attempt-limit.ts';

const WINDOW_MS = 60_000;
/** More than the limit keeps windows of. */
const FLOOD = 25_000;

function limit(now = () => 0): AttemptLimit {
  return new AttemptLimit({
    perClient: 3,
    perAccount: 6,
    perAddress: 5,
    windowMs: WINDOW_MS,
    accountWindowMs: 4 * WINDOW_MS,
    now,
  });
}

const from = (account: string, remoteAddress: string, device?: string): Attempt => ({ account, remoteAddress, device });
const tooMany = { code: 'too_many_attempts' };

t.test('who guesses from one address locks out that address alone', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1'));
  t.throws(() => attempts.count(from('ann', '192.0.2.1')), tooMany);
  t.doesNotThrow(() => attempts.count(from('ann', '192.0.2.2')));
});

t.test(
  'guessing from many addresses is slow, and locks out neither an address nor a browser that signed in before',
  async (t) => {
    let now = 0;
    const attempts = limit(() => now);
    attempts.know(from('ann', '198.51.100.7'));
    for (let i = 0; i < 6; i++) attempts.count(from('ann', `192.0.2.${i}`));
    t.throws(() => attempts.count(from('ann', '192.0.2.99')), { ...tooMany, retryAfterMs: 4 * WINDOW_MS });
    attempts.count(from('ann', '198.51.100.7')).succeeded();
    attempts.count(from('ann', '203.0.113.9', 'laptop')).succeeded();
    now = WINDOW_MS;
    t.throws(() => attempts.count(from('ann', '192.0.2.99')), tooMany, 'for longer than one address has to wait');
  },
);

t.test('a browser that signed in before has a window of its own, also at an address that is locked out', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1'));
  for (let i = 0; i < 2; i++) attempts.count(from('bob', '192.0.2.1'));
  t.throws(() => attempts.count(from('cid', '192.0.2.1')), tooMany, 'the address has tried too often');
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1', 'laptop'));
  t.throws(() => attempts.count(from('ann', '192.0.2.1', 'laptop')), tooMany, 'which ends like others');
  t.doesNotThrow(() => attempts.count(from('ann', '192.0.2.2', 'laptop')), 'and then it is a stranger');
});

t.test('a /64 of IPv6 is one client', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 3; i++) attempts.count(from('ann', `2001:db8:0:1::${i}`));
  t.throws(() => attempts.count(from('ann', '2001:db8:0:1:ffff::9')), tooMany);
  t.doesNotThrow(() => attempts.count(from('ann', '2001:db8:0:2::1')));
});

t.test('whoever succeeds was no guesser, and takes back no attempt of others', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 50; i++) attempts.count(from(`person ${i}`, '192.0.2.1')).succeeded();
  for (let i = 0; i < 5; i++) attempts.count(from(`name ${i}`, '192.0.2.1'));
  attempts.count(from('ann', '192.0.2.1', 'laptop')).succeeded();
  t.throws(() => attempts.count(from('name 9', '192.0.2.1')), tooMany);
});

t.test('what has no account is closed to no stranger by others', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 50; i++) attempts.countClient(from('register', `192.0.2.${i}`));
  for (let i = 0; i < 3; i++) attempts.countClient(from('register', '198.51.100.1'));
  t.throws(() => attempts.countClient(from('register', '198.51.100.1')), tooMany);
});

t.test('an address that is refused does not flush what is known of others by fresh names', async (t) => {
  const attempts = limit();
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1'));
  for (let i = 0; i < FLOOD; i++) {
    try {
      attempts.count(from(`name ${i}`, '192.0.2.66'));
    } catch {
      // From the sixth on.
    }
  }
  t.throws(() => attempts.count(from('ann', '192.0.2.1')), tooMany, 'the client is still limited');
  t.throws(() => attempts.count(from('fresh', '192.0.2.66')), tooMany, 'and so is the address itself');
});

t.test(
  'many addresses with fresh names evict windows that are hardly used, not those of an account that is being guessed',
  async (t) => {
    const attempts = limit();
    for (let i = 0; i < 6; i++) attempts.count(from('ann', `192.0.2.${i % 2}`));
    for (let i = 0; i < FLOOD; i++) attempts.count(from(`name ${i}`, `10.0.${i >> 8}.${i & 255}`));
    t.throws(() => attempts.count(from('ann', '192.0.2.2')), tooMany);
    attempts.count(from('name 0', '192.0.2.3'));
  },
);

t.test('a refused attempt prolongs nothing, and a window that is over counts no longer', async (t) => {
  let now = 0;
  const attempts = limit(() => now);
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1'));
  now = WINDOW_MS - 1;
  t.throws(() => attempts.count(from('ann', '192.0.2.1')), { ...tooMany, retryAfterMs: 1000 });
  now = WINDOW_MS;
  attempts.count(from('ann', '192.0.2.1')).succeeded();
  for (let i = 0; i < 3; i++) attempts.count(from('ann', '192.0.2.1'));
  t.throws(() => attempts.count(from('ann', '192.0.2.1')), tooMany);
});
