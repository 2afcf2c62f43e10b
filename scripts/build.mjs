// node scripts/build.mjs [--preset NAME]: fetches the pinned sources and builds the addons into build/NAME/lib.
import { parseArgs } from 'node:util';
import { buildAddons } from './setup/addons.mjs';
import { buildEngine, describeEngine } from './setup/engine.mjs';
import { Progress } from './setup/progress.mjs';
import { runScript } from './setup/run-script.mjs';
import { fetchSource, readPins } from './setup/sources.mjs';
import { requireBuildTools } from './setup/tools.mjs';

await runScript(async () => {
  const { values } = parseArgs({ options: { preset: { type: 'string', default: 'cpu' } } });
  requireBuildTools();
  const engine = describeEngine(values.preset);
  const progress = new Progress(3);
  await progress.step('Sources', () => Promise.all(Object.values(readPins()).map((pin) => fetchSource(pin))));
  await progress.step('llama.cpp', (report) => buildEngine(engine, report));
  await progress.step('Addons', (report) => buildAddons(engine, report));
});
