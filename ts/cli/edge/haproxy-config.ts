/** A configuration of HAProxy (2.6 and newer) for a node behind it. */
import { type EdgePlan, REMOVED_HEADERS, SILENCE_SECONDS, UPSTREAM_IDLE_SECONDS } from './edge-plan.ts';
import { PROXY_ERRORS, proxyErrorBody } from './proxy-errors.ts';

/** Statuses for which HAProxy 2.6 lets its answer be replaced. */
const REPLACEABLE = new Set([400, 403, 404, 405, 408, 413, 429, 500, 501, 502, 503, 504]);

/** A whole haproxy.cfg. */
export function haproxyConfig(plan: EdgePlan): string {
  const errors = PROXY_ERRORS.filter(({ status }) => REPLACEABLE.has(status));
  return `# svc behind HAProxy. The node must trust this proxy: edge.trusted_proxies = "127.0.0.1" (or where HAProxy runs).
# Made by \`svc edge config haproxy\`; make it anew after a change of the node's configuration.

global
${plan.stateDir === undefined ? '    log /dev/log local0\n    user haproxy\n    group haproxy\n    maxconn 20000\n' : ''}    # The node takes 16 KiB of headers, with those that are added below.
    tune.bufsize 16384
    tune.maxrewrite 2048
    ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets

defaults
    mode http
${plan.stateDir === undefined ? '    log global\n    option httplog\n' : ''}    option dontlognull
    timeout connect 5s
    timeout http-request 15s
    timeout http-keep-alive 75s
    # Silence on an open stream, of either side.
    timeout client ${SILENCE_SECONDS}s
    timeout server ${SILENCE_SECONDS}s
    timeout queue 30s
    # Refusals of HAProxy itself are JSON like the node's, but for requests that it cannot parse: their 400 has a body that
    # neither http-error nor errorfile replaces.
${errors.map((error) => `    http-error status ${error.status} content-type application/json string '${proxyErrorBody(error)}'`).join('\n')}

frontend svc_edge
    # The file holds the certificate chain and the private key: cat fullchain.pem privkey.pem > svc.pem
    bind ${bindAddress(plan.listen)} ssl crt ${escaped(plan.certFile)} alpn h2,http/1.1
${redirectBind(plan)}    http-request deny deny_status 405 if METH_TRACE or METH_CONNECT
    # HAProxy passes versions on as they are, and the node speaks HTTP/1.1.
    http-request return status 505 content-type application/json string '${bodyOf(505)}' unless { req.ver 1.1 2.0 }
    http-request set-uri %[pathq] if { url -m reg -i ^https?:// }
    http-request deny deny_status 413 if { req.hdr_val(content-length) gt ${plan.maxBodyBytes} }

    # Only this proxy's word on the client arrives.
    http-request del-header X-Svc-Public-Edge
${REMOVED_HEADERS.map((name) => `    http-request del-header ${name}`).join('\n')}
    http-request set-header X-Svc-Public-Edge 1
    http-request set-header X-Forwarded-For %[src]
    http-request set-header X-Forwarded-Proto https
    http-request set-header X-Forwarded-Host %[req.hdr(host)]
    http-request set-header X-Forwarded-Port %[dst_port]
    default_backend svc_node

backend svc_node
    # A first request is never sent on a connection that the node may be closing.
    http-reuse safe
    retry-on conn-failure
    retries 2
    server node ${plan.upstream} maxconn 8000 pool-max-conn 64 pool-purge-delay ${UPSTREAM_IDLE_SECONDS}s
`;
}

function bodyOf(status: number): string {
  return PROXY_ERRORS.filter((error) => error.status === status)
    .map(proxyErrorBody)
    .join('');
}

function redirectBind({ redirectListen, serverNames }: EdgePlan): string {
  if (redirectListen === undefined) return '';
  return `    bind ${bindAddress(redirectListen)}
    http-request redirect code 308 prefix https://${serverNames[0] ?? 'localhost'} unless { ssl_fc }
`;
}

/** `443` stands for all addresses. */
function bindAddress(listen: string): string {
  return listen.includes(':') ? listen : `:${listen}`;
}

function escaped(path: string): string {
  return path.replace(/[\\ "'#]/g, '\\$&');
}
