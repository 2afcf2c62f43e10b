import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildAddons, buildTarget } from './addons.mjs';
import { requireCudaToolkit } from './cuda.mjs';
import { buildEngine, describeEngine, isEngineBuilt } from './engine.mjs';
import { buildFolder, checkout } from './paths.mjs';
import { fetchSource, readPins, sourceFolder } from './sources.mjs';
import { fingerprint, readStamp, writeStamp } from './stamps.mjs';
import { requireBuildTools } from './tools.mjs';

const inputs = ['CMakeLists.txt', 'CMakePresets.json', 'native'];

/**
 * The steps from nothing to build/<preset>/lib. A step that is done is skipped by whoever runs them.
 * @param {string} preset
 * @returns {import('./steps.mjs').Step[]}
 */
export function nativeSteps(preset) {
  const pins = Object.values(readPins());
  const engine = describeEngine(preset);
  const stamp = join(buildFolder(preset), 'addons.stamp');
  const value = () => stampOf(engine);
  const prepare = () => {
    requireBuildTools();
    if (engine.isCuda) requireCudaToolkit();
  };
  return [
    {
      title: 'Fetching llama.cpp, whisper.cpp and usearch',
      isDone: async () => pins.every((pin) => existsSync(join(sourceFolder(pin), pin.marker))),
      prepare,
      run: () => Promise.all(pins.map((pin) => fetchSource(pin))),
    },
    {
      title: 'Compiling llama.cpp (minutes, the first time on this machine)',
      isDone: async () => isEngineBuilt(engine),
      prepare,
      run: (report) => buildEngine(engine, report),
    },
    {
      title: 'Compiling the addons',
      isDone: async () => !engine.mayChange && (await readStamp(stamp)) === value(),
      prepare,
      run: async (report) => {
        // Read first: an edit during the build must count as not built.
        const before = value();
        await buildAddons(engine, report);
        await writeStamp(stamp, before);
      },
    },
  ];
}

/**
 * The programs that native tests compare the addons with, built beside a preset's addons.
 * @param {string} preset
 * @returns {import('./steps.mjs').Step}
 */
export function testProgramStep(preset) {
  const engine = describeEngine(preset);
  const folder = buildFolder(preset);
  const stamp = join(folder, 'test-programs.stamp');
  return {
    title: 'Compiling the programs that tests compare with',
    isDone: async () => !engine.mayChange && (await readStamp(stamp)) === stampOf(engine),
    prepare: () => requireBuildTools(),
    run: async (report) => {
      const before = stampOf(engine);
      await buildTarget(folder, 'svc_llama_references', report);
      await writeStamp(stamp, before);
    },
  };
}

/**
 * Changes with the engine and with every source of ours.
 * @param {{ folder: string }} engine
 */
function stampOf({ folder }) {
  return `${folder}\n${fingerprint(checkout, inputs, isCompiled)}\n`;
}

/** @param {string} path */
function isCompiled(path) {
  return /\.(cpp|h|txt|json|cmake)$/.test(path);
}
