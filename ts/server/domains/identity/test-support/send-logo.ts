import type { IdentityBed } from './identity-bed.ts';

export async function sendLogo(bed: IdentityBed, as: string, tenant: string, file: Uint8Array) {
  const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/octet-stream' };
  const response = await fetch(`${bed.url}/api/v1/tenants/${tenant}/branding/logo`, {
    method: 'PUT',
    headers,
    body: Buffer.from(file),
  });
  return { status: response.status, body: JSON.parse(await response.text()) as Record<string, string> };
}
