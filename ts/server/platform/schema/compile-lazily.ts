import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/** Compiles the schema with its first value: a start of the server compiles none that it does not ask. */
export function compileLazily<const S extends TSchema>(schema: S): { Check(value: unknown): value is Static<S> } {
  let validator: Validator | undefined;
  return {
    Check(value): value is Static<S> {
      validator ??= Compile(schema) as unknown as Validator;
      return validator.Check(value);
    },
  };
}
