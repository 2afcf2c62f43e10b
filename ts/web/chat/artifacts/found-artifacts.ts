/** Artifacts that stand in messages: blocks of code that can be drawn. Blocks of one kind and title are versions of one artifact. */
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

export function kindOf(language: string): ArtifactKind {
  const name = language.toLowerCase();
  return name === 'html' || name === 'svg' || name === 'mermaid' ? name : 'code';
}

/** Oldest first; the block itself is among them, or alone where no message has it. */
export function versionsOf(
  messages: readonly { readonly id: string; readonly content: string }[],
  block: CodeBlock,
): FoundArtifact[] {
  const wanted = toFound(block, '');
  const all = messages.flatMap(({ id, content }) => blocksOf(content).map((each) => toFound(each, id)));
  const same = all.filter(
    ({ kind, language, title }) => kind === wanted.kind && language === wanted.language && title === wanted.title,
  );
  const versions = same.filter(({ content }, index) => content !== same[index - 1]?.content);
  return versions.some(({ content }) => content === block.text) ? versions : [...versions, wanted];
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
