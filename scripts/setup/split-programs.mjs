import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCmake } from './cmake.mjs';
import { describeEngine } from './engine.mjs';
import { checkout } from './paths.mjs';
import { readStamp, writeStamp } from './stamps.mjs';
import { requireBuildTools } from './tools.mjs';

const built = ['ggml-rpc-server', 'libggml-rpc.so'];
const shipped =
  /^(llama-server|libllama-server-impl\.so|libggml-(cpu|cuda).*\.so|lib(ggml|ggml-base|llama|llama-common|mtmd)\.so\.\d+)$/;

/**
 * The programs of a model that is split over nodes, with all that they load, into one folder. nativeSteps(preset) has built llama-server.
 * @param {string} preset of rivals
 * @param {string} folder
 * @returns {import('./steps.mjs').Step}
 */
export function splitProgramStep(preset, folder) {
  const engine = describeEngine(preset);
  // Beside the engine, and not in its folder of programs: llama-server of the bench would load it there.
  const build = join(engine.folder, 'split');
  const stamp = join(folder, 'split.stamp');
  const definitions = [`-DSVC_ENGINE_DIR=${engine.folder}`, `-DSVC_LLAMA_CPP_DIR=${engine.source}`];
  return {
    title: 'Compiling the programs of models that are split over nodes',
    isDone: async () => (await readStamp(stamp)) === engine.folder,
    prepare: () => requireBuildTools(),
    run: async (report) => {
      await runCmake('cmake', ['-S', join(checkout, 'native', 'split'), '-B', build, ...definitions]);
      await runCmake('cmake', ['--build', build], report);
      await mkdir(folder, { recursive: true });
      const programs = join(engine.folder, 'bin');
      for (const name of (await readdir(programs)).filter((each) => shipped.test(each)))
        await copyFile(join(programs, name), join(folder, name));
      for (const name of built) await copyFile(join(build, name), join(folder, name));
      await writeStamp(stamp, engine.folder);
    },
  };
}
