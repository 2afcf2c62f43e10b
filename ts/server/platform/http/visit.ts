/** A request under way: what the router knows of it until its answer ends. */
import type { LogFields } from '../log/log.ts';
import type { AuthenticationState } from './authenticator.ts';
import type { LargeBody } from './body/large-body.ts';
import type { Exchange } from './exchange.ts';
import type { ForwardedFacts } from './forwarding.ts';
import type { ListenerName } from './listen/listener-name.ts';
import { isAdministrative, POLICIES } from './policy.ts';
import type { Principal } from './principal.ts';
import type { Route } from './route.ts';

export interface Visit {
  exchange: Exchange;
  requestId: string;
  listener: ListenerName;
  state: AuthenticationState;
  route: Route | undefined;
  /** A body that is read in a thread. */
  largeBody: LargeBody | undefined;
  /** The client of a request that another node of the cluster sends on. */
  forwarded: ForwardedFacts | undefined;
  /** Undefined until the credential was judged. */
  caller: Principal | undefined;
}

export function fieldsOf(visit: Visit): LogFields {
  return { id: visit.requestId, route: visit.route?.path, tenant: tenantOf(visit) };
}

/** A stranger whom a route answers without a credential belongs to no tenant; on a node without accounts everybody works in its one. */
export function tenantOf({ caller, state }: Visit): string | undefined {
  return caller?.kind === 'anonymous' && state === 'enforce' ? undefined : caller?.tenant;
}

/** Strangers without a credential are in the request log: they are nobody whom an audit could ask, and there is no end of them. */
export function mustRecord({ route, caller, exchange }: Visit, status: number): boolean {
  if (caller === undefined) return false;
  if (status === 403) return true;
  return route !== undefined && isAdministrative(POLICIES[route.auth]) && exchange.method !== 'GET' && exchange.method !== 'HEAD';
}

/** Undefined: nobody knows who it is. */
export function callerKey({ tenant, subject, keyId }: Principal): string | undefined {
  const who = subject ?? keyId;
  return who === undefined ? undefined : `${tenant}/${who}`;
}
