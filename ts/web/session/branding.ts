/**
 * Name, colours and logo that the tenant chose. What was seen last is kept in the browser and holds from the first drawing on, so that nothing changes
 * before the reader's eyes; the server's word follows.
 */
import { signal } from '@preact/signals';
import { type Answer, call } from '../api/call.ts';

export type Branding = Answer<'GET /api/v1/tenants/{tenantId}/theme'>;

export const PLAIN: Branding = { name: null, accent: null, accent_dark: null, welcome: null, logo: null };
export const branding = signal<Branding>(PLAIN);

const STORED_AT = 'svc.branding';
const COLOUR = /^#[0-9a-f]{6}$/i;
/** The colours of tokens.css, for the scheme that the tenant chose no colour for. */
const OWN = { light: '#0b6657', dark: '#68cbb4' };

/** What this browser saw last. */
export function restoreBranding(): void {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED_AT) ?? 'null') as Partial<Branding> | null;
    showBranding({ ...PLAIN, ...stored });
  } catch {
    localStorage.removeItem(STORED_AT);
  }
}

/** `tenant`: of the account, or the one that the address of the sign-in page names. The page works without an answer. */
export async function loadBranding(tenant: string): Promise<void> {
  const found = await call('GET /api/v1/tenants/{tenantId}/theme', { params: { tenantId: tenant } }).catch(() => undefined);
  if (found === undefined) return;
  showBranding(found);
  const isPlain = Object.values(found).every((value) => value === null);
  if (isPlain) localStorage.removeItem(STORED_AT);
  else localStorage.setItem(STORED_AT, JSON.stringify(found));
}

/** The server refuses colours in which text could not be read; in high contrast none of them counts. */
export function showBranding(chosen: Branding): void {
  branding.value = chosen;
  const { style } = document.documentElement;
  const colours = coloursOf(chosen);
  for (const [name, value] of Object.entries(colours)) {
    if (value === undefined) style.removeProperty(name);
    else style.setProperty(name, value);
  }
}

function coloursOf({ accent, accent_dark: accentDark }: Branding): Record<string, string | undefined> {
  const light = COLOUR.test(accent ?? '') ? accent : null;
  const dark = COLOUR.test(accentDark ?? '') ? accentDark : null;
  const hasOwn = light !== null || dark !== null;
  return { '--tenant-accent': hasOwn ? `light-dark(${light ?? OWN.light}, ${dark ?? OWN.dark})` : undefined };
}

/** What a page calls itself. */
export function productName(): string {
  return branding.value.name ?? 'svc';
}
