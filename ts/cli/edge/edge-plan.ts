/** What a generated proxy configuration is made from. */
export interface EdgePlan {
  /** Names under which people reach the node; the first one is for redirects. */
  serverNames: readonly string[];
  /** `ADDRESS:PORT` or `PORT` of the proxy's TLS listener. */
  listen: string;
  /** Where plain HTTP is redirected from; undefined: nowhere. */
  redirectListen: string | undefined;
  /** PEM of the certificate chain. For HAProxy it holds the private key too. */
  certFile: string;
  /** PEM of the private key; nginx only. */
  keyFile: string;
  /** HOST:PORT of the node's internal listener. */
  upstream: string;
  maxBodyBytes: number;
  /** Where a proxy that runs without privileges keeps its files; undefined: where the distribution's package does. */
  stateDir: string | undefined;
}

/** Others of that kind, which nobody sets. */
export const REMOVED_HEADERS = ['Forwarded', 'X-Real-IP', 'Via', 'Proxy'] as const;

/** How long a stream may be silent: the node itself sends a comment every few seconds, a long answer that is no stream may take its time. */
export const SILENCE_SECONDS = 3600;
/** Shorter than what the node keeps an idle connection open for, so that no request meets one that is just being closed. */
export const UPSTREAM_IDLE_SECONDS = 5;
