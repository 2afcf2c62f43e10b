/** Events are declared once: a name and the schema of what they carry. */
import type { Static, TSchema } from 'typebox';
import { SchemaCheck } from '../schema/schema-check.ts';

export interface Event<Payload = unknown> {
  readonly type: string;
  /** Undefined for what concerns no tenant. */
  readonly tenant: string | undefined;
  readonly payload: Payload;
}

const NAME = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;

export class EventType<Schema extends TSchema = TSchema> {
  /** The module's name, a dot, and what happened: `identity.user-created`. */
  readonly name: string;
  readonly schema: Schema;
  readonly #check: SchemaCheck;

  constructor(name: string, schema: Schema) {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is no name of an event: write module.what-happened`);
    this.name = name;
    this.schema = schema;
    this.#check = new SchemaCheck(schema);
  }

  /** Throws a TypeError, which is a defect of the publisher. */
  require(payload: unknown): void {
    const fault = this.#check.findFault(payload, 'the payload');
    if (fault !== undefined) throw new TypeError(`The event ${this.name} cannot be published: ${fault.sentence}`);
  }

  /** Whether an event is of this type, in the form that this version of the program knows. */
  is<E extends Event>(event: E): event is E & Event<Static<Schema>> {
    return event.type === this.name && this.#check.findFault(event.payload, 'the payload') === undefined;
  }
}
