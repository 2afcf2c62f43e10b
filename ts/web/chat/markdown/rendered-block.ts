/** Blocks of markdown as elements. */
import type { Citation } from '../thread/message.ts';
import { clean } from './clean.ts';
import { decorate, setDirections } from './decorate.ts';
import { highlight } from './highlight.ts';
import { drawMath } from './math-view.ts';
import { parser, type Token } from './parser.ts';

/** `env`: definitions of links, which later blocks use. */
export function renderTokens(
  tokens: Token[],
  env: Record<string, unknown>,
  citations: readonly Citation[] = [],
): DocumentFragment {
  const fragment = clean(parser.renderer.render(tokens, parser.options, env));
  setDirections(fragment);
  decorate(fragment, citations);
  return fragment;
}

/** Colours and formulas of blocks that will not change any more. */
export function embellish(nodes: Iterable<Node>): void {
  for (const node of nodes) {
    if (!(node instanceof HTMLElement)) continue;
    for (const code of node.querySelectorAll<HTMLElement>('pre > code')) void highlight(code);
    for (const code of node.querySelectorAll<HTMLElement>('code.math')) void drawMath(code);
  }
}

/** Tokens by outermost block. */
export function splitBlocks(tokens: readonly Token[]): Token[][] {
  const blocks: Token[][] = [];
  for (const token of tokens) {
    const begins = token.level === 0 && token.nesting >= 0;
    if (begins) blocks.push([]);
    blocks.at(-1)?.push(token);
  }
  return blocks;
}
