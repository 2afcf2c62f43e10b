import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { LibraryError } from './files/library-error.ts';
import { pullModel } from './pull.ts';
import {
  answer,
  type Behaviour,
  BrokenServer,
  cutAfter,
  redirect,
  sound,
  withoutRanges,
  wrongRange,
} from './test-support/broken-server.ts';
import { writeTinyModel } from './test-support/tiny-model.ts';

t.setTimeout(120_000);

const folder = t.testdir();
const model = await writeTinyModel(join(folder, 'one.gguf'), { tensorBytes: 100_000 });
const other = await writeTinyModel(join(folder, 'two.gguf'), { tensorBytes: 100_000, fill: 9 });

/** Everything a server does wrong in the other tests, and another file of the same length under another validator. */
const misbehaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  fc.integer({ min: 0, max: model.length }).map((nBytes) => cutAfter(model, nBytes)),
  fc.integer({ min: 0, max: other.length }).map((nBytes) => cutAfter(other, nBytes, '"v2"')),
  fc.constantFrom(wrongRange(model), withoutRanges(model), sound(other, { etag: '"v2"' }), redirect('/elsewhere')),
  fc.constantFrom(answer(503), answer(416), answer(206), answer(416, { 'content-range': `bytes */${model.length}` })),
);

t.test('whatever the server does, what is stored is one whole file or nothing', async (t) => {
  let stored = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(misbehaviour, { maxLength: 8 }), async (queue) => {
      const modelsDir = mkdtempSync(join(folder, 'models-'));
      const server = await BrokenServer.start(sound(model), ...queue);
      try {
        const retry = { maxAttempts: 12, baseMs: 0, idleMs: 10_000 };
        await pullModel('owner/repo:tiny.gguf', { modelsDir, hub: server.base, retry });
        const bytes = readFileSync(join(modelsDir, 'tiny.gguf'));
        if (!bytes.equals(model) && !bytes.equals(other)) throw new Error('a mixture was stored');
        stored++;
      } catch (error) {
        if (!(error instanceof LibraryError)) throw error;
        if (existsSync(join(modelsDir, 'tiny.gguf'))) throw new Error(`stored in spite of ${error.message}`);
      } finally {
        await server.stop();
        rmSync(modelsDir, { recursive: true });
      }
    }),
    { numRuns: iterations(60, 300) },
  );
  t.ok(stored > 20, `${stored} of 60 were stored`);
});
