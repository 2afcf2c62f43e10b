/** JSON Schemas of one request: each becomes what the engine follows. What it does not follow is refused, or left out and named. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { CallNotation, CompletionRequest, SchemaRefusal } from '../../inference/index.ts';
import { completionError } from '../errors.ts';
import { isMembers, type Members } from './members.ts';
import { PatternCheck } from './schema/pattern-check.ts';
import { hasProperties, rawArguments, rawStringsMember } from './schema/raw-strings.ts';
import { SchemaDocument, UnusableSchema } from './schema/schema-document.ts';
import { SchemaFollower, type Unfollowed } from './schema/schema-follower.ts';

/** A schema of a request. */
export interface Stated {
  /** The member that has it. */
  param: string;
  /** Name of the tool whose arguments it describes: an object. */
  tool?: string;
  /** The answer follows all of it, or the request is refused. */
  isStrict: boolean;
}

/** What may stand in the place of a keyword that is not followed. */
const accepted: Readonly<Record<string, string>> = {
  $ref: 'references into the same schema (#/$defs/name, or #anchor)',
  $dynamicRef: '$ref',
  $recursiveRef: '$ref',
  not: 'not of a type, of required names, or of properties whose values are listed; or list the values that are left with enum',
  if: 'anyOf with one schema for each case, or if over properties whose values are listed',
  oneOf: 'alternatives that exclude each other, as by a property with another const in each; or anyOf',
  anyOf: 'fewer combinations of alternatives',
  format: 'date, time, date-time, duration, email, hostname, ipv4, ipv6, uuid, uri, json-pointer; or a pattern',
  pattern: 'one pattern without lookaround, back references and word borders, and at most 2000 repetitions',
  minLength: 'lengths up to 2000, and none beside a pattern with several parts of free length',
  maxLength: 'lengths up to 2000, and none beside a pattern with several parts of free length',
  minItems: 'up to 2000 items',
  maxItems: 'up to 2000 items',
  uniqueItems: 'lists without it, or of at most one item',
  contains: 'items, for all items',
  multipleOf: 'whole numbers between bounds with at most 256 multiples',
  minimum: 'bounds of at most 15 digits',
  maximum: 'bounds of at most 15 digits',
  exclusiveMinimum: 'bounds of at most 15 digits',
  exclusiveMaximum: 'bounds of at most 15 digits',
  patternProperties: 'named properties, or additionalProperties for all others',
  propertyNames: 'named properties and additionalProperties: false',
  minProperties: 'required names',
  maxProperties: 'named properties and additionalProperties: false',
  unevaluatedProperties: 'additionalProperties beside the properties that it counts',
  unevaluatedItems: 'items: false beside prefixItems',
};

const maxHeaderLength = 1_000;

export class SchemaReader {
  /** The schema of the answer as the client wrote it. */
  ofAnswer: Members | undefined;
  /** Why the engine of this node refuses the request. A model that runs elsewhere judges its schemas itself. */
  refusal: SchemaRefusal | undefined;
  readonly #patterns = new PatternCheck();
  readonly #ignored = new Set<string>();
  /** The places in tools that are not followed either, by how a model writes arguments. */
  readonly #unfollowed: Record<CallNotation, { places: Set<string>; refusal?: SchemaRefusal }> = {
    tagged: { places: new Set() },
    free: { places: new Set() },
  };
  #nDefinitions = 0;

  /** The places that were left out, for a header; undefined: nothing was. */
  get ignored(): string | undefined {
    return listed([...this.#ignored]);
  }

  /** The same for models that do not write arguments as JSON; undefined: there is no difference. */
  get byNotation(): CompletionRequest['byNotation'] {
    const all = Object.entries(this.#unfollowed).filter(([, { places, refusal }]) => places.size > 0 || refusal !== undefined);
    if (all.length === 0) return undefined;
    return Object.fromEntries(
      all.map(([notation, { places, refusal }]) => [
        notation,
        { schemaIgnored: listed([...this.#ignored, ...places]) ?? '', ...(refusal && { refusal }) },
      ]),
    );
  }

  /**
   * Returns the schema that the engine is to follow. Throws schema_not_supported with the place and the keyword that a strict one has and the
   * engine does not follow, and invalid_grammar where nothing can be followed.
   */
  read(root: Members, stated: Stated): Members {
    try {
      return this.#follow(root, stated);
    } catch (error) {
      if (!(error instanceof UnusableSchema)) throw error;
      const { param, tool } = stated;
      throw completionError('invalid_grammar', `${ofWhat(stated)} cannot be followed: ${error.message}.`, {
        param,
        extra: { ...(tool !== undefined && { tool }) },
      });
    }
  }

  /** Keeps the first fault of a schema until it is known which model answers. Throws what is none. */
  refuse(error: unknown): Members {
    if (!(error instanceof DomainError)) throw error;
    this.refusal ??= refusalOf(error);
    return { type: 'object' };
  }

  /** Returns what is followed of a tool's arguments, with the strings that some models write without quotation marks. */
  ofTool(followed: Members, stated: Stated & { tool: string }): Members {
    const { strings, unfollowed } = rawArguments(followed);
    for (const { pointer, keyword } of unfollowed) this.#leaveOut('tagged', stated, pointer, keyword);
    if (hasProperties(followed)) this.#leaveOut('free', stated, '#', 'properties');
    return Object.keys(strings).length === 0 ? followed : { ...followed, [rawStringsMember]: strings };
  }

  #leaveOut(
    notation: CallNotation,
    { param, tool, isStrict }: Stated & { tool: string },
    pointer: string,
    keyword: string,
  ): void {
    const found = this.#unfollowed[notation];
    if (isStrict) found.refusal ??= refusalOf(notWritten(param, tool, pointer, keyword));
    else found.places.add(`${param}${pointer}/${keyword}`);
  }

  /** The model may call such a tool with any arguments. */
  ignoreAll(param: string): void {
    this.#ignored.add(param);
  }

  #follow(root: Members, stated: Stated): Members {
    const report = ({ pointer, keyword }: Unfollowed): void => {
      if (stated.isStrict) throw notSupported(stated, pointer, keyword);
      this.#ignored.add(`${stated.param}${pointer}/${keyword}`);
    };
    const nextName = () => `followed-part-${this.#nDefinitions++}`;
    return new SchemaFollower(new SchemaDocument(root, this.#patterns), report, nextName).follow(stated.tool !== undefined);
  }
}

/** A request says this of its schemas. */
export function schemaNotes(schemas: SchemaReader): Pick<CompletionRequest, 'schemaIgnored' | 'schemaRefusal' | 'byNotation'> {
  const { ignored: schemaIgnored, refusal: schemaRefusal, byNotation } = schemas;
  return {
    ...(schemaIgnored !== undefined && { schemaIgnored }),
    ...(schemaRefusal !== undefined && { schemaRefusal }),
    ...(byNotation !== undefined && { byNotation }),
  };
}

/** Returns the places for a header; undefined: there are none. */
function listed(places: readonly string[]): string | undefined {
  if (places.length === 0) return undefined;
  const all = places.map(headerText);
  let nShown = 0;
  for (let length = 0; nShown < all.length; nShown++) {
    length += (all[nShown]?.length ?? 0) + ', '.length;
    if (length > maxHeaderLength) break;
  }
  const shown = all.slice(0, nShown);
  return nShown === all.length ? shown.join(', ') : [...shown, `${all.length - nShown} more`].join(', ');
}

/** Returns plain data: worker threads read large bodies. */
function refusalOf({ code, sentence, param, extra }: DomainError): SchemaRefusal {
  return { code, sentence, param, extra };
}

function notWritten(param: string, tool: string, pointer: string, keyword: string): DomainError {
  const instead = 'strict: false, or a model that writes arguments as JSON';
  return completionError(
    'schema_not_supported',
    `${param}, the schema of the tool ${tool}, has the keyword ${keyword} at ${pointer}, which is not followed in the notation in which the model writes arguments. Accepted: ${instead}.`,
    { param, extra: { pointer, keyword, tool, accepted: instead } },
  );
}

/** Header values are visible ASCII. */
function headerText(place: string): string {
  return encodeURI(place.toWellFormed()).replaceAll(',', '%2C').replaceAll('%5B', '[').replaceAll('%5D', ']');
}

function ofWhat({ param, tool }: Stated): string {
  return tool === undefined ? param : `${param}, the schema of the tool ${tool},`;
}

function notSupported(stated: Stated, pointer: string, keyword: string) {
  const { param, tool } = stated;
  const instead = accepted[keyword] ?? 'a schema without it';
  return completionError(
    'schema_not_supported',
    `${ofWhat(stated)} has the keyword ${keyword} at ${pointer}, which is not followed there. Accepted: ${instead}.`,
    { param, extra: { pointer, keyword, ...(tool !== undefined && { tool }), accepted: instead } },
  );
}

/** A schema that is true or false stands where some templates expect an object: the model is shown one that says the same. */
export function shownSchema(schema: unknown): unknown {
  if (!isMembers(schema)) return schema;
  const { properties } = schema;
  if (!isMembers(properties)) return schema;
  const entries = Object.entries(properties);
  if (!entries.some(([, each]) => typeof each === 'boolean' || isMembers(each))) return schema;
  const shownOf = (each: unknown) => (each === true ? {} : each === false ? { not: {} } : shownSchema(each));
  return { ...schema, properties: Object.fromEntries(entries.map(([name, each]) => [name, shownOf(each)])) };
}
