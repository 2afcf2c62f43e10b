/** A router that takes the route that is nearest to the last turn, and writes down what it is asked and told. */
import type { MemoryApi } from '../../../memory/index.ts';

type RouterPort = MemoryApi['router'];
type Asked = Omit<Parameters<RouterPort['choose']>[1], 'signal' | 'turns'>;

interface ScriptedRouter extends RouterPort {
  readonly asked: Asked[];
  /** Choices that were kept, with the place of the answer. */
  readonly kept: unknown[];
  readonly ended: unknown[];
}

export function scriptedRouter(): ScriptedRouter {
  const asked: Asked[] = [];
  const kept: unknown[] = [];
  const ended: unknown[] = [];
  return {
    asked,
    kept,
    ended,
    mode: 'shadow',
    choose: async (_, { kind, routes, cosines = [] }) => {
      asked.push({ kind, routes, cosines });
      const scores = cosines.at(-1) ?? routes.map(() => 1 / routes.length);
      const chosen = routes[scores.indexOf(Math.max(...scores))] ?? '';
      return { id: 'rte_1', kind, routes, scores, chosen, floor: chosen, learned: undefined };
    },
    keep: (_, { kind, chosen }, place) => kept.push({ kind, chosen, ...place }),
    end: (_, { kind, chosen }, outcome) => ended.push({ kind, chosen, outcome }),
  };
}
