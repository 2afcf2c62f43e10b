/**
 * Cuts the conversations out of an export file while it arrives: the elements of the array that is the whole document, or that stands in its
 * member `conversations`. Only brackets and strings are looked at; each element is parsed on its own by whoever gets it.
 */
import { type ConversationError, conversationError } from '../errors.ts';

/** The bytes of one element, which nothing else holds; or that they were not kept. */
export type SplitElement =
  | { readonly kind: 'element'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'too_large' | 'too_many_values' };

/** Of one element. */
interface ElementLimits {
  readonly maxBytes: number;
  /** Members and elements, at any depth. */
  readonly maxValues: number;
}

const MEMBER = 'conversations';
const MAX_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

export class ElementSplitter {
  readonly #limits: ElementLimits;
  #depth = 0;
  /** Of the array whose elements are wanted; 0 until it is found. */
  #arrayDepth = 0;
  #isArrayOver = false;
  #inString = false;
  #isEscaped = false;
  /** The last string of the document's own level, to see which member comes. */
  #name: number[] = [];
  #isMember = false;
  #isFirst = true;
  /** The bytes of an element that goes on in the next chunk. */
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #nValues = 0;
  /** Where the element that is being read begins in this chunk; -1: none is. */
  #from = -1;

  constructor(limits: ElementLimits) {
    this.#limits = limits;
  }

  /** Throws ConversationError `invalid_import`. */
  *push(chunk: Uint8Array): Generator<SplitElement> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      if (this.#inString) this.#string(byte);
      else if (this.#structure(byte, i)) yield this.#take(bytes, i + 1);
    }
    if (this.#from >= 0) this.#hold(bytes, bytes.length);
    if (this.#from >= 0) this.#from = 0;
  }

  /** Of an element that has begun and may still be wanted. */
  get heldBytes(): number {
    return this.#fault() === undefined ? this.#heldBytes : 0;
  }

  /** Throws for a document that broke off, or that holds no conversations. */
  end(): void {
    if (this.#arrayDepth === 0) throw unreadable(`it has no member \`${MEMBER}\` with an array`);
    if (this.#depth > 0) throw unreadable('it ends in the middle');
  }

  #string(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#inString = false;
    if (this.#inString && this.#depth === 1 && this.#name.length <= MEMBER.length) this.#name.push(byte);
  }

  /** True when an element ends with this byte. */
  #structure(byte: number, i: number): boolean {
    if (byte <= 0x20) return false;
    if (this.#isFirst) this.#begin(byte);
    if (byte === QUOTE) {
      this.#inString = true;
      this.#name = [];
    } else if (byte === COMMA) this.#nValues += 1;
    else if (byte === COLON) this.#isMember = this.#depth === 1 && String.fromCharCode(...this.#name) === MEMBER;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#open(byte, i);
    else if (byte === 0x5d || byte === 0x7d) return this.#close();
    return false;
  }

  #begin(byte: number): void {
    // A byte order mark may come first (RFC 8259, section 8.1).
    if (byte === 0xef || byte === 0xbb || byte === 0xbf) return;
    this.#isFirst = false;
    if (byte === 0x50) throw unreadable('it begins like a ZIP archive; unpack it, and send the file conversations.json from it');
    if (byte !== OPEN_ARRAY && byte !== OPEN_OBJECT) throw unreadable('it is no JSON array or object');
  }

  #open(byte: number, i: number): void {
    if (this.#depth === this.#arrayDepth && this.#arrayDepth > 0 && !this.#isArrayOver) this.#begun(i);
    // The first value in a bracket has no comma before it.
    this.#nValues += 1;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw unreadable(`it is nested deeper than ${MAX_DEPTH} levels`);
    const isWanted = this.#depth === 1 || (this.#depth === 2 && this.#isMember);
    if (this.#arrayDepth === 0 && byte === OPEN_ARRAY && isWanted) this.#arrayDepth = this.#depth;
  }

  #begun(i: number): void {
    this.#from = i;
    this.#nValues = 0;
  }

  #close(): boolean {
    if (this.#depth === 0) throw unreadable('a bracket is closed that was not opened');
    this.#depth -= 1;
    if (this.#from >= 0 && this.#depth === this.#arrayDepth) return true;
    if (this.#arrayDepth > 0 && this.#depth < this.#arrayDepth) this.#isArrayOver = true;
    return false;
  }

  #hold(bytes: Buffer, end: number): void {
    const piece = bytes.subarray(this.#from, end);
    this.#heldBytes += piece.length;
    if (this.#fault() === undefined) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #fault(): 'too_large' | 'too_many_values' | undefined {
    if (this.#heldBytes > this.#limits.maxBytes) return 'too_large';
    return this.#nValues > this.#limits.maxValues ? 'too_many_values' : undefined;
  }

  #take(bytes: Buffer, end: number): SplitElement {
    this.#hold(bytes, end);
    const fault = this.#fault();
    const element: SplitElement = fault === undefined ? { kind: 'element', bytes: joined(this.#pieces) } : { kind: fault };
    this.#pieces = [];
    this.#heldBytes = 0;
    this.#from = -1;
    return element;
  }
}

/** Memory of its own, which can move to a thread: a small Buffer is a part of a larger one. */
function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function unreadable(why: string): ConversationError {
  return conversationError('invalid_import', `The file cannot be imported: ${why}.`);
}
