import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCmake } from './cmake.mjs';
import { describeEngine } from './engine.mjs';
import { checkout } from './paths.mjs';
import { readPins, sourceFolder } from './sources.mjs';
import { requireBuildTools } from './tools.mjs';

const programs = ['whisper-server', 'whisper-cli'];

/**
 * Upstream's programs of whisper.cpp beside those of llama.cpp, which nativeSteps(preset) has built with the same ggml.
 * @param {string} preset of rivals
 * @returns {import('./steps.mjs').Step}
 */
export function whisperProgramStep(preset) {
  const engine = describeEngine(preset);
  const pin = readPins()['whisper.cpp'];
  if (!pin) throw new Error('native/sources.json has no whisper.cpp');
  const source = sourceFolder(pin);
  // Another pin of whisper.cpp has another source folder, and this one's name tells it.
  const folder = join(engine.folder, 'whisper', source.slice(-12));
  const definitions = [`-DSVC_ENGINE_DIR=${engine.folder}`, `-DSVC_WHISPER_CPP_DIR=${source}`];
  return {
    title: 'Compiling whisper-server and whisper-cli',
    isDone: async () => [folder, ...programs.map((name) => join(engine.folder, 'bin', name))].every((path) => existsSync(path)),
    prepare: () => requireBuildTools(),
    run: async (report) => {
      await runCmake('cmake', ['-S', join(checkout, 'bench', 'media'), '-B', folder, ...definitions]);
      await runCmake('cmake', ['--build', folder], report);
    },
  };
}
