/** What a license says: the JSON value that is signed. Times are ISO 8601 in UTC. */
import Type, { type Static } from 'typebox';

const Time = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$',
  description: 'ISO 8601, UTC.',
});
const Name = Type.String({ minLength: 1, maxLength: 200 });

export const LicenseTerms = Type.Object({
  id: Type.String({ pattern: '^lic_[A-Za-z0-9]{1,64}$' }),
  licensee: Name,
  tier: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,39}$', description: 'For example team or enterprise.' }),
  features: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,39}$' }), { maxItems: 100 }),
  installation: Type.Union([Type.String({ pattern: '^[0-9a-f-]{36}$' }), Type.Null()], {
    description: 'Id of the one installation that may use it; null: any.',
  }),
  issued_at: Time,
  valid_from: Time,
  expires_at: Type.Union([Time, Type.Null()], { description: 'null: never.' }),
});

export type LicenseTerms = Static<typeof LicenseTerms>;
