// node scripts/build.mjs [--preset NAME]: fetches the pinned sources and builds the addons into build/NAME/lib.
// node scripts/build.mjs --web: builds the pages alone, into build/web.
// node scripts/build.mjs --split FOLDER: the programs of models that are split over nodes, with llama-server (about 10 minutes on 2 cores).
// With --done FILE, that file is written when all is built: binding.gyp's build tool looks at it.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { nativeSteps } from './setup/native.mjs';
import { runScript } from './setup/run-script.mjs';
import { defaultPreset, rivalsPreset } from './setup/set-up.mjs';
import { splitProgramStep } from './setup/split-programs.mjs';
import { writeStamp } from './setup/stamps.mjs';
import { runSteps } from './setup/steps.mjs';
import { webStep } from './setup/web.mjs';

await runScript(async () => {
  const options = {
    preset: { type: 'string', default: defaultPreset() },
    web: { type: 'boolean', default: false },
    split: { type: 'string' },
    done: { type: 'string' },
  };
  const { values } = parseArgs({ options: /** @type {const} */ (options) });
  await runSteps(stepsOf(values));
  if (values.done) await writeStamp(values.done, '');
});

/** @param {{ web: boolean, split?: string | undefined, preset: string }} values */
function stepsOf({ web, split, preset }) {
  if (web) return [webStep()];
  return split
    ? [...nativeSteps(rivalsPreset()).slice(0, 2), splitProgramStep(rivalsPreset(), resolve(split))]
    : nativeSteps(preset);
}
