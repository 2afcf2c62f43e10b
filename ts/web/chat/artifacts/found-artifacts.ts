/**
 * Artifacts that stand in messages: blocks of code that can be drawn. Blocks of one kind and title are versions of one artifact; of those without a title,
 * the ones whose texts are alike.
 */
import type { CodeBlock } from '../markdown/block-choice.ts';
import { parser } from '../markdown/parser.ts';

export type ArtifactKind = 'html' | 'svg' | 'markdown' | 'mermaid' | 'code';

export interface FoundArtifact {
  kind: ArtifactKind;
  language: string;
  title: string;
  content: string;
  messageId: string;
}

const MAX_TITLE = 200;
/** Texts that have so much in common are versions of one. */
const LIKE = 0.5;

export function kindOf(language: string): ArtifactKind {
  const name = language.toLowerCase();
  return name === 'html' || name === 'svg' || name === 'mermaid' ? name : 'code';
}

/** Versions come oldest first; the block itself is among them, or alone where no message has it. */
export function versionsOf(
  messages: readonly { readonly id: string; readonly content: string }[],
  block: CodeBlock,
): FoundArtifact[] {
  const wanted = toFound(block, '');
  const all = messages.flatMap(({ id, content }) => blocksOf(content).map((each) => toFound(each, id)));
  const named = all.filter(
    ({ kind, language, title }) => kind === wanted.kind && language === wanted.language && title === wanted.title,
  );
  const same = wanted.title === '' ? alike(named, wanted) : named;
  const versions = same.filter(({ content }, index) => content !== same[index - 1]?.content);
  return versions.some(({ content }) => content === block.text) ? versions : [...versions, wanted];
}

/** A version may resemble the one before it alone, so that those that were found lead to others. */
function alike(all: readonly FoundArtifact[], wanted: FoundArtifact): FoundArtifact[] {
  const pairs = new Map(all.map((each) => [each, wordPairs(each.content)]));
  const found = new Set<FoundArtifact>();
  const leads = [wordPairs(wanted.content)];
  for (let lead = leads.pop(); lead !== undefined; lead = leads.pop())
    for (const [each, own] of pairs) {
      if (found.has(each) || likeness(lead, own) < LIKE) continue;
      found.add(each);
      leads.push(own);
    }
  return all.filter((each) => found.has(each));
}

function blocksOf(markdown: string): CodeBlock[] {
  if (!/```|~~~/.test(markdown)) return [];
  return parser
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content }) => ({ language: /^[\w+#.-]{1,30}/.exec(info.trim())?.[0] ?? '', text: content }));
}

function toFound({ language, text }: CodeBlock, messageId: string): FoundArtifact {
  const kind = kindOf(language);
  return { kind, language: kind === 'code' ? language.toLowerCase() : '', title: titleOf(kind, text), content: text, messageId };
}

/** What the document calls itself. */
function titleOf(kind: ArtifactKind, text: string): string {
  const [, found = ''] = (kind === 'html' || kind === 'svg' ? /<title[^>]*>([^<]{1,300})/i.exec(text) : null) ?? [];
  return found.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
}

type WordPairs = ReadonlySet<string>;

/** How much two texts have in common: the share of neighbouring words that stand in both, 0 to 1. */
function wordPairs(text: string): WordPairs {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  // A text of one word is a pair of its own.
  return new Set(words.length < 2 ? words : words.slice(1).map((word, index) => `${words[index]} ${word}`));
}

function likeness(a: WordPairs, b: WordPairs): number {
  if (a.size + b.size === 0) return 1;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
