/** One request after another to models drawn at random, with room for some of them: what a switch costs. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { ModelSwitchLoad } from '../load/load.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, sendChat } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { at, isServed, summarise } from './summary.ts';

export const runModelSwitch: Scenario<ModelSwitchLoad> = async ({ target, seed }, load) => {
  const send = (model: string, own: number) =>
    sendChat(target, shapedBody({ ...load, body: { ...load.body, model } }, seed, own));
  // Once through all of them untimed: files that were never seen are checked first, and the page cache fills.
  for (const [own, model] of load.models.entries()) await send(model, 1_000 + own);
  const recent = new RecentModels(load.models, load.nResident);
  const random = new SeededRandom(seed);
  const startedAt = performance.now();
  const results: { isSwitch: boolean; answer: ChatAnswer }[] = [];
  for (let i = 0; i < load.requests; i++) {
    const model = load.models[random.integer(load.models.length)] ?? '';
    const isSwitch = !recent.use(model);
    results.push({ isSwitch, answer: await send(model, i) });
  }
  const e2e = (wanted: boolean) =>
    results.filter(({ isSwitch, answer }) => isSwitch === wanted && isServed(answer)).map(({ answer }) => answer.e2eMs);
  return {
    ...summarise(
      results.map(({ answer }) => answer),
      (performance.now() - startedAt) / 1_000,
    ),
    nSwitches: results.filter(({ isSwitch }) => isSwitch).length,
    switchP50Ms: at(e2e(true), 0.5),
    switchP99Ms: at(e2e(true), 0.99),
    residentP50Ms: at(e2e(false), 0.5),
  };
};

/** Which models are in memory when the one unused longest leaves, as both servers have it. */
class RecentModels {
  readonly #nResident: number;
  #models: string[];

  constructor(usedInOrder: readonly string[], nResident: number) {
    this.#nResident = nResident;
    this.#models = usedInOrder.slice(-nResident);
  }

  /** True when the model was there. */
  use(model: string): boolean {
    const wasThere = this.#models.includes(model);
    this.#models = [...this.#models.filter((other) => other !== model), model].slice(-this.#nResident);
    return wasThere;
  }
}
