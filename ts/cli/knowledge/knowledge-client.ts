/** Knowledge bases of the caller's tenant on a running server. */
import type { Answer, Client } from '../../client/client.ts';
import { allRows } from '../../client/list-pages.ts';

export const namespaceOption = {
  namespace: { kind: 'text', value: 'NAME', help: 'knowledge base (default: default)', aliases: ['-n'] },
} as const;

export const DEFAULT_NAMESPACE = 'default';

export type StoredDocument = Answer<'GET /api/v1/vector/namespaces/{tenant}/{namespace}/documents'>['data'][number];
export type Passage = Answer<'POST /api/v1/vector/search'>['results'][number];

/** The tenant of the key. */
export async function tenantOf(client: Client): Promise<string> {
  return (await client.call('GET /api/v1/auth/whoami')).tenant;
}

/** Empty for a base that is not there. */
export async function documentsOf(client: Client, tenant: string, namespace: string): Promise<readonly StoredDocument[]> {
  const { data } = await client.call('GET /api/v1/vector/namespaces/{tenant}', { params: { tenant } });
  if (!data.some((base) => base.namespace === namespace)) return [];
  const params = { tenant, namespace };
  const load = ({ after }: { after?: string }) =>
    client.call('GET /api/v1/vector/namespaces/{tenant}/{namespace}/documents', { params, query: { after } });
  return await allRows(load);
}

/** Where a passage stands, for people. */
export function placeOf({ source, page, sheet, slide, start_seconds: from, end_seconds: to, heading }: Place): string {
  const place = [
    page === undefined ? '' : `page ${page}`,
    sheet === undefined ? '' : `sheet ${sheet}`,
    slide === undefined ? '' : `slide ${slide}`,
    from === undefined ? '' : `${from.toFixed(1)} to ${(to ?? from).toFixed(1)} s`,
    heading ?? '',
  ];
  return [source, ...place.filter((part) => part !== '')].join(', ');
}

type Place = Pick<Passage, 'source' | 'page' | 'sheet' | 'slide' | 'start_seconds' | 'end_seconds' | 'heading'>;
