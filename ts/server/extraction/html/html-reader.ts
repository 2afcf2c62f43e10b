/** HTML to blocks: headings, paragraphs, lists, tables and code stay, scripts and styles do not. The parser builds no tree. */
import { Parser } from 'htmlparser2';
import type { BlockList } from '../block-list.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { HtmlTables } from './html-tables.ts';

const LEFT_OUT = new Set([
  'script',
  'style',
  'template',
  'svg',
  'math',
  'noscript',
  'iframe',
  'object',
  'canvas',
  'select',
  'button',
]);
/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form header ' +
    'hgroup hr html li legend main menu nav ol p section summary table tbody tfoot thead tr ul'
  ).split(' '),
);
const HEADING = /^h([1-6])$/;
const MOST_LINKS = 500;
const MAX_LINK_LENGTH = 2_000;

export class HtmlReader {
  title: string | undefined;
  language: string | undefined;
  /** The first links, as they are written. */
  readonly links: string[] = [];
  readonly #blocks: BlockList;
  readonly #tables: HtmlTables;
  #text: string[] = [];
  #headingLevel = 0;
  #nLeftOut = 0;
  #nPre = 0;
  #depth = 0;
  #isTitle = false;

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
    this.#tables = new HtmlTables(blocks);
  }

  read(html: string): void {
    const parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        ontext: (text) => this.#add(text),
        onclosetag: (name) => this.#close(name),
      },
      { decodeEntities: true, lowerCaseTags: true },
    );
    parser.end(html);
    this.#flush();
    this.#tables.end();
  }

  #open(name: string, attributes: Record<string, string>): void {
    this.#depth++;
    if (this.#depth > this.#blocks.limits.maxHtmlDepth)
      throw new ExtractionRefusal(
        'too_deeply_nested',
        `The HTML has more than ${this.#blocks.limits.maxHtmlDepth} elements inside each other.`,
      );
    if (LEFT_OUT.has(name)) this.#nLeftOut++;
    else if (name === 'html') this.language = attributes['lang'] ?? attributes['xml:lang'];
    else if (name === 'title') this.#isTitle = true;
    else if (name === 'a') this.#addLink(attributes['href']);
    else if (name === 'br') this.#text.push('\n');
    else if (name === 'pre') this.#openPre();
    else if (HEADING.test(name)) this.#openHeading(Number(name[1]));
    else if (name === 'td' || name === 'th') this.#openCell(name);
    else if (BLOCKS.has(name)) this.#openBlock(name);
  }

  #close(name: string): void {
    this.#depth--;
    if (LEFT_OUT.has(name)) this.#nLeftOut = Math.max(0, this.#nLeftOut - 1);
    else if (name === 'title') this.#isTitle = false;
    else if (name === 'pre') this.#closePre();
    else if (HEADING.test(name)) this.#closeHeading();
    else if (name === 'td' || name === 'th') this.#closeCell();
    else if (BLOCKS.has(name)) this.#closeBlock(name);
  }

  #add(text: string): void {
    if (this.#isTitle) this.title = `${this.title ?? ''}${text}`.replace(/\s+/g, ' ').trim();
    // Spaces and line ends of the source are one space (CSS Text section 4.1.1), except in pre.
    else if (this.#nLeftOut === 0) this.#text.push(this.#nPre > 0 ? text : text.replace(/\s+/g, ' '));
  }

  #addLink(href: string | undefined): void {
    if (href !== undefined && href.length <= MAX_LINK_LENGTH && this.links.length < MOST_LINKS) this.links.push(href);
  }

  #openBlock(name: string): void {
    this.#flush();
    if (name === 'table') this.#tables.open();
    else if (name === 'tr') this.#tables.openRow();
    else if (name === 'li') this.#text.push('- ');
  }

  #closeBlock(name: string): void {
    this.#flush();
    if (name === 'table') this.#tables.close();
    else if (name === 'tr') this.#tables.closeRow();
  }

  #openHeading(level: number): void {
    this.#flush();
    this.#headingLevel = level;
  }

  #closeHeading(): void {
    this.#flush();
    this.#headingLevel = 0;
  }

  #openCell(name: 'td' | 'th'): void {
    this.#flush();
    this.#tables.openCell(name === 'th');
  }

  #closeCell(): void {
    this.#flush();
    this.#tables.closeCell();
  }

  #openPre(): void {
    this.#flush();
    this.#nPre++;
  }

  #closePre(): void {
    if (this.#nPre === 0) return;
    if (this.#nPre === 1) this.#flush();
    this.#nPre--;
  }

  #flush(): void {
    const text = this.#text.join('');
    this.#text = [];
    if (text.trim() === '' || text === '- ') return;
    if (this.#tables.isInCell) this.#tables.addText(text);
    else if (this.#headingLevel > 0) this.#blocks.heading(text, this.#headingLevel);
    else if (this.#nPre > 0) this.#blocks.code(text);
    else this.#blocks.paragraph(text);
  }
}
