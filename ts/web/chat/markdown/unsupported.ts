/** Marks the names, numbers and dates of an answer that no passage says which it cites. */
import { t } from '../../i18n/language.ts';
import { type Citation, unsupportedOf } from '../thread/message.ts';

interface Place {
  readonly node: Text;
  readonly at: number;
  readonly length: number;
  /** Of the citation. */
  readonly n: number;
}

/** @param text the answer as it was written: the places count its characters, and markdown takes some of them out of `root`. */
export function markUnsupported(root: HTMLElement, text: string, citations: readonly Citation[]): void {
  const spans = citations.flatMap((citation) => unsupportedOf(citation).map((span) => ({ ...span, n: citation.n })));
  if (spans.length === 0) return;
  const nodes = textsOf(root);
  const places = new Map<string, Place>();
  for (const { text: said, start, n } of spans) {
    const found = nodes.flatMap(({ node, index }) => placesIn(node.data, said).map((at) => ({ node, index, at })));
    const place = found[placesIn(text.slice(0, start), said).length] ?? found.at(-1);
    if (place !== undefined) places.set(`${place.index} ${place.at}`, { ...place, length: said.length, n });
  }
  // From the end on, since a node is cut where it is marked.
  for (const place of [...places.values()].sort((a, b) => b.at - a.at)) mark(place);
}

function mark({ node, at, length, n }: Place): void {
  const rest = node.splitText(at);
  if (rest.length > length) rest.splitText(length);
  const element = document.createElement('mark');
  element.className = 'unsupported';
  element.title = t('unsupported_by', { n });
  const explanation = document.createElement('span');
  explanation.className = 'unseen';
  explanation.textContent = ` (${t('unsupported_by', { n })})`;
  rest.replaceWith(element);
  element.append(rest, explanation);
}

function textsOf(root: HTMLElement): { node: Text; index: number }[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: { node: Text; index: number }[] = [];
  while (walker.nextNode()) nodes.push({ node: walker.currentNode as Text, index: nodes.length });
  return nodes;
}

function placesIn(text: string, sought: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) places.push(at);
  return places;
}
