import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { randomModel, randomProjector } from '../../../../../../models/random/fixture.ts';
import { type InspectionPlan, runInspection } from './inspection-process.ts';
import type { InspectionResult } from './inspection-result.ts';

const entry = fileURLToPath(new URL('../../../../../workers/inspect-model.ts', import.meta.url));
const limits = { timeoutMs: 60_000, memoryMiB: 4096, cpuSeconds: 60 };
const skip = process.platform === 'linux' ? false : 'only Linux has the launcher';

/** Runs the script without any confinement. */
async function inspectFreely(path: string, plan: InspectionPlan): Promise<InspectionResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    '--expose-gc',
    entry,
    path,
    JSON.stringify(plan),
  ]);
  return JSON.parse(stdout) as InspectionResult;
}

/** Beside weights and buffers, a plan tells what the heap grew by, which differs from run to run. */
function withoutHeap(result: InspectionResult): unknown {
  return { ...result, ...('memory' in result ? { memory: { ...result.memory, extras: undefined } } : {}) };
}

t.test('confinement does not change what an inspection finds', async (t) => {
  const path = await randomModel();
  const plan = { engine: { nCtx: 512 }, load: { projectorPath: await randomProjector() } };
  const found = await runInspection(path, plan, limits);
  t.match(found, { usable: true, memory: { weights: { hostBytes: Number } } });
  t.strictSame(withoutHeap(found), withoutHeap(await inspectFreely(path, plan)));
});

/** Answers with what it could read of the files that its plan names. */
const reader = `
import { readFileSync } from 'node:fs';
const [, , , plan] = process.argv;
const read = (path) => { try { return readFileSync(path, 'utf8'); } catch (error) { return error.code; } };
process.stdout.write(JSON.stringify({ usable: false, reason: JSON.parse(plan).engine.paths.map(read).join() }));
`;

t.test('all parts of a split model can be read, what is loaded with it, and nothing else of the folder', { skip }, async (t) => {
  const names = [
    'm-00001-of-00002.gguf',
    'm-00002-of-00002.gguf',
    'projector.gguf',
    'lora.gguf',
    'other.gguf',
    'm-00003-of-00002.gguf',
  ];
  const folder = t.testdir(Object.fromEntries([...names.map((name, i) => [name, String(i)]), ['sub', {}]]));
  const script = join(folder, 'sub', 'reader.mjs');
  await writeFile(script, reader);
  const path = (name: string) => join(folder, name);
  const load = { projectorPath: path('projector.gguf'), loras: [{ name: 'a', path: path('lora.gguf') }] };
  const plan = { engine: { paths: names.map(path) }, load } as InspectionPlan;
  const result = await runInspection(path('m-00001-of-00002.gguf'), plan, limits, script);
  t.match(result, { reason: '0,1,2,3,EACCES,EACCES' });
});

t.test('a launcher that cannot do its work is named in the reason', { skip }, async (t) => {
  const result = await runInspection('/no/such/model.gguf', undefined, { ...limits, memoryMiB: -1 });
  t.match(result, {
    usable: false,
    isDeath: true,
    reason: /exit status 125 .*\(its launcher says: --memory-mib needs a whole number/,
  });
});
