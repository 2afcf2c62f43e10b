/** A form without files that came as JSON: each member is a field, and a list is a field for each of its values. */
import { invalidRequest } from '../errors.ts';
import { parseJsonBody } from './body-reader.ts';
import { type BodyStream, payloadTooLarge } from './body-stream.ts';
import { DEFAULT_PART_LIMITS, type FieldPart, tooMany } from './multipart.ts';

/** The fields of a form without files. */
const MAX_BYTES = 1024 * 1024;

/** Can be read once. Reading throws HttpError 400 `invalid_json` and `invalid_request`, 400 `too_many_parts`, 413 `payload_too_large`, and BodyAborted. */
export class JsonForm implements AsyncIterable<FieldPart> {
  readonly #body: BodyStream;
  readonly #mostFields: number;

  constructor(body: BodyStream, mostFields = DEFAULT_PART_LIMITS.maxFields) {
    this.#body = body;
    this.#mostFields = mostFields;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FieldPart> {
    const value = parseJsonBody(await this.#collect());
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidRequest({ member: '', sentence: 'the request body must be an object.' });
    let nFields = 0;
    for (const [name, member] of Object.entries(value))
      for (const each of Array.isArray(member) ? (member as unknown[]) : [member]) {
        if (each === null) continue;
        if (typeof each === 'object') throw noField(name.slice(0, 80));
        nFields += 1;
        if (nFields > this.#mostFields) throw tooMany('fields', this.#mostFields);
        yield { kind: 'field', name, value: String(each) };
      }
  }

  async #collect(): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of this.#body) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_BYTES) throw payloadTooLarge(MAX_BYTES);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

function noField(member: string): Error {
  return invalidRequest({ member, sentence: `\`${member}\` must be a text, a number, a boolean, or a list of them.` });
}
