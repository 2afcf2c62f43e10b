import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeEngine } from '../../scripts/setup/engine.mjs';
import { rivalsPreset } from '../../scripts/setup/set-up.mjs';

/** A program of llama.cpp, built from the same pinned source, with the same ggml, by `node scripts/build.mjs --preset bench`. */
export function rivalProgram(name: string): string {
  const preset = rivalsPreset();
  const { folder } = describeEngine(preset);
  const variant = process.env['SVC_CPU_VARIANT'];
  if (!existsSync(join(folder, 'bin', name)))
    throw new Error(`${name} is not built: run node scripts/build.mjs --preset ${preset} (about 10 minutes on 2 cores)`);
  return join(variant ? variantFolder(folder, variant) : join(folder, 'bin'), name);
}

/** The programs beside one CPU variant alone: they take the best that lies in their own folder. Hard links, as links are resolved. */
function variantFolder(engine: string, variant: string): string {
  const from = join(engine, 'bin');
  const library = `libggml-cpu-${variant}.so`;
  if (!existsSync(join(from, library))) throw new Error(`SVC_CPU_VARIANT=${variant}: ${from} has no ${library}`);
  const to = join(engine, 'variants', variant);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const isOther = name.startsWith('libggml-cpu-') && name !== library;
    if (!isOther && !existsSync(join(to, name))) linkSync(join(from, name), join(to, name));
  }
  return to;
}
