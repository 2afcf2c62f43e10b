/** OpenAI's ranking options, as a search takes them. */

import type { Question } from '../../retrieval/index.ts';
import { knowledgeError } from '../errors.ts';

interface Ranking extends Pick<Question, 'denseWeight' | 'isRanked'> {
  /** Results that are less sure are left out, 0 to 1. */
  readonly leastScore: number;
}

const RANKERS: readonly unknown[] = ['none', 'auto', 'default-2024-11-15', undefined, null];

/** Throws `invalid_request`. */
export function readRanking(options: unknown, param = 'ranking_options'): Ranking {
  if (options === undefined || options === null) return { leastScore: 0 };
  if (typeof options !== 'object' || Array.isArray(options)) throw wrong(param, 'must be an object');
  const { ranker, score_threshold: least = 0, hybrid_search: weights } = options as Record<string, unknown>;
  if (!RANKERS.includes(ranker)) throw wrong(`${param}.ranker`, 'must be auto, none or default-2024-11-15');
  if (typeof least !== 'number' || !(least >= 0 && least <= 1)) throw wrong(`${param}.score_threshold`, 'must be from 0 to 1');
  return {
    leastScore: least,
    ...(ranker === 'none' ? { isRanked: false } : {}),
    ...(weights === undefined || weights === null ? {} : { denseWeight: readWeights(weights, `${param}.hybrid_search`) }),
  };
}

function readWeights(weights: unknown, param: string): number {
  if (typeof weights !== 'object' || weights === null) throw wrong(param, 'must be an object');
  const { embedding_weight: dense, text_weight: terms } = weights as Record<string, unknown>;
  if (!isWeight(dense) || !isWeight(terms) || dense + terms === 0)
    throw wrong(param, 'needs embedding_weight and text_weight, from 0 to 1, at least one of them above 0');
  return dense / (dense + terms);
}

function isWeight(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function wrong(path: string, sentence: string): Error {
  return knowledgeError('invalid_request', `${path} ${sentence}.`, { param: path });
}
