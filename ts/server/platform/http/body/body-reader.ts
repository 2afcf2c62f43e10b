/** From the bytes of a JSON body to what the handler gets: parsed, checked by the schema, and translated where the route does so. */
import type { TSchema } from 'typebox';
import { DomainError } from '../../errors/domain-error.ts';
import { SchemaCheck } from '../../schema/schema-check.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { BodyReading } from './body-reading.ts';
import { type BodyTexts, parseJsonBody } from './json-body.ts';

/** Longer sentences quote what the client sent. */
const MOST_SENTENCE_CHARACTERS = 2_000;

export class BodyReader {
  readonly #check: SchemaCheck;
  readonly #texts: BodyTexts;
  readonly #reading: Pick<BodyReading<unknown, unknown>, 'read'> | undefined;

  constructor(schema: TSchema, texts: BodyTexts = 'plain', reading?: Pick<BodyReading<unknown, unknown>, 'read'>) {
    this.#check = new SchemaCheck(schema);
    this.#texts = texts;
    this.#reading = reading;
  }

  /** Throws HttpError, or the DomainError of the reading. */
  read(bytes: Uint8Array): unknown {
    const value = parseJsonBody(bytes, this.#texts);
    const fault = this.#check.findFault(value, 'the request body');
    if (fault !== undefined) throw invalidRequest(fault);
    if (this.#reading === undefined) return value;
    try {
      return this.#reading.read(value, bytes.length);
    } catch (error) {
      throw shortened(error);
    }
  }
}

function shortened(error: unknown): unknown {
  if (!(error instanceof DomainError || error instanceof HttpError)) return error;
  if (error.message.length <= MOST_SENTENCE_CHARACTERS) return error;
  error.message = `${error.message.slice(0, MOST_SENTENCE_CHARACTERS)}...`;
  return error;
}
