/**
 * Reads an XML part as a stream of events. There is no document type and no entity of a document's own: nothing is fetched, and nothing expands.
 * Element names come without their prefix, attributes with it.
 */
import { Parser } from 'htmlparser2';
import type { ExtractionLimits } from '../extraction-limits.ts';
import { damaged, ExtractionRefusal } from '../extraction-refusal.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open?(name: string, attributes: XmlAttributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Throws `damaged_file` for a part that is cut off, `unsafe_xml`, `too_deeply_nested`. */
export async function readXml(chunks: AsyncIterable<Uint8Array>, handler: XmlHandler, limits: ExtractionLimits): Promise<void> {
  const events = new XmlEvents(handler, limits);
  const parser = new Parser(events, { xmlMode: true, decodeEntities: true });
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  if (events.isOpen || !events.hasRoot) throw damaged('A part of the document is cut off.');
  parser.end();
}

/** What the parser calls. */
class XmlEvents {
  hasRoot = false;
  readonly #handler: XmlHandler;
  readonly #maxDepth: number;
  #depth = 0;

  constructor(handler: XmlHandler, { maxXmlDepth }: ExtractionLimits) {
    this.#handler = handler;
    this.#maxDepth = maxXmlDepth;
  }

  get isOpen(): boolean {
    return this.#depth > 0;
  }

  onopentag(name: string, attributes: XmlAttributes): void {
    this.hasRoot = true;
    this.#depth++;
    if (this.#depth > this.#maxDepth)
      throw new ExtractionRefusal(
        'too_deeply_nested',
        `The document has more than ${this.#maxDepth} elements inside each other.`,
      );
    this.#handler.open?.(localName(name), attributes);
  }

  ontext(text: string): void {
    this.#handler.text?.(text);
  }

  onclosetag(name: string): void {
    this.#depth--;
    this.#handler.close?.(localName(name));
  }

  onprocessinginstruction(name: string, data: string): void {
    const isSubset = name.toLowerCase() === '!doctype' && data.includes('[');
    if (isSubset || /^!(?:entity|element|attlist|notation)$/i.test(name)) throw unsafe();
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function unsafe(): ExtractionRefusal {
  return new ExtractionRefusal(
    'unsafe_xml',
    'The document declares a document type or entities of its own, which are never resolved.',
  );
}

/** XML of office programs is UTF-8 but for some in UTF-16, which begins with a mark. */
function encodingOf(chunk: Uint8Array): string {
  if (chunk[0] === 0xff && chunk[1] === 0xfe) return 'utf-16le';
  return chunk[0] === 0xfe && chunk[1] === 0xff ? 'utf-16be' : 'utf-8';
}
