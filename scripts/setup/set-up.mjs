import { areDependenciesInstalled, installDependencies } from './dependencies.mjs';
import { nativeSteps } from './native.mjs';
import { runSteps } from './steps.mjs';
import { webStep } from './web.mjs';

/** What `npm start` and `npm test` build when SVC_PRESET does not say. */
export function defaultPreset(env = process.env) {
  return env.SVC_PRESET ?? (process.platform === 'darwin' ? 'macos' : 'cpu');
}

/** Where the programs are built that svc is compared with: like svc itself, for a GPU or without one. */
export function rivalsPreset() {
  return defaultPreset() === 'cuda' ? 'cuda-bench' : 'bench';
}

/**
 * Makes this checkout ready to run: dependencies with Node 22, the pages, native libraries. What is done is left alone,
 * and an interrupted run goes on where it stopped.
 */
export async function setUp(preset = defaultPreset()) {
  await runSteps([
    { title: 'Installing dependencies and Node 22', isDone: async () => areDependenciesInstalled(), run: installDependencies },
    webStep(),
    ...nativeSteps(preset),
  ]);
}
