/** The sign-in provider as the settings name it. */
import { listOf, type SettingValues } from '../../../platform/config/setting.ts';
import { StartError } from '../../../platform/module/start-error.ts';
import { isLoopbackHost } from '../../../platform/network/public-address.ts';
import type { identitySettings } from '../settings.ts';
import { AccessMap } from './access-map.ts';

export interface OidcConfig {
  issuer: URL;
  clientId: string;
  clientSecret: string;
  redirectUrl: URL;
  scopes: string;
  groupsClaim: string;
  directoryClaim: string;
  access: AccessMap;
  /** Lowercase; none: any domain, and addresses that nobody verified. */
  allowedDomains: readonly string[];
  label: string;
}

/** Undefined: no provider is configured. Throws StartError for what is half or wrongly configured. */
export function oidcConfig(settings: SettingValues<typeof identitySettings>): OidcConfig | undefined {
  if (settings['identity.oidc.issuer'] === '') return undefined;
  return {
    issuer: addressOf('identity.oidc.issuer', settings['identity.oidc.issuer']),
    clientId: required('identity.oidc.client_id', settings['identity.oidc.client_id']),
    clientSecret: required('identity.oidc.client_secret', settings['identity.oidc.client_secret']),
    redirectUrl: addressOf('identity.oidc.redirect_url', settings['identity.oidc.redirect_url']),
    scopes: scopesOf(settings['identity.oidc.scopes']),
    groupsClaim: settings['identity.oidc.groups_claim'],
    directoryClaim: required('identity.oidc.directory_claim', settings['identity.oidc.directory_claim']),
    access: accessOf(settings['identity.oidc.group_map'], settings['identity.oidc.default_access']),
    allowedDomains: listOf(settings['identity.oidc.allowed_domains'].toLowerCase()),
    label: settings['identity.oidc.label'],
  };
}

function required(key: string, value: string): string {
  if (value !== '') return value;
  throw new StartError(
    'oidc_misconfigured',
    `identity.oidc.issuer names a sign-in provider, and ${key} is empty`,
    `set ${key}, or empty identity.oidc.issuer`,
  );
}

/** Codes and secrets travel to these addresses, so they are encrypted unless they stay on the machine. */
function addressOf(key: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url !== undefined && isLoopbackHost(url.hostname);
  const isGood = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (url !== undefined && isGood && url.username === '' && url.hash === '') return url;
  throw new StartError(
    'oidc_misconfigured',
    `${key} is no https address: ${JSON.stringify(text.slice(0, 200))}`,
    'name an https address; http is taken for addresses of this machine only',
  );
}

/** Without `openid` a provider sends no ID token. */
function scopesOf(text: string): string {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  return [...new Set(['openid', ...scopes])].join(' ');
}

function accessOf(groups: string, other: string): AccessMap {
  try {
    return AccessMap.parse(groups, other);
  } catch (cause) {
    throw new StartError(
      'oidc_misconfigured',
      `identity.oidc.group_map or identity.oidc.default_access is wrong: ${(cause as Error).message}`,
      'write group_map like {"staff": "default:viewer"}, and default_access like default:viewer',
      cause,
    );
  }
}
