/** A person as the provider's claims describe them, with what is not believed left out. */

import { isExternalUsername } from '../accounts/account-name.ts';
import { randomBase62 } from '../secrets/base62.ts';
import type { OidcConfig } from './oidc-config.ts';

export interface Person {
  issuer: string;
  subject: string;
  /** Only an address that the provider has verified. */
  email: string | undefined;
  /** A name for a new account. It says nothing about who the person is. */
  username: string;
  groups: readonly string[];
  /** Id under which a directory provisions the person. */
  directoryId: string | undefined;
  /** The provider says elsewhere which groups these are, since there are too many for a token. */
  areGroupsMissing: boolean;
}

export type Claims = Readonly<Record<string, unknown>>;

const MAX_GROUPS = 1_000;
const MAX_TEXT = 512;
const MAX_EMAIL = 254;

export function personOf(claims: Claims, issuer: string, subject: string, config: OidcConfig): Person {
  const email = textOf(claims['email'], MAX_EMAIL);
  const isVerified = claims['email_verified'] === true || claims['email_verified'] === 'true';
  return {
    issuer,
    subject,
    email: isVerified && email !== undefined && /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(email) ? email : undefined,
    username: usernameOf(claims, email),
    groups: textsOf(claims[config.groupsClaim]),
    directoryId: config.directoryClaim === 'sub' ? subject : textOf(claims[config.directoryClaim], MAX_TEXT),
    areGroupsMissing: isElsewhere(claims, config.groupsClaim),
  };
}

export function isDomainAllowed({ email }: Person, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domain !== undefined && domains.includes(domain);
}

function usernameOf(claims: Claims, email: string | undefined): string {
  const offered = [textOf(claims['preferred_username'], MAX_TEXT), email, textOf(claims['nickname'], MAX_TEXT)];
  return offered.find((name) => name !== undefined && isExternalUsername(name)) ?? `user-${randomBase62(8)}`;
}

/** Some providers send one group as a text. */
function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.slice(0, MAX_GROUPS).flatMap((item) => textOf(item, MAX_TEXT) ?? []);
}

function textOf(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= maxLength && !value.includes('\0') ? value : undefined;
}

/** OpenID Connect Core 5.6.2 (distributed claims), which Entra ID uses for people with many groups. */
function isElsewhere(claims: Claims, groupsClaim: string): boolean {
  const names = claims['_claim_names'];
  return claims[groupsClaim] === undefined && typeof names === 'object' && names !== null && Object.hasOwn(names, groupsClaim);
}
