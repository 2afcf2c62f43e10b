import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import Type from 'typebox';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import { LineReader } from '../../../platform/storage/test-support/line-reader.ts';
import { wireFiles } from '../files-module.ts';
import {
  EXTRACTION,
  fileModules,
  LIMITS,
  RememberingTarget,
  sha256Of,
  someBytes,
  TEST_CHUNK,
} from './test-support/upload-bed.ts';

interface Line {
  id: string;
  seed: number;
  index?: number;
  isDone?: boolean;
}

const ann: Principal = {
  tenant: 'red',
  subject: 'ann',
  kind: 'session',
  roles: ['developer'],
  scopes: ['*'],
  keyId: undefined,
};
const CHUNKS = 6;

t.test('after kill -9 every acknowledged chunk and file is there, and uploads go on', async (t) => {
  const folder = newFolder(t);
  const rounds = iterations(3, 25);
  const lines: Line[] = [];
  for (let round = 0; round < rounds; round++) lines.push(...(await killAfter(folder, 60 + round * 7)));
  const storage = createStorage({ url: `sqlite:${folder}/svc.db`, modules: fileModules });
  await storage.open();
  const target = new RememberingTarget();
  const limits = { ...LIMITS, maxTenantBytes: 2 ** 40, maxOpenUploads: 10_000, expiryMs: 2 ** 40 };
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const files = { storage, dataDir: folder, log: silentLog, limits, extraction: EXTRACTION, chunkBytes: TEST_CHUNK, now };
  const uploads = wireFiles(files);
  uploads.serveUploads(target, { errors: [], created: Type.Object({}), accepted: Type.Object({}) });
  t.teardown(async () => {
    await uploads.stop();
    await storage.close();
  });
  await uploads.sweep.run();
  for (const [id, own] of Map.groupBy(lines, (line) => line.id)) {
    const bytes = someBytes(CHUNKS * TEST_CHUNK, own[0]?.seed);
    const acknowledged = own.map(({ index }) => index).filter((index) => index !== undefined);
    const { received } = await uploads.chunked.status(ann, id);
    const lost = acknowledged.filter((index) => !received.includes(index));
    if (lost.length > 0) t.fail(`chunks ${lost} of ${id} are lost`);
    for (let index = 0; index < CHUNKS; index++) {
      if (received.includes(index)) continue;
      const body = bytes.subarray(index * TEST_CHUNK, (index + 1) * TEST_CHUNK);
      await uploads.chunked.receive(ann, id, { index, sha256: sha256Of(body), body: ReadableStream.from([body]) });
    }
    const { body } = await uploads.chunked.finalize(ann, id);
    if (body['sha256'] !== sha256Of(bytes)) t.fail(`the file of ${id} is another`);
    if (own.some(({ isDone }) => isDone))
      t.strictSame(await readFile(uploads.blobs.pathOf(scopeOf(ann), sha256Of(bytes))), bytes);
  }
  t.ok(lines.length > rounds * 50);
  t.ok(target.files.length > 0, 'some were not complete');
  const known = new Set(lines.map(({ id }) => id));
  const left = await readdir(join(folder, 'uploads'));
  t.strictSame(
    left.filter((id) => known.has(id)),
    [],
    'what is left began so shortly before a kill that its client never heard of it',
  );
  clock.aheadMs = 2 ** 41;
  await uploads.sweep.run();
  t.strictSame(await readdir(join(folder, 'uploads')), [], 'and it expires');
});

async function killAfter(folder: string, nLines: number): Promise<Line[]> {
  const script = join(import.meta.dirname, 'test-support', 'steady-uploader.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const reader = new LineReader<Line>(child);
  await reader.find(() => reader.lines.length >= nLines);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await reader.ended;
  return reader.lines;
}
