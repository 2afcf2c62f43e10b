/** What a rendered block gets beside its text: buttons, frames, numbered citations. Elements are made here, never HTML. */
import { copyText } from '../../design/clipboard.ts';
import { csvOfRows } from '../../design/csv.ts';
import { type IconName, iconElement } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';
import type { Citation } from '../thread/message.ts';
import { isDrawable, showBlock } from './block-choice.ts';
import { showCitation } from './citation-choice.ts';

export function decorate(fragment: DocumentFragment, citations: readonly Citation[]): void {
  for (const link of fragment.querySelectorAll('a')) decorateLink(link);
  for (const table of fragment.querySelectorAll('table')) frameTable(table);
  for (const pre of fragment.querySelectorAll('pre')) frameCode(pre);
  if (citations.length > 0) markCitations(fragment, citations);
}

/** Each block goes the way of its own language, as a whole: the marks of a list stand where its text begins. Code always goes to the right. */
export function setDirections({ children }: DocumentFragment): void {
  for (const block of children) if (block instanceof HTMLElement && block.tagName !== 'PRE') block.dir = 'auto';
}

/** The page asks before it follows, see leave-dialog.tsx; these hold where somebody opens it otherwise. */
function decorateLink(link: HTMLAnchorElement): void {
  link.rel = 'noopener noreferrer nofollow';
  link.target = '_blank';
  if (link.classList.contains('picture-link')) link.prepend(iconElement('image'));
}

function frameTable(table: HTMLTableElement): void {
  const frame = document.createElement('div');
  frame.className = 'wide-block';
  const scroller = document.createElement('div');
  scroller.className = 'table-frame';
  scroller.tabIndex = 0;
  scroller.role = 'region';
  scroller.ariaLabel = t('table');
  table.className = 'table';
  table.replaceWith(frame);
  scroller.append(table);
  frame.append(scroller, blockBar('', [button(t('copy_csv'), () => copyText(csvOf(table)))]));
}

function frameCode(pre: HTMLPreElement): void {
  const code = pre.querySelector('code');
  if (code === null) return;
  const language = /language-([\w+#.-]{1,30})/.exec(code.className)?.[1] ?? '';
  code.dataset['language'] = language;
  const frame = document.createElement('div');
  frame.className = 'code-block';
  pre.tabIndex = 0;
  pre.replaceWith(frame);
  frame.append(
    blockBar(language, [...drawButtons(code, language), button(t('copy'), () => copyText(code.textContent ?? ''))]),
    pre,
  );
}

/** What a block shows runs only when the reader asks for it. */
function drawButtons(code: HTMLElement, language: string): HTMLElement[] {
  if (!isDrawable(language)) return [];
  const text = language === 'mermaid' ? t('draw') : t('preview');
  return [button(text, () => showBlock({ language, text: code.textContent ?? '' }), 'play')];
}

function blockBar(title: string, buttons: readonly HTMLElement[]): HTMLElement {
  const bar = document.createElement('div');
  bar.className = 'block-bar';
  const name = document.createElement('span');
  name.textContent = title;
  bar.append(name, ...buttons);
  return bar;
}

function button(text: string, run: () => unknown, icon: IconName = 'copy'): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'button bare small';
  element.append(iconElement(icon), text);
  element.addEventListener('click', () => void run());
  return element;
}

/** `[2]` in the text becomes a button where there is a passage of that number. */
function markCitations(fragment: DocumentFragment, citations: readonly Citation[]): void {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.closest('code, a, button') === null || text.parentElement === null) markText(text, byNumber);
  }
}

function markText(text: Text, byNumber: ReadonlyMap<number, Citation>): void {
  const parts = text.data.split(/(\[\d{1,3}\])/);
  if (parts.length === 1) return;
  text.replaceWith(
    ...parts.map((part) => {
      const citation = /^\[\d{1,3}\]$/.test(part) ? byNumber.get(Number(part.slice(1, -1))) : undefined;
      return citation === undefined ? part : citationChip(citation);
    }),
  );
}

function citationChip(citation: Citation): HTMLButtonElement {
  const chip = document.createElement('button');
  chip.type = 'button';
  chip.className = 'citation-chip';
  chip.textContent = String(citation.n);
  chip.ariaLabel = t('source_number', { n: citation.n, source: citation.source });
  chip.title = citation.source;
  chip.addEventListener('click', () => showCitation(citation));
  return chip;
}

/** A table as comma-separated values. */
function csvOf(table: HTMLTableElement): string {
  return csvOfRows([...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? '')));
}
