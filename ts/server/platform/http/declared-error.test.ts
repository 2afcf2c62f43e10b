import t from 'tap';
import { DomainError } from '../errors/domain-error.ts';
import { StorageError, type StorageErrorCode, type WriteOutcome } from '../storage/index.ts';
import { openapiDocument } from './docs/openapi.ts';
import type { ErrorSpec } from './errors.ts';
import { openTestBed, plainRoute } from './test-support/test-bed.ts';

const errors: ErrorSpec[] = [
  { status: 429, code: 'queue_full', meaning: 'Much is waiting.', remedy: 'Retry later.' },
  { status: 500, code: 'internal', meaning: 'A defect.', remedy: 'Report it.' },
];

const throwing = (error: Error) =>
  plainRoute(
    'GET',
    '/api/v1/work',
    () => {
      throw error;
    },
    { errors },
  );

t.test('a refusal of a service is answered with the status that the route declares for its code', async (t) => {
  const refusal = new DomainError('queue_full', 'Too much waits.', { retryAfterMs: 1200.4, extra: { waiting: 3 } });
  const { url, lines } = await openTestBed(t, [throwing(refusal)]);
  const answer = await fetch(`${url}/api/v1/work`);
  t.equal(answer.status, 429);
  t.equal(answer.headers.get('retry-after'), '2');
  t.equal(answer.headers.get('retry-after-ms'), '1201');
  t.match(await answer.json(), { error: 'queue_full', detail: 'Too much waits.', waiting: 3 });
  t.notMatch(lines.join(''), /failed unexpectedly/);
});

t.test('a code that the route does not declare is a defect: 500, and the log names the code', async (t) => {
  const { url, lines } = await openTestBed(t, [throwing(new DomainError('no_such_code', 'secret'))]);
  const answer = await fetch(`${url}/api/v1/work`);
  t.equal(answer.status, 500);
  t.notMatch(await answer.text(), /secret|no_such_code/);
  t.match(lines.join(''), /"undeclared_code":"no_such_code"/);
});

t.test('the log has the cause of a declared internal error', async (t) => {
  const { url, lines } = await openTestBed(t, [
    throwing(new DomainError('internal', 'It failed.', { cause: new Error('disk') })),
  ]);
  const answer = await fetch(`${url}/api/v1/work`);
  t.equal(answer.status, 500);
  t.match(await answer.json(), { error: 'internal', detail: 'It failed.' });
  t.match(lines.join(''), /failed unexpectedly.*disk/);
});

t.test(
  'a database that does not work is 503 on every route, with the time to retry, and told apart from a mistake in a statement',
  async (t) => {
    const ask = async (code: StorageErrorCode, outcome: WriteOutcome = 'not_applied') => {
      const failure = new StorageError(code, 'database disk image is malformed', { outcome });
      const { url, lines } = await openTestBed(t, [throwing(failure)]);
      const answer = await fetch(`${url}/api/v1/work`);
      return {
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        text: await answer.text(),
        lines: lines.join(''),
      };
    };
    for (const code of ['storage_unavailable', 'storage_busy', 'write_conflict', 'transaction_timeout'] as const) {
      const answer = await ask(code);
      t.match(answer, { status: 503, retryAfter: '1', text: /"error":"storage_unavailable".*retry/i, lines: /malformed/ }, code);
      t.notMatch(answer.text, /malformed/);
    }
    t.match(await ask('storage_unavailable'), { text: /nothing was changed/ });
    t.match(await ask('storage_unavailable', 'unknown'), { status: 503, text: /may be there or not: look before you retry/ });
    t.match(await ask('statement_failed'), { status: 500, text: /"internal"/ });
    const document = openapiDocument([throwing(new Error())], { title: 'Test', version: '1', description: '' });
    t.match(JSON.stringify(document), /storage_unavailable/);
  },
);
