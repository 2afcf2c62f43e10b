/**
 * Markdown that is still being written. Blocks, items and rows before the last one cannot change any more, so each is drawn once; the last
 * one is read again where what came is more than words.
 */
import { whenIdle } from '../../design/when-idle.ts';
import { decorate, setDirections } from './decorate.ts';
import { isLooseList, loosen, type OpenContainer, type Part, type Parts, partsOf } from './open-container.ts';
import { parser, type Token } from './parser.ts';
import { embellish, splitBlocks } from './rendered-block.ts';
import { growthOf, type TextGrowth } from './text-growth.ts';
import { elementsOf } from './token-elements.ts';

export class GrowingMarkdown {
  readonly #root: HTMLElement;
  readonly #onBlock: (text: string) => void;
  readonly #env: Record<string, unknown> = {};
  /** The text behind what is complete. */
  #rest = '';
  #tail: ChildNode[] = [];
  #container: OpenContainer | undefined;
  #growth: TextGrowth | undefined;

  /** `onBlock` is called with the plain text of each block once it is complete. */
  constructor(root: HTMLElement, onBlock: (text: string) => void = () => {}) {
    this.#root = root;
    this.#onBlock = onBlock;
    root.replaceChildren();
  }

  append(text: string): void {
    this.#rest += text;
    if (this.#growth?.take(text) !== true) this.#read();
  }

  #read(): void {
    const source = (this.#container?.prefix ?? '') + this.#rest;
    const blocks = splitBlocks(parser.parse(source, this.#env));
    const lines = blocks.map((block) => block[0]?.map?.[0] ?? 0);
    const nKept = settledBefore(source, lines);
    const [first, ...others] = blocks.slice(nKept);
    for (const node of this.#tail) node.remove();
    this.#tail = [];
    this.#growth = undefined;
    // Blank lines, and definitions of links, which are drawn nowhere.
    if (first === undefined) return;
    for (const block of blocks.slice(0, nKept)) this.#keep(block);
    const line = this.#drawFirst(first, lines[nKept] ?? 0, source);
    for (const block of others) this.#drawTail(this.#root, drawn(block));
    this.#rest = source.slice(offsetOfLine(source, line));
    this.#growth = others.length === 0 ? growthOf(first, this.#tail, this.#rest) : undefined;
  }

  #keep(block: Token[]): void {
    const container = this.#container;
    const parts = container?.kind === block[0]?.type ? partsOf(block) : undefined;
    if (container !== undefined && parts !== undefined)
      this.#complete(container.element, this.#renderParts(container, parts, parts.parts));
    else this.#complete(this.#root, drawn(block));
    this.#container = undefined;
  }

  /** Draws the first block that is not complete. Returns the line at which the text begins that is read again. */
  #drawFirst(block: Token[], line: number, source: string): number {
    if (this.#container?.kind !== block[0]?.type) this.#container = undefined;
    const parts = partsOf(block);
    const nSettled =
      parts === undefined
        ? 0
        : settledBefore(
            source,
            parts.parts.map((part) => part.line),
          );
    if (parts !== undefined && nSettled > 0) this.#keepParts(block, parts, nSettled, source);
    const open = parts?.parts.slice(nSettled) ?? [];
    if (this.#container === undefined || parts === undefined) {
      this.#drawTail(this.#root, drawn(block));
      return line;
    }
    this.#drawTail(this.#container.element, this.#renderParts(this.#container, parts, open));
    return open[0]?.line ?? line;
  }

  #keepParts(block: Token[], parts: Parts, nKept: number, source: string): void {
    const kept = parts.parts.slice(0, nKept);
    if (this.#container === undefined) this.#container = this.#openContainer(block, parts, kept, source);
    else this.#complete(this.#container.element, this.#renderParts(this.#container, parts, kept));
  }

  /** The parts that are complete are drawn as a block of their own, which those that follow come into. */
  #openContainer(block: Token[], { open, close }: Parts, kept: readonly Part[], source: string): OpenContainer | undefined {
    const tokens = kept.flatMap((part) => part.tokens);
    const fragment = drawn([...open, ...tokens, ...close]);
    const kind = block[0]?.type ?? '';
    const element = fragment.querySelector<HTMLElement>(kind === 'table_open' ? 'tbody' : 'ul, ol');
    if (element === null) return undefined;
    this.#complete(this.#root, fragment);
    const firstLine = block[0]?.map?.[0] ?? 0;
    const head = source.slice(offsetOfLine(source, firstLine), offsetOfLine(source, firstLine + 2));
    return { kind, element, prefix: kind === 'table_open' ? head : '', isLoose: isLooseList(tokens) };
  }

  #renderParts({ kind, isLoose }: OpenContainer, { open, close }: Parts, parts: readonly Part[]): DocumentFragment {
    const tokens = parts.flatMap((part) => part.tokens);
    if (kind !== 'table_open') loosen(tokens, isLoose);
    const whole = elementsOf([...open, ...tokens, ...close]);
    const fragment = document.createDocumentFragment();
    fragment.append(...(whole.querySelector(kind === 'table_open' ? 'tbody' : 'ul, ol')?.children ?? []));
    decorate(fragment, []);
    return fragment;
  }

  #complete(parent: HTMLElement, fragment: DocumentFragment): void {
    const elements = [...fragment.children];
    parent.append(fragment);
    for (const element of elements) this.#onBlock(element.textContent ?? '');
    whenIdle(() => embellish(elements));
  }

  #drawTail(parent: HTMLElement, fragment: DocumentFragment): void {
    this.#tail.push(...fragment.childNodes);
    parent.append(fragment);
  }
}

function drawn(tokens: readonly Token[]): DocumentFragment {
  const fragment = elementsOf(tokens);
  setDirections(fragment);
  decorate(fragment, []);
  return fragment;
}

/** A number that may yet become the mark of a list's next item. */
const MARK_BEGUN = /^ {0,3}\d{1,9}$/;

/**
 * How many parts, by the lines that they begin at, are complete because the next one has begun for good: its first line has ended, or stands behind a
 * blank one. A line that is still being written may yet turn out to belong to what stands before it.
 */
function settledBefore(source: string, lines: readonly number[]): number {
  const last = lines.findLastIndex((line, index) => {
    if (index === 0) return true;
    const start = offsetOfLine(source, line);
    if (source.includes('\n', start)) return true;
    return /\n[ \t]*\n$/.test(source.slice(0, start)) && !MARK_BEGUN.test(source.slice(start));
  });
  return Math.max(0, last);
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line && offset >= 0; passed++) {
    const end = text.indexOf('\n', offset);
    offset = end === -1 ? text.length : end + 1;
  }
  return offset;
}
