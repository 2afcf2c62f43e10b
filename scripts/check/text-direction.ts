/**
 * The pages go either way: their style sheets and scripts name the beginning and the end of a line, never left and right, so that a language
 * written from right to left needs no rules of its own.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface DirectionReport {
  nFiles: number;
  /** `path:line: what stands there`. */
  findings: string[];
}

const physicalName = /(^|-)(left|right)($|-)/;
/** Properties whose value may name a side. */
const sided = /^(text-align(-last)?|float|clear|caption-side|transform-origin|(object|background)-position(-x)?)$/;
/** Their four values are top, right, bottom, left; a radius has four corners. */
const fourSided = /^(margin|padding|inset|border-(width|color|style|radius)|scroll-(margin|padding))$/;
const moving = /^(translate|scale|transform)$/;
const inScript = /\.style\.(left|right|(margin|padding|border)(Left|Right)\w*)\b|setProperty\(\s*['"](\w+-)?(left|right)['"]/;

/** @param root absolute path of a tree laid out like this repository. */
export function checkTextDirection(root: string): DirectionReport {
  const paths = globSync('ts/web/**/*.{css,ts,tsx}', { cwd: root }).sort();
  const findings = paths.flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    const found = path.endsWith('.css') ? physicalRules(source) : physicalWrites(source);
    return found.map(({ line, text }) => `${path}:${line}: ${text}`);
  });
  return { nFiles: paths.length, findings };
}

interface Found {
  line: number;
  text: string;
}

/** Declarations of a style sheet that hold for one way alone. */
export function physicalRules(source: string): Found[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
  return [...code.matchAll(/(?<=[{;]\s*)([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])/g)]
    .filter(([, name = '', value = '']) => isPhysical(name, value.trim()))
    .map(({ 0: text, index }) => ({ line: code.slice(0, index).split('\n').length, text: text.replace(/\s+/g, ' ') }));
}

function isPhysical(name: string, value: string): boolean {
  if (physicalName.test(name)) return true;
  if (sided.test(name)) return /\b(left|right)\b/.test(value);
  if (moving.test(name)) return !value.includes('--forward') && movesSideways(name, value);
  return fourSided.test(name) && isLopsided(name, value);
}

function movesSideways(name: string, value: string): boolean {
  if (name === 'transform') return /translate(X|3d)?\(|skew|matrix/.test(value);
  const [first = ''] = parts(value);
  return name === 'translate' ? !/^(0|none)$/.test(first) : first.startsWith('-');
}

function isLopsided(name: string, value: string): boolean {
  const [first, second, third, fourth] = parts(value);
  if (name === 'border-radius') return second !== undefined && (first !== second || (third ?? first) !== (fourth ?? second));
  return fourth !== undefined && second !== fourth;
}

/** Values between blanks, where no blank inside of parentheses counts. */
function parts(value: string): string[] {
  return value.match(/(?:[^\s()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
}

/** Lines of a script that write such a declaration. */
export function physicalWrites(source: string): Found[] {
  return source.split('\n').flatMap((text, index) => (inScript.test(text) ? [{ line: index + 1, text: text.trim() }] : []));
}
