/** What the installation may do now: a pure function of its license, the time, and when it was first started. */
import { FEATURES, type Feature } from './features.ts';
import type { LicenseTerms } from './license-terms.ts';
import type { UnusableLicense } from './signed-license.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** An expired license works so much longer, and says so. */
const GRACE_MS = 30 * DAY_MS;
/** All features without a license, from the first start on. */
const EVALUATION_MS = 365 * DAY_MS;

export interface Installation {
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
}

type LicenseState = 'evaluation' | 'evaluation_ended' | 'active' | 'grace' | 'expired' | 'not_yet_valid';

export interface LicenseStatus {
  state: LicenseState;
  tier: string;
  features: readonly Feature[];
  /** Whether what adds to a feature is admitted; what is there already always works. */
  mayAdd: boolean;
  terms: LicenseTerms | undefined;
  /** Unix milliseconds; undefined: never. */
  expiresAt: number | undefined;
  graceEndsAt: number | undefined;
  /** Why the file that is there counts as none. */
  fault: UnusableLicense | undefined;
}

/** An unusable license is as none. */
export function statusOf(
  license: LicenseTerms | UnusableLicense | undefined,
  installation: Installation,
  now: number,
): LicenseStatus {
  if (license === undefined) return evaluation(installation, now, undefined);
  if ('code' in license) return evaluation(installation, now, license);
  const isForeign = license.installation !== null && license.installation !== installation.id;
  return isForeign ? evaluation(installation, now, foreign(license)) : licensed(license, now);
}

function licensed(terms: LicenseTerms, now: number): LicenseStatus {
  const expiresAt = terms.expires_at === null ? undefined : Date.parse(terms.expires_at);
  const graceEndsAt = expiresAt === undefined ? undefined : expiresAt + GRACE_MS;
  const state = stateOf(Date.parse(terms.valid_from), expiresAt, now);
  const features = FEATURES.filter((feature) => terms.features.includes(feature));
  const mayAdd = state === 'active' || state === 'grace';
  return { state, tier: terms.tier, features, mayAdd, terms, expiresAt, graceEndsAt, fault: undefined };
}

function stateOf(validFrom: number, expiresAt: number | undefined, now: number): LicenseState {
  if (now < validFrom) return 'not_yet_valid';
  if (expiresAt === undefined || now < expiresAt) return 'active';
  return now < expiresAt + GRACE_MS ? 'grace' : 'expired';
}

function evaluation({ createdAt }: Installation, now: number, fault: UnusableLicense | undefined): LicenseStatus {
  const expiresAt = createdAt + EVALUATION_MS;
  const mayAdd = now < expiresAt;
  const state = mayAdd ? 'evaluation' : 'evaluation_ended';
  return { state, tier: 'evaluation', features: FEATURES, mayAdd, terms: undefined, expiresAt, graceEndsAt: undefined, fault };
}

function foreign({ installation }: LicenseTerms): UnusableLicense {
  const detail = `it is for the installation ${installation}, and this is another one: \`svc license show\` says which`;
  return { code: 'license_foreign', detail };
}
