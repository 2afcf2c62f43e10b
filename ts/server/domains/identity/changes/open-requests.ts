/** Ends open requests whose credential is refused since something was revoked. */
import type { Events } from '../../../platform/events/index.ts';
import type { HttpServer } from '../../../platform/http/http-server.ts';
import { credentialsChanged } from './credential-change.ts';

/** Between looks for credentials that have ended by themselves. */
const EXPIRY_SWEEP_MS = 250;
/** Such a request is judged in each sweep of this time: the database may not have answered the first. */
const EXPIRY_WINDOW_MS = 1_000;

/** Ends open requests whose credential expires. Returns the way to stop. */
export function endExpiredRequests(http: Pick<HttpServer, 'recheck'>): () => void {
  let sweptAt = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    // A busy process may sweep long after it should have.
    const since = Math.min(sweptAt, now) - EXPIRY_WINDOW_MS;
    sweptAt = now;
    http.recheck(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now && expiresAt > since);
  }, EXPIRY_SWEEP_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Each of them is judged as a new request with its credential would be, so that what ends one and what refuses another is the same. The
 * request that revoked gets its answer. Returns the way to stop.
 */
export function endRefusedRequests(events: Pick<Events, 'subscribe'>, http: Pick<HttpServer, 'recheck'>): () => void {
  return events.subscribe(credentialsChanged, ({ tenant, payload: { user, request_id, ends_open_requests } }) => {
    if (!ends_open_requests) return;
    http.recheck((caller, requestId) => {
      const isConcerned = (tenant === undefined || caller.tenant === tenant) && (user === null || caller.subject === user);
      return isConcerned && (request_id === '' || requestId !== request_id);
    });
  });
}
