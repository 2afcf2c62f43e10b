import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeEngine } from '../../scripts/setup/engine.mjs';
import { rivalsPreset } from '../../scripts/setup/set-up.mjs';

/** A program of llama.cpp, built from the same pinned source, with the same ggml, by `node scripts/build.mjs --preset bench`. */
export function rivalProgram(name: string): string {
  const preset = rivalsPreset();
  const program = join(describeEngine(preset).folder, 'bin', name);
  if (existsSync(program)) return program;
  throw new Error(`${name} is not built: run node scripts/build.mjs --preset ${preset} (about 10 minutes on 2 cores)`);
}
