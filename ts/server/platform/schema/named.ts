/** Schemas with a name, which the OpenAPI document writes once and refers to. */
import type { TSchema } from 'typebox';

/** The name is the schema's `title`, which copies of it keep; no two different schemas may have one name. */
export function named<S extends TSchema>(name: string, schema: S): S {
  return Object.assign(schema, { title: name });
}
