import fc from 'fast-check';
import t from 'tap';
import { cpuMsOf } from '../../../test/test-support/cpu-time.ts';
import { SecretScrubber } from './secret-scrubber.ts';
import { plantedSecrets } from './test-support/planted-secrets.ts';

t.test('a hundred kinds of secrets are taken out, alone and in a log of all of them', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const planted = plantedSecrets();
    t.ok(planted.length >= 100);
    const scrubber = new SecretScrubber();
    const together = scrubber.scrub(planted.map(({ line }) => line).join('\n\n'));
    for (const { kind, secret, line } of planted) {
      const alone = scrubber.scrub(line);
      if (alone.includes(secret) || together.includes(secret)) t.fail(`${kind}: ${line} -> ${alone}`);
      const logged = scrubber.scrub(JSON.stringify({ level: 'warn', message: line }));
      if (logged.includes(secret)) t.fail(`${kind} inside JSON: ${logged}`);
    }
  }
});

t.test('keys that chance made poor in digits and signs are taken out', async (t) => {
  for (const key of [
    'glrt-fLIh-YkmXXdgLXP-BJXbryGt',
    'ZVCCVXmBrSFj_mIxyAKmlMGXpsKWAVShddSL-HBAmcU',
    'LkaFnuefdFsrPNUXVRrsmkyyUPGNxoCX/RhxHVMhCLc=',
    'fWwvwdviNhaPxIgveLVIFTYTTNilsIHYQcstuvXwSsU=',
  ])
    t.notOk(new SecretScrubber().scrub(`something ${key} was seen`).includes(key), key);
});

t.test('what is no secret stays', async (t) => {
  const scrubber = new SecretScrubber();
  for (const line of [
    '{"time":"2026-11-23T12:44:08.123Z","level":"info","message":"listening","internal":"127.0.0.1:8880","version":"5.0.177"}',
    'svc_inference_estimated_kv_copy_bytes_per_second{model="qwen3-0.6b-q8_0"} 12345678901',
    'svc_http_request_duration_seconds_bucket{route="/api/v1/edge/conversations/{id}",le="0.005"} 17',
    '{"prompt_tokens":120,"completion_tokens":44,"max_tokens":4096}',
    '/usr/lib64/svc/dist/program.cjs /var/lib/svc/models/qwen3-0.6b-q8_0.gguf',
    'Error: at createServer (/work/checkout/ts/server/main.ts:120:11)',
    'the password is wrong; the token was revoked; api_key_revoked',
    'AMD EPYC 9B14 96-Core Processor, Linux 6.1.0-28-amd64',
    'listPendingMigrationsOfModule could not be called',
    'listPendingMigrationsOfEachModuleInTheirOrder, glue-between-the-modules-of-the-node',
    'backup 20261123T070000000Z was made at 2026-11-23T07:00:00.000Z',
  ])
    t.equal(scrubber.scrub(line), line);
});

t.test('one secret has one mark, so that lines can be told to belong together', async (t) => {
  const scrubber = new SecretScrubber();
  const [first = '', second = ''] = ['token=abcdefgh1', 'again token=abcdefgh1'].map((line) => scrubber.scrub(line));
  t.match(first, /^token=\[redacted [0-9a-f]{4}\]$/);
  t.ok(second.endsWith(first));
  t.not(new SecretScrubber().scrub('token=abcdefgh1'.repeat(1)), undefined);
});

t.test('property: what the node knows to be secret is nowhere, however it is written', async () => {
  const secret = fc.string({ minLength: 6, maxLength: 40 }).filter((text) => text.trim() === text && text.length >= 6);
  fc.assert(
    fc.property(secret, fc.string(), (value, around) => {
      const scrubber = new SecretScrubber([value]);
      fc.pre(!around.includes(value) && !'[redacted 0123456789abcdef]'.includes(value));
      const text = `${around}${value}${around} ${JSON.stringify({ a: value })} ${Buffer.from(value).toString('base64')}`;
      const clean = scrubber.scrub(text);
      return !clean.includes(value) && !clean.includes(Buffer.from(value).toString('base64'));
    }),
    { numRuns: 300 },
  );
});

t.test('members of JSON lose what their name says to be secret', async (t) => {
  const clean = new SecretScrubber().scrubJson({
    smtp: { password: 'x', host: 'mail.example' },
    list: ['the pin is 123456'],
    n: 5,
  });
  t.match(clean, { smtp: { password: /^\[redacted/, host: 'mail.example' }, list: [/^the pin is \[redacted/], n: 5 });
});

t.test('text of a hostile length and form is scrubbed in time that grows with it', async (t) => {
  const scrubber = new SecretScrubber();
  for (const text of [
    'a_'.repeat(200_000),
    'password'.repeat(60_000),
    '"'.repeat(400_000),
    `-----BEGIN A${' '.repeat(300_000)}`,
    'A1'.repeat(200_000),
    '://'.repeat(100_000),
  ]) {
    const tookMs = cpuMsOf(() => scrubber.scrub(text));
    t.ok(tookMs < 5000, `${text.slice(0, 12)}: ${tookMs} ms`);
  }
});
