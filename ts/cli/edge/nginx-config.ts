/** A configuration of nginx (1.22 and newer) for a node behind it. */
import { type EdgePlan, REMOVED_HEADERS, SILENCE_SECONDS, UPSTREAM_IDLE_SECONDS } from './edge-plan.ts';
import { PROXY_ERRORS, type ProxyError, proxyErrorBody } from './proxy-errors.ts';

/** nginx's own statuses, which it answers as 400: headers too large, a bad or missing client certificate, plain HTTP on a TLS port. */
const SPECIAL: Readonly<Record<number, number>> = { 494: 431, 495: 400, 496: 400, 497: 400 };

/** A file for /etc/nginx/conf.d/, or with `stateDir` a whole nginx.conf for an account without privileges. */
export function nginxConfig(plan: EdgePlan): string {
  const site = siteOf(plan);
  return plan.stateDir === undefined ? site : wholeFile(site, plan.stateDir);
}

function siteOf(plan: EdgePlan): string {
  const { upstream, certFile, keyFile, listen, serverNames } = plan;
  return `# svc behind nginx. The node must trust this proxy: edge.trusted_proxies = "127.0.0.1" (or where nginx runs).
# Made by \`svc edge config nginx\`; make it anew after a change of the node's configuration.

# HTTP/1.0 clients may send no Host.
map $http_host $svc_host {
    ""      $host;
    default $http_host;
}

upstream svc_node {
    server ${upstream};
    keepalive 64;
    # The node closes idle connections later than this.
    keepalive_timeout ${UPSTREAM_IDLE_SECONDS}s;
}
${redirectServer(plan)}
server {
    # From nginx 1.25.1 on: \`listen ... ssl;\` and a line \`http2 on;\`.
    listen ${listen} ssl http2;
    server_name ${serverNames.join(' ')};
    server_tokens off;

    ssl_certificate ${quoted(certFile)};
    ssl_certificate_key ${quoted(keyFile)};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:svc_tls:10m;
    ssl_session_timeout 1d;
    ssl_session_tickets off;

    # The node takes 16 KiB of headers, with those that are added below.
    client_header_buffer_size 1k;
    large_client_header_buffers 1 12k;
    client_header_timeout 15s;
    client_max_body_size ${plan.maxBodyBytes};
    client_body_timeout 60s;
    underscores_in_headers off;
    ignore_invalid_headers on;
    keepalive_timeout 75s;

    # Refusals of nginx itself are JSON like the node's.
${PROXY_ERRORS.map(errorPage).join('\n')}

    location / {
        proxy_pass http://svc_node;
        proxy_http_version 1.1;
        # Upstream connections are kept; upgrades are not passed on.
        proxy_set_header Connection "";
        proxy_set_header Host $svc_host;

        # Only this proxy's word on the client arrives.
        proxy_set_header X-Svc-Public-Edge 1;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $svc_host;
        proxy_set_header X-Forwarded-Port $server_port;
${REMOVED_HEADERS.map((name) => `        proxy_set_header ${name} "";`).join('\n')}

        # A body is taken whole before it is passed on, with a Content-Length: slow or ambiguous ones do not reach the node.
        proxy_request_buffering on;
        # Answers go out as they come, token by token.
        proxy_buffering off;
        proxy_cache off;
        gzip off;
        tcp_nodelay on;
        proxy_connect_timeout 5s;
        proxy_send_timeout 60s;
        proxy_read_timeout ${SILENCE_SECONDS}s;
        send_timeout 120s;
        proxy_redirect off;
    }
}
`;
}

/** Whoever asks for a name that is not served here gets no certificate of it, and no page. */
function redirectServer({ redirectListen, serverNames }: EdgePlan): string {
  if (redirectListen === undefined) return '';
  return `
server {
    listen ${redirectListen};
    server_name ${serverNames.join(' ')};
    server_tokens off;
    return 308 https://${serverNames[0] ?? '$host'}$request_uri;
}
`;
}

function errorPage(error: ProxyError): string {
  const codes = [
    error.status,
    ...Object.entries(SPECIAL).flatMap(([code, status]) => (status === error.status ? [Number(code)] : [])),
  ];
  // A path and not a name: nginx answers 500 where a request that has no path is sent to a named location.
  return `    error_page ${codes.join(' ')} =${error.status} /_svc_error_${error.status};
    location = /_svc_error_${error.status} {
        internal;
        default_type application/json;
        add_header Cache-Control no-store always;
        return ${error.status} '${proxyErrorBody(error)}';
    }`;
}

function wholeFile(site: string, stateDir: string): string {
  const at = (name: string): string => quoted(`${stateDir}/${name}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `worker_processes auto;
pid ${at('nginx.pid')};
error_log ${at('error.log')} warn;

events {
    worker_connections 4096;
}

http {
    access_log off;
${temporary.map((name) => `    ${name}_temp_path ${at(name)};`).join('\n')}

${site.replace(/^(?=.)/gm, '    ')}}
`;
}

function quoted(path: string): string {
  return `"${path.replace(/["\\$]/g, '\\$&')}"`;
}
