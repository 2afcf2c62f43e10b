/**
 * A license as a file. The terms are signed as the bytes of one JSON text, which the file carries in base64url, so that no two programs can
 * disagree about how they are spelled:
 *
 * ```json
 * {"format": "svc-license-1", "key": "svc-2026", "terms": "eyJpZCI6...", "signature": "pYq3..."}
 * ```
 *
 * The signature is Ed25519 (RFC 8032) over the text `svc-license-1.` followed by `terms` as it stands in the file.
 */
import { verify } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../platform/schema/compile-lazily.ts';
import { named } from '../../platform/schema/named.ts';
import { LicenseTerms } from './license-terms.ts';
import type { PublicKeys } from './public-keys.ts';

export const LICENSE_FORMAT = 'svc-license-1';
/** Longer files are no license. */
export const MAX_LICENSE_BYTES = 64 * 1024;

export const SignedLicense = named(
  'SignedLicense',
  Type.Object({
    format: Type.Literal(LICENSE_FORMAT),
    key: Type.String({ minLength: 1, maxLength: 100 }),
    terms: Type.String({
      pattern: '^[A-Za-z0-9_-]+$',
      maxLength: 60_000,
      description: 'Base64url of the JSON text of the terms.',
    }),
    signature: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$', description: 'Base64url of 64 bytes.' }),
  }),
);

export type SignedLicense = Static<typeof SignedLicense>;

type LicenseFault = 'license_malformed' | 'license_unknown_key' | 'license_tampered' | 'license_foreign';

/** A license that cannot be used: why, as a code and a sentence. */
export interface UnusableLicense {
  code: LicenseFault;
  detail: string;
}

type LicenseInspection = { terms: LicenseTerms } | { fault: UnusableLicense };

const isSigned = compileLazily(SignedLicense);
const areTerms = compileLazily(LicenseTerms);

/** Reads a license without a look at whose it is, or when it holds. */
export function inspectLicense(text: string, keys: PublicKeys): LicenseInspection {
  const file = parseJson(text);
  if (!isSigned.Check(file)) return fault('license_malformed', `the file is no license of the format ${LICENSE_FORMAT}`);
  const key = keys.get(file.key);
  if (key === undefined) return fault('license_unknown_key', 'it is signed with a key that this version of svc does not know');
  const signature = Buffer.from(file.signature, 'base64url');
  if (!verify(null, signedBytes(file.terms), key, signature)) {
    return fault('license_tampered', 'its signature does not match: the file was changed, or was never issued');
  }
  const terms = parseJson(Buffer.from(file.terms, 'base64url').toString());
  if (!areTerms.Check(terms) || hasWrongTime(terms))
    return fault('license_malformed', 'what is signed are no terms of a license');
  return { terms };
}

export function signedBytes(terms: string): Buffer {
  return Buffer.from(`${LICENSE_FORMAT}.${terms}`);
}

function fault(code: LicenseFault, detail: string): LicenseInspection {
  return { fault: { code, detail } };
}

/** The pattern admits the 31st of February. */
function hasWrongTime({ issued_at, valid_from, expires_at }: LicenseTerms): boolean {
  return [issued_at, valid_from, expires_at].some((time) => time !== null && Number.isNaN(Date.parse(time)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
