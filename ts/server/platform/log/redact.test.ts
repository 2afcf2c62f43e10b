/** No secret of many kinds and quotings is in what was redacted, and ordinary lines stay as they are. */
import t from 'tap';
import { random } from '../../../../test/test-support/seed.ts';
import { redactText } from './redact.ts';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALNUM = `${LOWER}${LOWER.toUpperCase()}${DIGITS}`;
const HEX = '0123456789abcdef';
const BASE64 = `${ALNUM}+/`;

const some = (characters: string, n: number): string =>
  Array.from({ length: n }, () => characters[Math.floor(random.next() * characters.length)]).join('');
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
const below = (n: number): number => Math.floor(random.next() * n);

/** Words that people choose, too. */
const password = (): string =>
  oneOf([some(ALNUM, 12), `${some(LOWER, 7)}!${some(DIGITS, 3)}`, some(`${ALNUM}#$%*-_.!?@~^+=`, 16).replace(/^-|%/g, 'x')]);
const encoded = (text: string): string =>
  [...text].map((one) => (/\w/.test(one) ? one : `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`)).join('');
const jwt = (): string => `eyJ${some(ALNUM, 30)}.eyJ${some(ALNUM, 60)}.${some(ALNUM, 43)}`;
const pem = (end: string): [string, string] => {
  const lines = Array.from({ length: 4 }, () => some(BASE64, 64));
  return [
    `-----BEGIN ${oneOf(['RSA ', 'EC ', 'OPENSSH ', ''])}PRIVATE KEY-----${end}${lines.join(end)}${end}-----END PRIVATE KEY-----`,
    lines[1] ?? '',
  ];
};
const name = (): string =>
  oneOf([
    'password',
    'db_password',
    'DB_PASSWORD',
    'client_secret',
    'AWS_SECRET_ACCESS_KEY',
    'apiKey',
    'api_key',
    'X-Api-Key',
    'access_token',
    'refreshToken',
    'passwd',
    'passphrase',
    'secret',
    'authToken',
  ]);

/** A text, and what of it must not be seen. */
type Made = readonly [text: string, secret: string];
const token = (prefix: string, characters: string, n: number) => (): Made => {
  const secret = prefix + some(characters, n);
  return [
    oneOf([
      `using ${secret} now`,
      `x="${secret}"`,
      `(${secret})`,
      `https://api.example/${secret}/me`,
      `h:${secret}`,
      `key=${encoded(secret)}&a=1`,
    ]),
    secret.slice(-12),
  ];
};
const named =
  (write: (name: string, value: string) => string, value = password) =>
  (): Made => {
    const secret = value();
    return [write(name(), secret), secret];
  };
const plain = (): string => some(ALNUM, 14);

const KINDS: Readonly<Record<string, () => Made>> = {
  'k=v': named((k, v) => `login ${k}=${v} from 10.0.0.1`, plain),
  'k="v"': named((k, v) => `login ${k}="${v}" ok`),
  "k='v'": named((k, v) => `login ${k}='${v}' ok`),
  'k = "two words"': named((k, v) => `${k} = "${v} and more"`),
  'k: v': named((k, v) => `config ${k}: ${v}`, plain),
  'k:v': named((k, v) => `config ${k}:${v},next:1`, plain),
  'k => v': named((k, v) => `{ ${k} => "${v}" }`),
  JSON: named((k, v) => JSON.stringify({ user: 'ann', [k]: v, n: 1 })),
  'JSON in JSON': named((k, v) => JSON.stringify({ body: JSON.stringify({ [k]: v }) })),
  'JSON in JSON in JSON': named((k, v) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ [k]: v }) }) })),
  'JSON with escapes of its own': named((k, v) => `{\\u0022${k}\\u0022:\\u0022${v}\\u0022}`, plain),
  'JSON that is cut': named((k, v) => `{"${k}":"${v}`),
  'percent encoded': named((k, v) => `body=${encoded(`{"${k}":"${v}"}`)}`),
  'percent encoded twice': named((k, v) => `q=${encoded(encoded(`${k}=${v}&x=1`))}`, plain),
  query: named((k, v) => `GET /a?x=1&${k}=${encoded(v)}&y=2 HTTP/1.1`),
  'HTML escapes': named((k, v) => `&lt;a ${k}=&quot;${v}&quot;&gt;`, plain),
  'an element': named((k, v) => `<a><${k}>${v}</${k}></a>`, plain),
  'an option': named((k, v) => `run --${k.toLowerCase()} ${v} --verbose`, plain),
  'an option with =': named((k, v) => `run --${k.toLowerCase()}=${v} --verbose`, plain),
  'SQL, identified by': () => {
    const secret = password();
    return [`CREATE USER 'ann'@'%' IDENTIFIED BY '${secret}'`, secret];
  },
  'SQL, password': () => {
    const secret = password();
    return [`ALTER ROLE ann PASSWORD '${secret}'`, secret];
  },
  'a URL': () => {
    const secret = plain();
    return [`connect ${oneOf(['postgres', 'redis', 'amqp', 'https', 'mongodb+srv'])}://ann:${secret}@db.example:5432/x`, secret];
  },
  'a URL with @ in it': () => {
    const secret = `${plain()}@${plain()}`;
    return [`connect https://ann:${secret}@db.example/x`, secret];
  },
  'a token as the user of a URL': () => {
    const secret = some(HEX, 32);
    return [`dsn https://${secret}@errors.example/42`, secret];
  },
  'an encoded URL': () => {
    const secret = plain();
    return [`to=https%3A%2F%2Fann%3A${secret}%40db.example`, secret];
  },
  'Authorization: Basic': () => {
    const secret = some(BASE64, 24);
    return [`> Authorization: Basic ${secret}==`, secret];
  },
  'Authorization: Bearer': () => {
    const secret = some(ALNUM, 40);
    return [`-H "Authorization: Bearer ${secret}" -v`, secret];
  },
  'Authorization, own scheme': () => {
    const secret = some(ALNUM, 40);
    return [`authorization: ${secret}`, secret];
  },
  'Authorization as JSON': () => {
    const secret = some(ALNUM, 40);
    return [`{"headers":{"authorization":"Token ${secret}"}}`, secret];
  },
  'Proxy-Authorization: Digest': () => {
    const secret = some(HEX, 32);
    return [`Proxy-Authorization: Digest username="x", response=${secret}`.replaceAll('"', ''), secret];
  },
  'Bearer alone': () => {
    const secret = some(ALNUM, 32);
    return [`sent Bearer ${secret}`, secret];
  },
  Cookie: () => {
    const secret = some(ALNUM, 32);
    return [`Cookie: theme=dark; sid=${secret}; x=y`, secret];
  },
  'Set-Cookie': () => {
    const secret = some(ALNUM, 32);
    return [`"Set-Cookie":"sid=${secret}; HttpOnly"`, secret];
  },
  'PEM with #012': () => pem('#012'),
  'PEM with \\n': () => pem('\\n'),
  'PEM with newlines': () => pem('\n'),
  'PEM that is cut': () => {
    const [text, secret] = pem('#012');
    return [text.slice(0, -60), secret];
  },
  'a line of a key': () => {
    const secret = `aA${some(BASE64, 62)}`;
    return [secret, secret];
  },
  JWT: () => {
    const secret = jwt();
    return [oneOf([`id ${secret}`, `{"x":"${secret}"}`, `?jwt=${secret}&a`]), secret.slice(-40)];
  },
  'a hash of a password': () => {
    const secret = oneOf([
      `$6$${some(ALNUM, 8)}$${some(ALNUM, 86)}`,
      `$2b$12$${some(ALNUM, 53)}`,
      `$argon2id$v=19$m=19456$${some(ALNUM, 30)}`,
    ]);
    return [`root:${secret}:19000`, secret.slice(-20)];
  },
  curl: () => {
    const secret = plain();
    return [`COMMAND=/usr/bin/curl -s -u ann:${secret} https://x.example`, secret];
  },
  sshpass: () => {
    const secret = plain();
    return [`COMMAND=/usr/bin/sshpass -p ${secret} ssh a@b`, secret];
  },
  mysql: () => {
    const secret = plain();
    return [`COMMAND=/usr/bin/mysqldump -u root -p${secret} shop`, secret];
  },
  AWS: token('AKIA', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16),
  Google: token('AIza', ALNUM, 35),
  'Google OAuth': token('ya29.', ALNUM, 60),
  'Azure storage': () => {
    const secret = some(BASE64, 86);
    return [`DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${secret}==;EndpointSuffix=y`, secret];
  },
  'Azure SAS': () => {
    const secret = encoded(`${some(BASE64, 43)}=`);
    return [`https://x.blob.example/c?sv=2024&sig=${secret}&se=1`, secret];
  },
  DigitalOcean: token('dop_v1_', HEX, 64),
  GitHub: token('ghp_', ALNUM, 36),
  'GitHub, fine': token('github_pat_', ALNUM, 82),
  GitLab: token('glpat-', ALNUM, 20),
  npm: token('npm_', ALNUM, 36),
  PyPI: token('pypi-', ALNUM, 80),
  Vault: token('hvs.', ALNUM, 90),
  Slack: token('xoxb-', `${DIGITS}-`, 40),
  Stripe: token('sk_live_', ALNUM, 24),
  OpenAI: token('sk-proj-', ALNUM, 48),
  Anthropic: token('sk-ant-', ALNUM, 90),
  'Hugging Face': token('hf_', ALNUM, 34),
  Groq: token('gsk_', ALNUM, 52),
  'our own': token('svcs_', ALNUM, 32),
  SendGrid: () => {
    const secret = `SG.${some(ALNUM, 22)}.${some(ALNUM, 43)}`;
    return [`mail by ${secret}`, secret.slice(-43)];
  },
  Telegram: () => {
    const secret = `AA${some(ALNUM, 33)}`;
    return [`https://api.telegram.example/bot${some('123456789', 9)}:${secret}/getMe`, secret];
  },
};

t.test('of 1,000 secrets in 60 kinds and quotings, none is seen', (t) => {
  const kinds = Object.entries(KINDS);
  t.ok(kinds.length >= 60, `${kinds.length} kinds`);
  const seen: string[] = [];
  for (let i = 0; i < Math.max(1_000, kinds.length * 17); i++) {
    const [kind, make] = kinds[i % kinds.length] as (typeof kinds)[number];
    const [text, secret] = make();
    const line = oneOf([text, `Nov 28 12:00:00 app[12]: ${text}`, `${text} \u00fc\u65e5`]);
    if (kind === 'a line of a key' ? redactText(text).includes(secret) : redactText(line).includes(secret))
      seen.push(`${kind}: ${line}`);
  }
  t.strictSame(seen, []);
  t.end();
});

t.test('a secret that begins as a number is none; a number alone is', (t) => {
  for (const secret of ['6/dA+rFmEFHieWRL==', '6+dA/rFmEFHie', '12345678:AAabcdefghijk', '7%aBcDeFgH', '6/7/dA+rFm'])
    t.notMatch(redactText(`AccountKey=${secret};x=y`), secret.slice(3));
  for (const text of ['max_tokens: 12.', 'tokens=5/10, keys=6', '{"token_count":12}', 'tokens: 50% used', 'tokens: 5: done'])
    t.equal(redactText(text), text);
  t.end();
});

const ip = (): string => `${below(223) + 1}.${below(256)}.${below(256)}.${below(256)}`;
const user = (): string => oneOf(['root', 'admin', 'ann', 'postgres', 'www-data', 'git']);
const uuid = (): string => [8, 4, 4, 4, 12].map((n) => some(HEX, n)).join('-');
const ORDINARY: readonly (() => string)[] = [
  () => `Failed password for ${oneOf(['', 'invalid user '])}${user()} from ${ip()} port ${below(65_535)} ssh2`,
  () => `Accepted publickey for ${user()} from ${ip()} port ${below(65_535)} ssh2: ED25519 SHA256:${some(BASE64, 43)}`,
  () => `pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=${ip()}  user=${user()}`,
  () => `pam_unix(su:session): session opened for user ${user()}(uid=${below(2000)}) by (uid=0)`,
  () => `${user()} : TTY=pts/${below(9)} ; PWD=/home/${user()} ; USER=root ; COMMAND=/usr/bin/apt-get install key-mon`,
  () => `${user()} : 3 incorrect password attempts ; TTY=pts/1 ; PWD=/srv ; USER=root ; COMMAND=/bin/bash`,
  () =>
    `[UFW BLOCK] IN=eth0 OUT= MAC=${some(HEX, 12)} SRC=${ip()} DST=${ip()} LEN=40 TTL=${below(255)} PROTO=TCP SPT=${below(65_535)} DPT=22 SYN URGP=0`,
  () =>
    `${ip()} - - [28/Nov/2026:12:00:00 +0000] "GET /assets/app-${some(HEX, 20)}.js HTTP/1.1" 200 ${below(1e6)} "https://example.com/login" "Mozilla/5.0 (X11)"`,
  () => `${ip()} - ${user()} [28/Nov/2026:12:00:00 +0000] "POST /api/v1/auth/token HTTP/2.0" 401 ${below(900)} "-" "curl/8.5.0"`,
  () => `Started session-${below(9999)}.scope - Session ${below(9999)} of User ${user()}.`,
  () => `(root) CMD (/usr/lib/cron/run --key-file /etc/x.pem ${uuid()})`,
  () =>
    `level=info msg="request done" id=${uuid()} prompt_tokens=${below(9000)} completion_tokens=${below(900)} max_tokens=512 status=200`,
  () => `the token expired at 2026-11-28T12:00:00Z; a new token was issued`,
  () => `password: incorrect`,
  () => `error: token: not found in keyring`,
  () => `Server: TLS handshake failed: bad certificate, key size ${below(4096)} bits`,
  () =>
    `audit: type=1400 apparmor="DENIED" operation="open" profile="/usr/sbin/cupsd" name="/etc/passwd" pid=${below(9999)} comm="cupsd"`,
  () => `docker.io/library/nginx@sha256:${some(HEX, 64)} pulled in ${below(99)}s`,
  () => `commit ${some(HEX, 40)} pushed to refs/heads/secret-scanner by ${user()}`,
  () =>
    `{"level":"warn","ts":${below(1e9)},"caller":"auth/session.go:${below(400)}","msg":"session ended","user":"${user()}","session_id":"${uuid()}"}`,
  () => `kubelet: Volume "token-volume-${some(LOWER, 5)}" mounted for pod web-${some(HEX, 10)}-${some(LOWER, 5)}`,
  () =>
    `postfix/smtpd[${below(9999)}]: ${some('0123456789ABCDEF', 11)}: client=unknown[${ip()}], sasl_method=LOGIN, sasl_username=${user()}`,
  () => `dhcpd: DHCPACK on ${ip()} to ${some(HEX, 2)}:${some(HEX, 2)}:00:11:22:33 (host-${below(999)}) via eth0`,
  () =>
    `named[${below(999)}]: client @0x${some(HEX, 12)} ${ip()}#${below(65_535)} (www.example.com): query: www.example.com IN A +E(0)K`,
  () => `certificate for web-${below(99)}.prod.eu-central-1.internal.example.com renewed, serial ${some(HEX, 36)}`,
  () => `basic authentication is required for /admin`,
  () => `Bearer authentication required`,
  () => `access key rotated for user ${user()}; the secret was changed`,
  () => `cookie consent shown; cookies accepted by ${ip()}`,
  () => `authorization: granted to ${user()}`,
  () => `open https://docs.example.com:8443/guide/passwords?page=${below(9)} took ${below(900)}ms`,
  () => `connected to redis://cache-${below(9)}.example:6379/0`,
  () => `key=value pairs: user=${user()} action=login result=ok port=${below(65_535)} bytes=${below(1e6)}`,
  () => `token_type=bearer expires_in=3600 token_id=${below(999)} keyid=${some(HEX, 8)}`,
  () => `passwordless sudo is on; password_file=/etc/shadow; secret_name=db; tokenizer=bpe`,
  () => `GET /reset-password HTTP/1.1 302 0 - password reset mail sent to ${user()}@example.com`,
  () => `ssh-ed25519 host key fingerprint is SHA256:${some(BASE64, 43)}`,
  () => `task ${uuid()} on worker-node-${below(99)}-${some(HEX, 12)} finished after ${below(900)} s`,
  () => `100%25 of disk; progress 45%20done; #012 newline from rsyslog; caf\u00e9 ${below(99)}`,
];

t.test('of 10,000 ordinary lines at most 10 are masked', (t) => {
  const masked: string[] = [];
  for (let i = 0; i < 10_000; i++) {
    const line = (ORDINARY[i % ORDINARY.length] as () => string)();
    if (redactText(line) !== line) masked.push(`${line} -> ${redactText(line)}`);
  }
  t.ok(masked.length <= 10, `${masked.length}: ${masked.slice(0, 10).join('\n')}`);
  t.end();
});

t.test('hostile texts take time in proportion', (t) => {
  const size = 65_536;
  for (const piece of [
    'password=',
    'password="',
    'token:\\"',
    '://a:',
    '://',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    '%25',
    '&quot;',
    '\\u0022',
    'a',
    'eyJaaaaaaaa.',
    '$6$',
    'curl -u ',
    'mysql ',
    '"',
    '\\',
    'AA:',
    '#012',
  ]) {
    const text = piece.repeat(Math.ceil(size / piece.length));
    const startedAt = performance.now();
    redactText(text);
    t.ok(performance.now() - startedAt < 1_000, `${piece}: ${Math.round(performance.now() - startedAt)} ms`);
  }
  t.end();
});

t.test('what is masked twice stays as it is', (t) => {
  for (const make of Object.values(KINDS)) {
    const once = redactText(make()[0]);
    t.equal(redactText(once).includes('[[redacted]'), false, once);
  }
  t.end();
});
