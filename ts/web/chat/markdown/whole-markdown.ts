/** Markdown of a text that is whole, with what needs all of it: citations, links that are defined at the end. */
import type { Citation } from '../thread/message.ts';
import { parser } from './parser.ts';
import { embellish, renderTokens } from './rendered-block.ts';
import { markUnsupported } from './unsupported.ts';

export function drawMarkdown(root: HTMLElement, text: string, citations: readonly Citation[] = []): void {
  const env = {};
  root.replaceChildren(renderTokens(parser.parse(text, env), env, citations));
  markUnsupported(root, text, citations);
  embellish(root.children);
}
