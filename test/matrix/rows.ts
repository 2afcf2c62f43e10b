/** The routes, as the program documents them, in an order in which what is deleted was asked for before. */
import { withoutReferences } from '../../ts/server/platform/http/docs/shared-parts.ts';
import type { Document, Operation } from './documented.ts';

export interface Row {
  readonly name: string;
  readonly method: string;
  readonly template: string;
  readonly operation: Operation;
}

/** They end the credentials that call them. */
export const LAST = ['POST /api/v1/users/me/api-key', 'DELETE /api/v1/users/me/sessions'];
const ORDER = ['get', 'post', 'put', 'patch', 'delete'];
export function rowsOf(document: Document): Row[] {
  const rows = Object.entries(withoutReferences(document).paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${template}`;
      return {
        name,
        method: method.toUpperCase(),
        template,
        operation,
        rank: LAST.includes(name) ? ORDER.length : ORDER.indexOf(method),
      };
    }),
  );
  return rows.sort((a, b) => a.rank - b.rank);
}
