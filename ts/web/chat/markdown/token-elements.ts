/**
 * Elements of markdown that is still being written, made one by one from what was read: nothing is parsed as HTML, and nothing can become
 * an element or an attribute that is not named here. Text that is whole goes through clean.ts.
 */
import { ALLOWED_ADDRESS, ALLOWED_PICTURE, ALLOWED_TAGS } from './allowed.ts';
import type { Token } from './parser.ts';

const TAGS = new Set(ALLOWED_TAGS);

export function elementsOf(tokens: readonly Token[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  addTo(fragment, tokens);
  return fragment;
}

function addTo(root: Node, tokens: readonly Token[]): void {
  const open: Node[] = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.type === 'inline') addTo(parent, token.children ?? []);
    else if (token.hidden) continue;
    else if (token.nesting === 1) open.push(parent.appendChild(containerOf(token)));
    else if (token.nesting === -1) open.pop();
    else parent.appendChild(leafOf(token));
  }
}

function containerOf(token: Token): HTMLElement {
  const element = elementNamed(token.tag);
  const title = token.attrGet('title');
  const align = /text-align:(left|center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (title != null) element.title = String(title);
  if (align !== undefined) element.className = `align-${align}`;
  if (element instanceof HTMLOListElement) element.start = Number(token.attrGet('start') ?? 1);
  if (element instanceof HTMLAnchorElement) pointTo(element, String(token.attrGet('href') ?? ''));
  return element;
}

function leafOf(token: Token): Node {
  const { type, content } = token;
  switch (type) {
    case 'code_inline':
      return codeOf(content, '');
    case 'fence':
    case 'code_block':
      return wrapped('pre', codeOf(content, type === 'fence' ? `language-${/^\S*/.exec(token.info.trim())?.[0] ?? ''}` : ''));
    case 'math_inline':
      return codeOf(content, token.markup === '$$' || token.markup === '\\]' ? 'math display' : 'math');
    case 'math_block':
      return wrapped('p', codeOf(content, 'math display'), 'math-block');
    case 'image':
      return pictureOf(token);
    case 'softbreak':
      return new Text('\n');
    case 'hardbreak':
      return elementNamed('br');
    case 'hr':
      return elementNamed('hr');
    default:
      return new Text(content);
  }
}

function pictureOf(token: Token): HTMLElement {
  const source = String(token.attrGet('src') ?? '');
  const text = (token.children ?? []).map(({ content }) => content).join('');
  if (ALLOWED_PICTURE.test(source)) {
    const picture = document.createElement('img');
    picture.src = source;
    picture.alt = text;
    return picture;
  }
  const link = document.createElement('a');
  link.className = 'picture-link';
  link.textContent = text === '' ? source : text;
  pointTo(link, source);
  return link;
}

function pointTo(link: HTMLAnchorElement, address: string): void {
  if (ALLOWED_ADDRESS.test(address)) link.href = address;
}

function codeOf(text: string, name: string): HTMLElement {
  const code = elementNamed('code');
  code.textContent = text;
  if (name !== '' && name !== 'language-') code.className = name;
  return code;
}

function wrapped(tag: string, inner: HTMLElement, name = ''): HTMLElement {
  const element = elementNamed(tag);
  if (name !== '') element.className = name;
  element.append(inner);
  return element;
}

function elementNamed(tag: string): HTMLElement {
  return document.createElement(TAGS.has(tag) ? tag : 'span');
}
