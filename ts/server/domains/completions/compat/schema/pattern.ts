/** Regular expressions of JSON Schema as trees, whose strings are counted and matched in bounded time. */
import { PatternReader } from './pattern-reader.ts';
import { maxCodePoint, type PatternNode, UnfollowedPattern } from './pattern-tree.ts';

const any: PatternNode = { kind: 'set', ranges: [[0, maxCodePoint]] };
const anyText: PatternNode = { kind: 'repeat', of: any, min: 0, max: Infinity };

function hasAnchor(node: PatternNode): boolean {
  switch (node.kind) {
    case 'begin':
    case 'end':
      return true;
    case 'set':
      return false;
    case 'sequence':
      return node.parts.some(hasAnchor);
    case 'choice':
      return node.options.some(hasAnchor);
    case 'repeat':
      return hasAnchor(node.of);
  }
}

const maxOptions = 100;

/** The same as one tree without anchors, for whole strings: a pattern may match anywhere. */
function wholeOf(node: PatternNode, hasBegin = false, hasEnd = false): PatternNode {
  let nOptions = 0;
  const whole = (parts: readonly PatternNode[]): PatternNode => {
    if (++nOptions > maxOptions) throw new UnfollowedPattern('its anchors stand in too many alternatives');
    const first = parts[0];
    const last = parts.at(-1);
    if (first?.kind === 'sequence') return whole([...first.parts, ...parts.slice(1)]);
    if (last?.kind === 'sequence') return whole([...parts.slice(0, -1), ...last.parts]);
    if (first?.kind === 'choice' && hasAnchor(first)) return options(first, (option) => whole([option, ...parts.slice(1)]));
    if (last?.kind === 'choice' && hasAnchor(last)) return options(last, (option) => whole([...parts.slice(0, -1), option]));
    let begin = 0;
    let end = parts.length;
    while (parts[begin]?.kind === 'begin') begin++;
    while (end > begin && parts[end - 1]?.kind === 'end') end--;
    const inner = parts.slice(begin, end);
    if (inner.some(hasAnchor)) throw new UnfollowedPattern('an anchor stands inside it');
    return {
      kind: 'sequence',
      parts: [...(begin > 0 || hasBegin ? [] : [anyText]), ...inner, ...(end < parts.length || hasEnd ? [] : [anyText])],
    };
  };
  return whole([node]);
}

function options(choice: { options: readonly PatternNode[] }, each: (option: PatternNode) => PatternNode): PatternNode {
  return { kind: 'choice', options: choice.options.map(each) };
}

/** Throws UnfollowedPattern. */
export function readPattern(text: string): PatternNode {
  return wholeOf(new PatternReader(text).read());
}

/** Fewest and most code points of its strings. */
export function lengthsOf(node: PatternNode): readonly [number, number] {
  switch (node.kind) {
    case 'set':
      return [1, 1];
    case 'sequence':
      return node.parts.map(lengthsOf).reduce<readonly [number, number]>(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case 'choice': {
      const all = node.options.map(lengthsOf);
      return [Math.min(...all.map(([min]) => min)), Math.max(...all.map(([, max]) => max))];
    }
    case 'repeat': {
      const [min, max] = lengthsOf(node.of);
      return [min * node.min, max === 0 || node.max === 0 ? 0 : max * node.max];
    }
    default:
      return [0, 0];
  }
}

/** Its strings of these lengths; undefined where that needs more than another number of repetitions. */
export function withLengths(node: PatternNode, min: number, max: number): PatternNode | undefined {
  const [least, most] = lengthsOf(node);
  if (least >= min && most <= max) return node;
  const parts = node.kind === 'sequence' ? node.parts : [node];
  const open = parts.filter((part) => lengthsOf(part)[0] !== lengthsOf(part)[1]);
  const [free] = open;
  if (open.length !== 1 || free?.kind !== 'repeat') return undefined;
  const [each, eachMost] = lengthsOf(free.of);
  if (each !== 1 || eachMost !== 1) return undefined;
  const nFixed = least - free.min;
  const bounded = { ...free, min: Math.max(free.min, min - nFixed), max: Math.min(free.max, max - nFixed) };
  if (bounded.min > bounded.max) return undefined;
  return { kind: 'sequence', parts: parts.map((part) => (part === free ? bounded : part)) };
}

/** Whether the string is one of its own: all places where a match may go on are followed at once, so no string takes long. */
export function matches(node: PatternNode, text: string): boolean {
  const codes = [...text].map((letter) => letter.codePointAt(0) as number);
  return endsOf(node, codes, new Set([0])).has(codes.length);
}

function endsOf(node: PatternNode, codes: readonly number[], from: ReadonlySet<number>): ReadonlySet<number> {
  switch (node.kind) {
    case 'set': {
      const isIn = (at: number) =>
        node.ranges.some(([low, high]) => at < codes.length && low <= (codes[at] as number) && (codes[at] as number) <= high);
      return new Set([...from].filter(isIn).map((at) => at + 1));
    }
    case 'sequence':
      return node.parts.reduce((ends, part) => endsOf(part, codes, ends), from);
    case 'choice':
      return new Set(node.options.flatMap((option) => [...endsOf(option, codes, from)]));
    case 'repeat':
      return repeatedEnds(node, codes, from);
    default:
      return from;
  }
}

function repeatedEnds(
  node: PatternNode & { kind: 'repeat' },
  codes: readonly number[],
  from: ReadonlySet<number>,
): ReadonlySet<number> {
  const ends = new Set(node.min === 0 ? from : []);
  let reached = from;
  for (let n = 1; n <= node.max && reached.size > 0; n++) {
    reached = endsOf(node.of, codes, reached);
    if (n < node.min) continue;
    const added = [...reached].filter((at) => !ends.has(at));
    for (const at of added) ends.add(at);
    reached = new Set(added);
  }
  return ends;
}
