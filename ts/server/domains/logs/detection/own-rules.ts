/** The rules that come with the program, as Sigma YAML. Lines that each must find, and must not, are in its test. */
import type { InstalledRule } from './rule-set.ts';

const head = (title: string, level: string, family: string): string =>
  `title: ${title}\nlevel: ${level}\nauthor: svc\nfamily: ${family}`;

const sshFailed = `title: Failed sign-in by SSH
name: ssh_failed
logsource: { product: linux, service: sshd }
detection:
  failed: { action: failed }
  condition: failed`;

const webRequest = (name: string, selection: string): string => `title: Request to a web server
name: ${name}
logsource: { category: webserver }
detection:
  wanted:
${selection}
  condition: wanted`;

const blocked = `title: Packet that the firewall refused
name: blocked
logsource: { category: firewall }
detection:
  refused: { action|startswith: [block, deny, drop, reject] }
  condition: refused`;

const RULES: Readonly<Record<string, string>> = {
  'ssh-brute-force': `${sshFailed}
---
${head('Many failed sign-ins by SSH from one address', 'high', 'ssh-sign-in')}
name: ssh_brute_force
correlation:
  type: event_count
  rules: [ssh_failed]
  group-by: [src_ip]
  timespan: 5m
  condition: { gte: 10 }`,
  'ssh-many-accounts': `${sshFailed}
---
${head('Sign-ins to many accounts by SSH from one address', 'high', 'ssh-sign-in')}
correlation:
  type: value_count
  rules: [ssh_failed]
  group-by: [src_ip]
  timespan: 10m
  condition: { field: user, gte: 5 }`,
  'ssh-entry-after-failures': `title: Accepted sign-in by SSH
name: ssh_accepted
logsource: { product: linux, service: sshd }
detection:
  accepted: { action: accepted }
  condition: accepted
---
${head('Sign-in by SSH behind many failed ones from the same address', 'critical', 'ssh-sign-in')}
correlation:
  type: temporal_ordered
  rules: [ssh_brute_force, ssh_accepted]
  group-by: [src_ip]
  timespan: 30m`,
  'ssh-root': `${head('Sign-in of root by SSH with a password', 'medium', 'ssh-sign-in')}
logsource: { product: linux, service: sshd }
detection:
  root: { action: accepted, user: root, method: password }
  condition: root`,
  'sudo-failures': `title: Wrong passwords for sudo
name: sudo_failed
logsource: { product: linux, service: sudo }
detection:
  failed: { action: failed }
  condition: failed
---
${head('Wrong passwords for sudo again and again', 'medium', 'privileges')}
correlation:
  type: event_count
  rules: [sudo_failed]
  group-by: [host, user]
  timespan: 10m
  condition: { gte: 3 }`,
  'sudo-not-allowed': `${head('An account without the right to it used sudo', 'high', 'privileges')}
logsource: { product: linux, service: sudo }
detection:
  denied: { action: denied }
  condition: denied`,
  'sudo-shell': `${head('A shell of root by sudo', 'low', 'privileges')}
logsource: { product: linux, service: sudo }
detection:
  command: { action: command, target_user: root }
  shell:
    command|re: '^(/usr)?/bin/(ba|da|z|k|fi)?sh( -[a-z]+)?$'
  condition: command and shell`,
  'su-failures': `title: Failed su
name: su_failed
logsource: { product: linux, service: su }
detection:
  failed: { action: failed }
  condition: failed
---
${head('Failed su again and again', 'medium', 'privileges')}
correlation:
  type: event_count
  rules: [su_failed]
  group-by: [host, user]
  timespan: 10m
  condition: { gte: 3 }`,
  'account-added': `${head('An account was added to a machine', 'low', 'accounts')}
logsource: { product: linux, service: auth }
detection:
  added: { action: user_added }
  condition: added`,
  'account-made-administrator': `${head('An account joined a group of administrators', 'high', 'accounts')}
logsource: { product: linux, service: auth }
detection:
  joined: { action: group_joined, group: [sudo, wheel, adm, root, docker, lxd] }
  condition: joined`,
  'root-password-changed': `${head('The password of root was changed', 'high', 'accounts')}
logsource: { product: linux, service: auth }
detection:
  changed: { action: password_changed, user: root }
  condition: changed`,
  'cron-download': `${head('A command of cron runs what it downloads', 'high', 'programs')}
logsource: { product: linux, service: cron }
detection:
  download: { command|contains: [curl , wget ] }
  runs:
    command|re: '\\|\\s*(/usr)?(/bin/)?(ba|da|z)?sh\\b'
  condition: download and runs`,
  'port-scan': `${blocked}
---
${head('One address tries many ports', 'medium', 'scans')}
correlation:
  type: value_count
  rules: [blocked]
  group-by: [src_ip]
  timespan: 1m
  condition: { field: dst_port, gte: 20 }`,
  'host-sweep': `${blocked}
---
${head('One address tries many machines', 'medium', 'scans')}
correlation:
  type: value_count
  rules: [blocked]
  group-by: [src_ip]
  timespan: 1m
  condition: { field: dst_ip, gte: 20 }`,
  'web-many-not-found': `${webRequest('web_not_found', '    status: 404')}
---
${head('One address asks a web server for much that is not there', 'medium', 'web')}
correlation:
  type: event_count
  rules: [web_not_found]
  group-by: [src_ip]
  timespan: 1m
  condition: { gte: 30 }`,
  'web-sign-in-failures': `${webRequest('web_denied', '    status: [401, 403]\n    method: POST')}
---
${head('Many refused sign-ins at a web server from one address', 'high', 'web')}
correlation:
  type: event_count
  rules: [web_denied]
  group-by: [src_ip]
  timespan: 5m
  condition: { gte: 20 }`,
  'web-path-traversal': `${head('A request for files outside of a web server', 'medium', 'web')}
logsource: { category: webserver }
detection:
  outside:
    uri|contains: ['../..', '..%2f..', '%2e%2e/', '%2e%2e%2f', '/etc/passwd', '/.git/config', '/.env']
  condition: outside`,
  'web-injection': `${head('A request with code for a database or a shell', 'high', 'web')}
logsource: { category: webserver }
detection:
  sql:
    uri|contains: ['union+select', 'union%20select', "' or '1'='1", '%27%20or%20', 'information_schema', 'sleep(']
  names: { user_agent|contains: '\${jndi:' }
  shell: { uri|contains: ['\${jndi:', '%24%7bjndi', ';wget+', ';curl+', '\`id\`'] }
  condition: 1 of them`,
  'listening-mode': `${head('A network card listens to the packets of others', 'high', 'machines')}
logsource: { product: linux }
detection:
  kernel: { app: kernel, msg|contains: 'entered promiscuous mode' }
  known: { msg|re: 'device (veth|docker|br-|virbr|vnet|tap)' }
  condition: kernel and not known`,
  'memory-exhausted': `${head('The kernel ended a program for want of memory', 'medium', 'machines')}
logsource: { product: linux }
detection:
  kernel: { app: kernel }
  ended: ['Out of memory: Killed process', 'Memory cgroup out of memory', 'oom-kill:']
  condition: kernel and ended`,
};

export const OWN_RULES: readonly InstalledRule[] = Object.entries(RULES).map(([id, yaml]) => ({ id, yaml }));
