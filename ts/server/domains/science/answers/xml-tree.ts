/**
 * XML as values that paths lead through: an element has the lists of its elements by their names without prefixes, its attributes as `@name`, and its
 * text as `#`. A document type is refused, so that no entity is declared and nothing is fetched.
 */
import { Parser } from 'htmlparser2';
import { TEXT } from './value-at.ts';

type Element = Record<string, unknown>;

const MOST_DEPTH = 64;
const MOST_ELEMENTS = 200_000;
/** The text of one element has so many at most. */
const MOST_CHARACTERS = 20_000;

/** Throws an Error that says what is wrong. */
export function readXmlTree(text: string): Element {
  const document: Element = newElement();
  const open: Element[] = [document];
  let nElements = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        if (open.length > MOST_DEPTH) throw new Error(`the XML has more than ${MOST_DEPTH} elements inside each other`);
        if (++nElements > MOST_ELEMENTS) throw new Error(`the XML has more than ${MOST_ELEMENTS} elements`);
        const element = newElement();
        for (const [attribute, value] of Object.entries(attributes)) element[`@${localName(attribute)}`] = value;
        const parent = open.at(-1) as Element;
        const siblings = (parent[localName(name)] ?? []) as unknown[];
        siblings.push(element);
        parent[localName(name)] = siblings;
        open.push(element);
      },
      ontext: (more) => {
        const element = open.at(-1) as Element;
        addText(element, more);
      },
      onclosetag: () => {
        const element = open.pop() as Element;
        const words = (element[TEXT] as string).replaceAll('\0', '').replace(/\s+/g, ' ');
        element[TEXT] = words.trim();
        const parent = open.at(-1);
        // Words in the middle of a text are often set apart (<i>E. coli</i>).
        if (parent !== undefined && /\S/.test(parent[TEXT] as string)) addText(parent, words);
      },
      onprocessinginstruction: (name) => {
        if (name.startsWith('!')) throw new Error('the XML declares a document type, which is never read');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(text);
  if (open.length > 1 || nElements === 0) throw new Error('the XML is cut off');
  parser.end();
  return document;
}

/** Without a prototype, since a document chooses the names. */
function newElement(): Element {
  return Object.assign(Object.create(null) as Element, { [TEXT]: '' });
}

function addText(element: Element, more: string): void {
  const text = element[TEXT] as string;
  if (text.length < MOST_CHARACTERS) element[TEXT] = `${text}${more}`.slice(0, MOST_CHARACTERS);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
