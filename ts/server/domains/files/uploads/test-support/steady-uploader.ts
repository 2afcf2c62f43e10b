/**
 * Uploads file after file in chunks, several at a time, and prints a JSON line for each chunk and file that was acknowledged. Usage: node
 * steady-uploader.ts FOLDER. Ends by being killed.
 */
import Type from 'typebox';
import type { Principal } from '../../../../platform/http/principal.ts';
import { silentLog } from '../../../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../../../platform/storage/index.ts';
import { wireFiles } from '../../files-module.ts';
import { EXTRACTION, fileModules, LIMITS, RememberingTarget, someBytes, TEST_CHUNK } from './upload-bed.ts';

const UPLOADERS = 3;
const CHUNKS = 6;
const ann: Principal = { tenant: 'red', subject: 'ann', kind: 'session', roles: ['developer'], scopes: ['*'], keyId: undefined };
const folder = process.argv[2] ?? '';
const storage = createStorage({ url: `sqlite:${folder}/svc.db`, modules: fileModules });
await storage.open();
const limits = { ...LIMITS, maxTenantBytes: 2 ** 40, maxOpenUploads: 10_000, expiryMs: 2 ** 40 };
const uploads = wireFiles({
  storage,
  dataDir: folder,
  log: silentLog,
  limits,
  extraction: EXTRACTION,
  chunkBytes: TEST_CHUNK,
});
uploads.serveUploads(new RememberingTarget(), { errors: [], created: Type.Object({}), accepted: Type.Object({}) });
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
let seed = 0;

async function upload(): Promise<never> {
  for (;;) {
    seed += 1;
    const mine = seed;
    const bytes = someBytes(CHUNKS * TEST_CHUNK, mine);
    const file = { protocol: 'chunked', namespace: 'n', fileName: 'a.txt', source: 'a', sizeBytes: bytes.length } as const;
    const { id } = await uploads.service.begin(ann, file);
    say({ id, seed: mine });
    for (let index = 0; index < CHUNKS; index++) {
      const body = [bytes.subarray(index * TEST_CHUNK, (index + 1) * TEST_CHUNK)];
      await uploads.chunked.receive(ann, id, {
        index,
        sha256: undefined,
        body: (async function* () {
          yield* body;
        })(),
      });
      say({ id, seed: mine, index });
    }
    await uploads.chunked.finalize(ann, id);
    say({ id, seed: mine, isDone: true });
  }
}

await Promise.all(Array.from({ length: UPLOADERS }, upload));
