/** What of a filter the database can look up, so that the common ones of directories read one row. */
import type { IndexedValue } from '../../identity/index.ts';
import type { ResourceKind } from '../resource/attribute.ts';
import { resolvePath } from '../resource/attribute-path.ts';
import type { Filter } from './filter.ts';

/** Attributes with an index of their own. */
const INDEXED = ['id', 'externalId', 'userName', 'displayName'] as const;

/** An equality that every match of the filter has; undefined: all resources must be looked at. */
export function indexedValue(kind: ResourceKind, filter: Filter): IndexedValue | undefined {
  if (filter.kind === 'and') return indexedValue(kind, filter.left) ?? indexedValue(kind, filter.right);
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return undefined;
  const path = resolvePath(kind, filter.path);
  const name = path?.sub === undefined && path?.extension === undefined ? path?.attribute?.name : undefined;
  const attribute = INDEXED.find((each) => each === name);
  // Names to show of accounts are not unique and have no index.
  if (attribute === undefined || (kind.name === 'User' && attribute === 'displayName')) return undefined;
  const isName = attribute === 'userName' || attribute === 'displayName';
  return { attribute: isName ? 'name' : attribute, value: filter.value };
}
