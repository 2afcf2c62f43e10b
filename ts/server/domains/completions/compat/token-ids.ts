/** Token ids that stand in a request. */
import { invalid } from '../errors.ts';

const maxTokenId = 2 ** 31 - 1;

export function readTokens(list: readonly unknown[], param: string): Int32Array {
  if (list.length === 0) throw invalid(param, `${param} is empty.`);
  const bad = list.findIndex((id) => !Number.isInteger(id) || (id as number) < 0 || (id as number) > maxTokenId);
  if (bad >= 0) throw invalid(`${param}[${bad}]`, `${param}[${bad}] must be a token id, an integer from 0 to ${maxTokenId}.`);
  return Int32Array.from(list as number[]);
}
