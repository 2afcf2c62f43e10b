/** OpenAI's filters by attributes, as a test of a document. Source: OpenAI API reference, ComparisonFilter and CompoundFilter. */
import { knowledgeError } from '../errors.ts';
import type { Attributes, AttributeTest } from '../knowledge-base.ts';

type Value = string | number | boolean;
type Members = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;
const MAX_PARTS = 100;
const MAX_VALUES = 500;

/** Throws `invalid_request` that names the part. */
export function readAttributeFilter(filter: unknown, param = 'filters'): AttributeTest {
  let nParts = 0;
  const read = (part: unknown, path: string, depth: number): AttributeTest => {
    nParts += 1;
    if (typeof part !== 'object' || part === null || Array.isArray(part)) throw wrong(path, 'must be an object');
    if (depth > MAX_DEPTH || nParts > MAX_PARTS) throw wrong(path, `has more than ${MAX_DEPTH} levels or ${MAX_PARTS} parts`);
    const members = part as Members;
    const { type } = members;
    if (type !== 'and' && type !== 'or') return comparison(members, path);
    const list = members['filters'];
    if (!Array.isArray(list) || list.length === 0) throw wrong(`${path}.filters`, 'must be a list of filters');
    const tests = list.map((each, i) => read(each, `${path}.filters[${i}]`, depth + 1));
    return type === 'and'
      ? (attributes) => tests.every((test) => test(attributes))
      : (attributes) => tests.some((test) => test(attributes));
  };
  return read(filter, param, 1);
}

/** A document without the attribute is other than any value, and compares with none. */
function comparison({ type, key, value }: Members, path: string): AttributeTest {
  if (typeof key !== 'string' || key === '') throw wrong(`${path}.key`, 'must name an attribute');
  const ownOf = (attributes: Attributes): Value | undefined => (Object.hasOwn(attributes, key) ? attributes[key] : undefined);
  switch (type) {
    case 'eq':
    case 'ne': {
      const wanted = readValue(value, path);
      return (attributes) => (ownOf(attributes) === wanted) === (type === 'eq');
    }
    case 'in':
    case 'nin': {
      if (!Array.isArray(value) || value.length === 0 || value.length > MAX_VALUES)
        throw wrong(`${path}.value`, `must be a list of 1 to ${MAX_VALUES} values`);
      const wanted = new Set<Value | undefined>(value.map((each) => readValue(each, path)));
      return (attributes) => wanted.has(ownOf(attributes)) === (type === 'in');
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      if (typeof value !== 'number' && typeof value !== 'string') throw wrong(`${path}.value`, 'must be a number or a text');
      return (attributes) => isOrdered(type, ownOf(attributes), value);
    }
    default:
      throw wrong(`${path}.type`, 'must be eq, ne, gt, gte, lt, lte, in, nin, and or or');
  }
}

function isOrdered(type: 'gt' | 'gte' | 'lt' | 'lte', own: Value | undefined, bound: number | string): boolean {
  if (typeof own !== typeof bound || own === undefined || typeof own === 'boolean') return false;
  if (type === 'gt') return own > bound;
  if (type === 'gte') return own >= bound;
  return type === 'lt' ? own < bound : own <= bound;
}

function readValue(value: unknown, path: string): Value {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrong(`${path}.value`, 'must be a text, a number or a boolean');
}

function wrong(path: string, sentence: string): Error {
  return knowledgeError('invalid_request', `${path} ${sentence}.`, { param: path });
}
