/** The input of a pull, from a caller and as its job keeps it. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';

const shared = {
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 120, description: 'Name in the library instead of the file’s own.' }),
  ),
  sha256: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'SHA-256 that the file must have.' })),
  force: Type.Optional(Type.Boolean({ description: 'Replaces another file of that name.' })),
};

export const PullRequest = named(
  'PullRequest',
  Type.Object({
    reference: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'A name of the catalogue, `owner/repo:file.gguf[@revision]` on the hub, or an https address.',
    }),
    ...shared,
    stream: Type.Optional(
      Type.Boolean({ description: 'Answers with events until the pull ends; so does `Accept: text/event-stream`.' }),
    ),
  }),
);
export type PullRequest = Static<typeof PullRequest>;

export const PullInput = Type.Object({
  reference: Type.String(),
  /** The query of an address. It may hold a signature, and views of jobs mask what is called so. */
  secret: Type.Optional(Type.String()),
  ...shared,
});
export type PullInput = Static<typeof PullInput>;

export function pullInput({ reference, name, sha256, force }: PullRequest): PullInput {
  const query = /^https?:/i.test(reference) ? reference.indexOf('?') : -1;
  return {
    reference: query < 0 ? reference : reference.slice(0, query),
    ...(query >= 0 && { secret: reference.slice(query) }),
    ...(name !== undefined && { name }),
    ...(sha256 !== undefined && { sha256: sha256.toLowerCase() }),
    ...(force !== undefined && { force }),
  };
}

/** The reference as it was asked for. */
export function fullReference({ reference, secret = '' }: PullInput): string {
  return `${reference}${secret}`;
}
