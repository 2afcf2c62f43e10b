// node scripts/build.mjs [--preset NAME]: fetches the pinned sources and builds the addons into build/NAME/lib.
import { parseArgs } from 'node:util';
import { nativeSteps } from './setup/native.mjs';
import { runScript } from './setup/run-script.mjs';
import { defaultPreset } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';

await runScript(async () => {
  const { values } = parseArgs({ options: { preset: { type: 'string', default: defaultPreset() } } });
  await runSteps(nativeSteps(values.preset));
});
