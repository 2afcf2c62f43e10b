import t from 'tap';
import { IncidentLog } from './incident-log.ts';

const full = { code: 'storage_unavailable', detail: 'The disk is full.' };
const late = { code: 'revocations_late', detail: 'Late.' };

t.test('an incident lasts from the first look that saw it to the first that did not', async (t) => {
  const log = new IncidentLog();
  log.observe([full], 1);
  log.observe([{ ...full, detail: 'The disk is still full.' }, late], 2);
  t.match(log.list(), [
    { code: 'revocations_late', since: 2, endedAt: undefined },
    { code: 'storage_unavailable', since: 1, detail: 'The disk is still full.' },
  ]);
  log.observe([late], 3);
  t.match(log.list(), [
    { code: 'revocations_late', endedAt: undefined },
    { code: 'storage_unavailable', since: 1, endedAt: 3 },
  ]);
  log.observe([full, late], 4);
  t.match(log.list(), [{ code: 'storage_unavailable', since: 4 }, {}, { endedAt: 3 }], 'what comes again is another one');
});

t.test('what comes and goes all the time takes no more memory', async (t) => {
  const log = new IncidentLog();
  for (let now = 0; now < 2_000; now++) log.observe(now % 2 === 0 ? [full] : [], now);
  t.equal(log.list().length, 200);
});
