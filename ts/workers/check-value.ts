/** A task of the worker pool: says what a value lacks by a JSON schema that a stranger wrote. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

const MOST_CHARACTERS = 500;

/** Undefined: it fits. Throws where the schema is none. */
export function run({ schema, value }: { schema: unknown; value: unknown }): string | undefined {
  const check = new AjvJsonSchemaValidator().getValidator(schema as never);
  const result = check(value);
  return result.valid ? undefined : result.errorMessage.slice(0, MOST_CHARACTERS);
}
