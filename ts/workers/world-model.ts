/** Tasks of the worker pool: world models and slots are learned, models put into memory files, and both foresee. */
import { existsSync } from 'node:fs';
import { MemoryFileFault } from '../server/domains/memory/files/directory.ts';
import { readMemoryFile, readSections, writeMemoryFile } from '../server/domains/memory/files/memory-file.ts';
import { learnCodebook, type SlotMember } from '../server/domains/memory/forecast/codebook.ts';
import { modelSection, readModelSection, type SeriesModel } from '../server/domains/memory/forecast/model-section.ts';
import { type SeriesPoint, stepsOf } from '../server/domains/memory/forecast/series-steps.ts';
import { type ForeseenSlot, foreseenSlots, trainSlotModel } from '../server/domains/memory/forecast/slot-model.ts';
import { readSlotSection, slotSection } from '../server/domains/memory/forecast/slot-section.ts';
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
    }
  | {
      readonly kind: 'learn_slots';
      readonly members: readonly SlotMember[];
      readonly seed: number;
      readonly maxSeconds: number;
    }
  | {
      readonly kind: 'foresee_slots';
      readonly path: string;
      /** The first of them that has slots in the file is meant. */
      readonly owners: readonly string[];
      /** None: those that the file ends with. */
      readonly before: readonly number[];
      readonly horizon: number;
      readonly seed: number;
    };

type WorldModelReply =
  | { readonly kind: 'trained'; readonly model: WorldModel }
  | { readonly kind: 'foreseen'; readonly foreseen: Foreseen }
  | { readonly kind: 'written' }
  | { readonly kind: 'slots'; readonly section: Uint8Array; readonly nSlots: number }
  | { readonly kind: 'foreseen_slots'; readonly method: string; readonly steps: readonly ForeseenSlot[] }
  | { readonly kind: 'fault'; readonly fault: Fault; readonly detail: string };

type Fault = 'irregular' | 'no_model' | 'unreadable' | 'invalid_file' | 'unknown_slot';

export function run(task: WorldModelTask): WorldModelReply {
  if (task.kind === 'write') return write(task);
  if (task.kind === 'learn_slots') return learnSlots(task);
  if (task.kind === 'foresee_slots') return foreseeSlots(task);
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

function learnSlots({ members, seed, maxSeconds }: Extract<WorldModelTask, { kind: 'learn_slots' }>): WorldModelReply {
  const endsAt = performance.now() + maxSeconds * 1000;
  const codebook = learnCodebook(members, seed);
  if (codebook === undefined) return fault('no_model', 'there are too few memories for slots');
  const nSlots = codebook.sizes.length;
  const model = trainSlotModel(codebook.sequence, nSlots, { seed, endsAt });
  return { kind: 'slots', section: slotSection({ codebook, model }), nSlots };
}

function foreseeSlots(task: Extract<WorldModelTask, { kind: 'foresee_slots' }>): WorldModelReply {
  try {
    const sections = readSections(task.path, ({ kind, name }) => kind === 'slots' && task.owners.includes(name));
    const section = task.owners.flatMap((owner) => sections.find(({ name }) => name === owner) ?? [])[0];
    if (section === undefined) return fault('no_model', 'the file has no slots of yours or of the tenant');
    const slots = readSlotSection(section.bytes);
    if (slots === undefined) return fault('unreadable', 'the slots of the file are of another form');
    const { codebook, model } = slots;
    const unknown = task.before.find((slot) => slot >= model.nSlots);
    if (unknown !== undefined)
      return fault('unknown_slot', `the file has the slots 0 to ${model.nSlots - 1}, and no slot ${unknown}`);
    const before = task.before.length > 0 ? task.before : codebook.sequence;
    const steps = foreseenSlots(model, codebook.sequence, before, task.horizon, task.seed);
    return { kind: 'foreseen_slots', method: model.method, steps };
  } catch (error) {
    if (error instanceof MemoryFileFault) return fault('unreadable', error.message);
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

function fault(kind: Fault, detail: string): Extract<WorldModelReply, { kind: 'fault' }> {
  return { kind: 'fault', fault: kind, detail };
}
