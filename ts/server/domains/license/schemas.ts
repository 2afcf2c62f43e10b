/** Shapes of the license API. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { Installation, LicenseStatus } from './license-status.ts';

const Time = Type.Union([Type.String({ description: 'ISO 8601, UTC.' }), Type.Null()]);

export const LicenseHealth = named(
  'LicenseHealth',
  Type.Object({
    status: Type.Enum(['evaluation', 'evaluation_ended', 'active', 'grace', 'expired', 'not_yet_valid'], {
      description: 'From evaluation_ended, expired and not_yet_valid on, features serve what is there and take nothing new.',
    }),
    tier: Type.String(),
    features: Type.Array(Type.String()),
    installation: Type.String({ description: 'What a license that is bound to this installation names.' }),
    license_id: Type.Union([Type.String(), Type.Null()]),
    licensee: Type.Union([Type.String(), Type.Null()]),
    expires_at: Time,
    grace_ends_at: Time,
    problem: Type.Union([Type.Object({ code: Type.String(), detail: Type.String() }), Type.Null()], {
      description: 'Why the license file that is there is not used.',
    }),
  }),
);

export function healthBody(status: LicenseStatus, installation: Installation): Static<typeof LicenseHealth> {
  const { state, tier, features, terms, expiresAt, graceEndsAt, fault } = status;
  return {
    status: state,
    tier,
    features: [...features],
    installation: installation.id,
    license_id: terms?.id ?? null,
    licensee: terms?.licensee ?? null,
    expires_at: timeOf(expiresAt),
    grace_ends_at: timeOf(graceEndsAt),
    problem: fault ?? null,
  };
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
