// node scripts/build.mjs [--preset NAME]: fetches the pinned sources and builds the addons into build/NAME/lib.
// node scripts/build.mjs --web: builds the pages alone, into build/web.
// With --done FILE, that file is written when all is built: binding.gyp's build tool looks at it.
import { parseArgs } from 'node:util';
import { nativeSteps } from './setup/native.mjs';
import { runScript } from './setup/run-script.mjs';
import { defaultPreset } from './setup/set-up.mjs';
import { writeStamp } from './setup/stamps.mjs';
import { runSteps } from './setup/steps.mjs';
import { webStep } from './setup/web.mjs';

await runScript(async () => {
  const options = {
    preset: { type: 'string', default: defaultPreset() },
    web: { type: 'boolean', default: false },
    done: { type: 'string' },
  };
  const { values } = parseArgs({ options: /** @type {const} */ (options) });
  await runSteps(values.web ? [webStep()] : nativeSteps(values.preset));
  if (values.done) await writeStamp(values.done, '');
});
