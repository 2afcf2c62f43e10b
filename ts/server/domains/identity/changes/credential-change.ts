/** That credentials ended or changed: what a cache must forget, and whose open requests must be judged again. */
import Type from 'typebox';
import { EventType } from '../../../platform/events/index.ts';

export interface CredentialChange {
  /** Undefined: of all tenants, or nobody knows. */
  tenant: string | undefined;
  /** Id of the account; undefined: of all accounts of the tenant. */
  user: string | undefined;
  /** The request that changed them, which shall get its answer; empty on other nodes. */
  requestId: string;
}

export const EVERYTHING_CHANGED: CredentialChange = Object.freeze({ tenant: undefined, user: undefined, requestId: '' });

/** The event's tenant says whose credentials; without one it may be anybody's. */
export const credentialsChanged = new EventType(
  'identity.credentials-changed',
  Type.Object({
    user: Type.Union([Type.String(), Type.Null()]),
    request_id: Type.String(),
    ends_open_requests: Type.Boolean({ description: 'The setting identity.end_open_requests.' }),
  }),
);
