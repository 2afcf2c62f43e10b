// npm run eval:speech [-- options]: makes the checkout ready, builds whisper-cli of the same source, and runs models/eval/speech/main.ts.
import { join } from 'node:path';
import { becomeTypeScript } from '../ts/cli/node-runtime.mjs';
import { nativeSteps } from './setup/native.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { rivalsPreset, setUp } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';
import { whisperProgramStep } from './setup/whisper-programs.mjs';

await runScript(async () => {
  await setUp();
  await runSteps([...nativeSteps(rivalsPreset()), whisperProgramStep(rivalsPreset())]);
  await becomeTypeScript(join(checkout, 'models', 'eval', 'speech', 'main.ts'), process.argv.slice(2));
});
