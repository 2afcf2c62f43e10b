/** Tasks of the worker pool: world models are trained, put into memory files, and foresee. */
import { existsSync } from 'node:fs';
import { MemoryFileFault } from '../server/domains/memory/files/directory.ts';
import { readMemoryFile, writeMemoryFile } from '../server/domains/memory/files/memory-file.ts';
import { modelSection, readModelSection, type SeriesModel } from '../server/domains/memory/forecast/model-section.ts';
import { type SeriesPoint, stepsOf } from '../server/domains/memory/forecast/series-steps.ts';
import { type Foreseen, foreseenSteps, trainWorldModel, type WorldModel } from '../server/domains/memory/forecast/world-model.ts';

/** The section of a file that holds world models. */
const SECTION = { kind: 'world_model', name: 'series' } as const;

export type WorldModelTask =
  | { readonly kind: 'train'; readonly points: readonly SeriesPoint[]; readonly seed: number; readonly maxSeconds: number }
  | { readonly kind: 'write'; readonly path: string; readonly models: readonly SeriesModel[]; readonly created: number }
  | {
      readonly kind: 'foresee';
      readonly points: readonly SeriesPoint[];
      /** Undefined: rules alone foresee. */
      readonly stored?: { readonly path: string; readonly series: string } | undefined;
      readonly horizon: number;
      readonly seed: number;
    };

type WorldModelReply =
  | { readonly kind: 'trained'; readonly model: WorldModel }
  | { readonly kind: 'foreseen'; readonly foreseen: Foreseen }
  | { readonly kind: 'written' }
  | { readonly kind: 'fault'; readonly fault: 'irregular' | 'no_model' | 'unreadable' | 'invalid_file'; readonly detail: string };

export function run(task: WorldModelTask): WorldModelReply {
  if (task.kind === 'write') return write(task);
  const steps = stepsOf(task.points);
  if (steps === undefined) return fault('irregular', 'the series has fewer than three points, or more gaps than points');
  if (task.kind === 'train') {
    const endsAt = performance.now() + task.maxSeconds * 1000;
    return { kind: 'trained', model: trainWorldModel(steps, { seed: task.seed, endsAt }) };
  }
  const found = task.stored === undefined ? trainWorldModel(steps, { seed: task.seed, endsAt: 0 }) : storedModel(task.stored);
  if ('fault' in found) return found;
  try {
    return { kind: 'foreseen', foreseen: foreseenSteps(found, steps, task.horizon, task.seed) };
  } catch (error) {
    if (error instanceof RangeError) return fault('unreadable', error.message);
    throw error;
  }
}

/** Other sections of the file, and models of other series, stay. */
function write({ path, models, created }: Extract<WorldModelTask, { kind: 'write' }>): WorldModelReply {
  try {
    const sections = existsSync(path) ? readMemoryFile(path) : [];
    const before = sections.find(isModels);
    const kept = (before && readModelSection(before.bytes))?.filter(
      ({ series }) => !models.some((each) => each.series === series),
    );
    const section = { ...SECTION, bytes: modelSection([...(kept ?? []), ...models]) };
    writeMemoryFile(path, [...sections.filter((each) => !isModels(each)), section], created);
    return { kind: 'written' };
  } catch (error) {
    if (error instanceof MemoryFileFault) return fault('invalid_file', error.message);
    throw error;
  }
}

function storedModel({
  path,
  series,
}: {
  path: string;
  series: string;
}): WorldModel | Extract<WorldModelReply, { kind: 'fault' }> {
  try {
    const section = readMemoryFile(path).find(isModels);
    if (section === undefined) return fault('no_model', 'the file has no world model');
    const models = readModelSection(section.bytes);
    if (models === undefined) return fault('unreadable', 'the world model of the file is of another form');
    const found = models.find((each) => each.series === series);
    return found?.model ?? fault('no_model', `the file has no world model of ${series}`);
  } catch (error) {
    if (error instanceof MemoryFileFault) return fault('unreadable', error.message);
    throw error;
  }
}

function isModels({ kind, name }: { kind: string; name: string }): boolean {
  return kind === SECTION.kind && name === SECTION.name;
}

function fault(
  kind: Extract<WorldModelReply, { kind: 'fault' }>['fault'],
  detail: string,
): Extract<WorldModelReply, { kind: 'fault' }> {
  return { kind: 'fault', fault: kind, detail };
}
