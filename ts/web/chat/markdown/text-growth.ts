/** The end of what is drawn, where text that needs no reading is added as it is. */
import type { Token } from './parser.ts';
import { growsPlainly, isPlain, spacesBehind } from './plain-growth.ts';

/** Text inside of anything else is a link, code, emphasis that has ended, or a formula. */
const HOLDERS = new Set(['P', 'LI', 'UL', 'OL', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

export interface TextGrowth {
  /** False: the text has to be read. */
  take(text: string): boolean;
}

/** `tail`: what is drawn of the block; `rest`: the text that it was read from. Undefined: whatever comes has to be read. */
export function growthOf(block: readonly Token[], tail: readonly Node[], rest: string): TextGrowth | undefined {
  const [first] = block;
  if (first?.type === 'fence') return codeGrowth(first, tail, rest);
  if (first?.type === 'table_open' || !growsPlainly(rest)) return undefined;
  const node = lastText(tail);
  return node === undefined ? undefined : plainGrowth(node, spacesBehind(rest));
}

function plainGrowth(node: Text, behind: string): TextGrowth {
  let spaces = behind;
  return {
    take: (text) => {
      if (!isPlain(text)) return false;
      const all = spaces + text;
      spaces = spacesBehind(all);
      node.appendData(all.slice(0, all.length - spaces.length));
      return true;
    },
  };
}

/** Open code at the margin: only its marks can end it. */
function codeGrowth({ content }: Token, tail: readonly Node[], rest: string): TextGrowth | undefined {
  const firstLine = /^(?:`{3}|~{3})[^\n]*\n/.exec(rest)?.[0];
  if (firstLine === undefined || content.length < rest.length - firstLine.length) return undefined;
  const frame = tail.find((node): node is HTMLElement => node instanceof HTMLElement);
  const code = frame?.querySelector('pre > code');
  if (code == null) return undefined;
  const node = code.lastChild instanceof Text ? code.lastChild : code.appendChild(new Text());
  return {
    take: (text) => {
      if (/[`~]/.test(text)) return false;
      node.appendData(text);
      return true;
    },
  };
}

function lastText(nodes: readonly Node[]): Text | undefined {
  const last = nodes.findLast((node) => !isBlank(node));
  if (last instanceof Text) return last;
  if (!(last instanceof HTMLElement) || !HOLDERS.has(last.tagName)) return undefined;
  return lastText([...last.childNodes]);
}

function isBlank(node: Node): boolean {
  return node instanceof Text && node.data.trim() === '';
}
