/** Knowledge bases of the caller's tenant, and what stands in them. */
import { signal } from '@preact/signals';
import { type Answer, call } from '../../api/call.ts';
import { who } from '../../session/session.ts';

export type Base = Answer<'GET /api/v1/vector/namespaces/{tenant}'>['data'][number];
export type StoredDocument = Answer<'GET /api/v1/vector/namespaces/{tenant}/{namespace}/documents'>['data'][number];

/** Undefined until they are fetched. */
export const bases = signal<readonly Base[] | undefined>(undefined);

export function ownTenant(): string {
  return who.value?.tenant ?? 'default';
}

/** Throws Refusal. */
export async function loadBases(): Promise<void> {
  bases.value = (await call('GET /api/v1/vector/namespaces/{tenant}', { params: { tenant: ownTenant() } })).data;
}

/** Returns what is to be known of its embedding model. Throws Refusal. */
export async function makeBase(namespace: string): Promise<string | undefined> {
  const { note } = await call('POST /api/v1/vector/namespaces/{tenant}', {
    params: { tenant: ownTenant() },
    body: { namespace },
  });
  await loadBases();
  return note;
}

export async function removeBase(namespace: string): Promise<void> {
  const params = { tenant: ownTenant(), namespace };
  await call('DELETE /api/v1/vector/namespaces/{tenant}/{namespace}/documents', { params });
  await loadBases();
}

export async function listDocuments(namespace: string, after?: string) {
  return await call('GET /api/v1/vector/namespaces/{tenant}/{namespace}/documents', {
    params: { tenant: ownTenant(), namespace },
    query: { limit: 100, after },
  });
}

export async function removeDocument(namespace: string, id: string): Promise<void> {
  await call('DELETE /api/v1/vector/documents/{tenant}/{namespace}/{id}', { params: { tenant: ownTenant(), namespace, id } });
}

/** Where files go that are dropped onto a chat without a knowledge base. */
export function defaultBase(): string {
  const name = who.value?.user?.username.replace(/[\s/\\\p{C}]+/gu, '-').replace(/^-+|(?<!-)-+$/g, '') ?? '';
  return name === '' ? 'files' : `${name.slice(0, 100)}-files`;
}
