import { join } from 'node:path';
import { writeBundle } from '../../packaging/bundle/bundle.ts';
import { writeCodeCaches } from '../../packaging/bundle/code-caches.ts';
import { checkout } from '../setup/paths.mjs';
import { fingerprint, readStamp, writeStamp } from '../setup/stamps.mjs';

const folder = join(checkout, 'build', 'bundle');
const stamp = join(checkout, 'build', 'bundle.stamp');
const inputs = ['ts/cli', 'ts/server', 'ts/workers', 'packaging/bundle', 'package-lock.json', 'package.json'];

/** What black-box tests start: svc as users get it, which starts in half the time of its sources. */
export const bundledProgram = join(folder, 'svc.cjs');

export function bundleStep() {
  const state = () => fingerprint(checkout, inputs, (path) => !/\.(test|contract)\.ts$/.test(path)) + process.version;
  return {
    title: 'Bundling svc for black-box tests',
    isDone: async () => (await readStamp(stamp)) === state(),
    run: async () => {
      // Read first: an edit meanwhile must count as not bundled.
      const before = state();
      await writeBundle(checkout, folder);
      await writeCodeCaches(folder);
      await writeStamp(stamp, before);
    },
  };
}
