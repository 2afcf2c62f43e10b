/** A hundred kinds of secrets as they stand in logs and configurations, each new on every call. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

interface PlantedSecret {
  readonly kind: string;
  /** What must not be found. */
  readonly secret: string;
  /** The line that it stands in. */
  readonly line: string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const ALNUM = LOWER + UPPER + DIGITS;
const of = (letters: string, length: number): string =>
  Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');
const base64 = (length: number): string => randomBytes(length).toString('base64');
const base64url = (length: number): string => randomBytes(length).toString('base64url');
const word = (): string => `${of(LOWER, 6)}${of(DIGITS, 3)}`;

/** Keys that their issuer's prefix gives away, in a line that says nothing of them. */
function prefixed(): Record<string, string> {
  return {
    'OpenAI key': `sk-${of(ALNUM, 48)}`,
    'OpenAI project key': `sk-proj-${base64url(90)}`,
    'Anthropic key': `sk-ant-api03-${base64url(70)}`,
    'OpenRouter key': `sk-or-v1-${of(HEX, 64)}`,
    'Hugging Face token': `hf_${of(ALNUM, 34)}`,
    'GitHub token': `ghp_${of(ALNUM, 36)}`,
    'GitHub OAuth token': `gho_${of(ALNUM, 36)}`,
    'GitHub fine-grained token': `github_pat_${of(ALNUM, 22)}_${of(ALNUM, 59)}`,
    'GitLab token': `glpat-${base64url(15)}`,
    'GitLab runner token': `glrt-${base64url(18)}`,
    'Slack bot token': `xoxb-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${of(ALNUM, 24)}`,
    'Slack app token': `xapp-1-A${of(UPPER, 10)}-${of(DIGITS, 13)}-${of(HEX, 64)}`,
    'npm token': `npm_${of(ALNUM, 36)}`,
    'PyPI token': `pypi-AgEIcHlwaS5vcmc${base64url(60)}`,
    'DigitalOcean token': `dop_v1_${of(HEX, 64)}`,
    'Shopify token': `shpat_${of(HEX, 32)}`,
    'Square token': `sq0atp-${base64url(16)}`,
    'Stripe secret key': `sk_live_${of(ALNUM, 24)}`,
    'Stripe restricted key': `rk_live_${of(ALNUM, 24)}`,
    'Stripe webhook secret': `whsec_${base64(24)}`,
    'AWS access key id': `AKIA${of(UPPER + DIGITS, 16)}`,
    'AWS temporary key id': `ASIA${of(UPPER + DIGITS, 16)}`,
    'Google API key': `AIza${base64url(26)}`,
    'Google OAuth token': `ya29.${base64url(60)}`,
    'Google client secret': `GOCSPX-${base64url(21)}`,
    'SendGrid key': `SG.${base64url(16)}.${base64url(32)}`,
    'Twilio account': `AC${of(HEX, 32)}`,
    'Twilio key': `SK${of(HEX, 32)}`,
    'Mailgun key': `key-${of(HEX, 32)}`,
    'Groq key': `gsk_${of(ALNUM, 52)}`,
    'Replicate token': `r8_${of(ALNUM, 37)}`,
    'NVIDIA key': `nvapi-${base64url(48)}`,
    'Tailscale key': `tskey-auth-${of(ALNUM, 12)}-${of(ALNUM, 32)}`,
    'Linear key': `lin_api_${of(ALNUM, 40)}`,
    'Notion token': `secret_${of(ALNUM, 43)}`,
    'Fly token': `fo1_${base64url(32)}`,
    'Docker token': `dckr_pat_${base64url(20)}`,
    'Vault token': `hvs.${base64url(68)}`,
    'Databricks token': `dapi${of(HEX, 32)}`,
    'Sentry token': `sntrys_${base64url(80)}`,
    'Atlassian token': `ATATT3xFf${base64url(120)}`,
    'Figma token': `figd_${base64url(30)}`,
    'RubyGems key': `rubygems_${of(HEX, 48)}`,
    'Postman key': `PMAK-${of(HEX, 24)}-${of(HEX, 34)}`,
    'age identity': `AGE-SECRET-KEY-1${of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`,
    'key of svc': `svc_${of(ALNUM, 43)}`,
    'Telegram bot token': `${of(DIGITS, 10)}:${base64url(26)}`,
    'Discord bot token': `${base64url(18)}.${base64url(5).slice(0, 6)}.${base64url(28)}`,
    'JSON Web Token': `eyJhbGciOiJIUzI1NiJ9.${base64url(60)}.${base64url(32)}`,
    'Biscuit token': `En4KFAoFYWxpY2UYAyI${base64url(120)}`,
    'argon2id hash': `$argon2id$v=19$m=19456,t=2,p=1$${base64(16).replaceAll('=', '')}$${base64(32).replaceAll('=', '')}`,
    'bcrypt hash': `$2b$12$${of(ALNUM, 53)}`,
    'SHA-512 crypt': `$6$${of(ALNUM, 16)}$${of(ALNUM, 86)}`,
    'LDAP password': `{SSHA}${base64(24)}`,
    'recovery code': Array.from({ length: 4 }, () => of(UPPER + DIGITS, 4) + 7).join('-'),
    'hexadecimal key': of(HEX, 64),
    'key in base64': base64(32),
    'key in base64url': base64url(32),
    'AWS secret key': `wJalrXUtnFEMI/K7MDENG/${of(ALNUM, 18)}`,
    'WireGuard key': base64(32),
    'FIDO handle': base64url(64),
  };
}

/** Values that only the words around them give away. */
function said(): Record<string, [secret: string, line: (secret: string) => string]> {
  return {
    'password in a query': [word(), (s) => `GET /login?user=ann&password=${s}&next=/ 200`],
    'token in a query': [word(), (s) => `GET /stream?access_token=${s} 200`],
    'signature in a query': [word(), (s) => `GET /f?X-Amz-Signature=${s} 200`],
    'api key in a query': [word(), (s) => `GET /v1/models?api_key=${s}`],
    'password of a URL': [word(), (s) => `connecting to postgres://svc:${s}@db.example:5432/svc`],
    'user of a URL': [word(), (s) => `fetching https://${s}@mirror.example/x`],
    'redis password': [word(), (s) => `redis://:${s}@cache.example:6379/0`],
    'amqp password': [word(), (s) => `amqps://svc:${s}@mq.example`],
    'Basic header': [Buffer.from(`ann:${word()}`).toString('base64'), (s) => `Authorization: Basic ${s}`],
    'Bearer header': [word(), (s) => `authorization: Bearer ${s}`],
    'Digest header': [word(), (s) => `Authorization: Digest username="ann", response="${s}"`],
    'proxy header': [word(), (s) => `Proxy-Authorization: Basic ${s}`],
    cookie: [word(), (s) => `Cookie: svc_session=${s}; theme=dark`],
    'set cookie': [word(), (s) => `set-cookie: id=${s}; HttpOnly`],
    'X-API-Key header': [word(), (s) => `x-api-key: ${s}`],
    'CSRF token': [word(), (s) => `X-CSRF-Token: ${s}`],
    'password in JSON': [word(), (s) => JSON.stringify({ user: 'ann', password: s })],
    'password in JSON inside JSON': [word(), (s) => JSON.stringify({ body: JSON.stringify({ password: s }) })],
    'client secret in JSON': [word(), (s) => JSON.stringify({ client_secret: s })],
    'camel case secret': [word(), (s) => JSON.stringify({ clientSecret: s })],
    'refresh token in JSON': [word(), (s) => JSON.stringify({ refresh_token: s })],
    'private key in JSON': [word(), (s) => JSON.stringify({ private_key: s })],
    'password in YAML': [word(), (s) => `smtp:\n  password: ${s}`],
    'password in TOML': [word(), (s) => `smtp_password = "${s}"`],
    'password with spaces in TOML': [`correct horse ${word()}`, (s) => `passphrase = "${s}"`],
    'exported variable': [word(), (s) => `export DB_PASSWORD=${s}`],
    'prefixed variable': [word(), (s) => `SVC_OIDC_CLIENT_SECRET=${s}`],
    PGPASSWORD: [word(), (s) => `PGPASSWORD=${s} psql`],
    'password as an option': [word(), (s) => `curl --password ${s} https://example`],
    'api key as an option': [word(), (s) => `svc status --api-key ${s}`],
    'token as an option': [word(), (s) => `gh auth login --with-token=${s}`],
    'spoken password': [word(), (s) => `the password is ${s}`],
    'spoken PIN': [of(DIGITS, 6), (s) => `pin: ${s}`],
    'one-time code': [of(DIGITS, 6), (s) => `otp=${s}`],
    'session id': [word(), (s) => `session_id=${s}`],
    'sealing key': [word(), (s) => `sealing_key=${s}`],
    'encryption key': [word(), (s) => `encryption-key: ${s}`],
    'connection string': [word(), (s) => `Server=db;User Id=svc;Password=${s};Database=svc`],
    'Azure storage key': [
      base64(64),
      (s) => `DefaultEndpointsProtocol=https;AccountName=svc;AccountKey=${s};EndpointSuffix=core`,
    ],
    'TOTP seed': [of('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16), (s) => `otpauth://totp/svc:ann?secret=${s}&issuer=svc`],
    'Slack webhook': [
      `T${of(UPPER, 8)}/B${of(UPPER, 8)}/${of(ALNUM, 24)}`,
      (s) => `posting to https://hooks.slack.com/services/${s}`,
    ],
    'Discord webhook': [`${of(DIGITS, 18)}/${base64url(50)}`, (s) => `https://discord.com/api/webhooks/${s}`],
    'Sentry DSN': [of(HEX, 32), (s) => `dsn: https://${s}@o1.ingest.example/1`],
    'PEM key': [pemLine(), (s) => `-----BEGIN PRIVATE KEY-----\n${s}\n${pemLine()}\n-----END PRIVATE KEY-----`],
    'PEM key on one line': [pemLine(), (s) => `key="-----BEGIN RSA PRIVATE KEY-----\\n${s}\\n-----END RSA PRIVATE KEY-----"`],
    'PEM key cut off': [pemLine(), (s) => `-----BEGIN EC PRIVATE KEY-----\n${s}`],
    'OpenSSH key': [pemLine(), (s) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${s}\n-----END OPENSSH PRIVATE KEY-----`],
    netrc: [word(), (s) => `machine db.example login svc password ${s}`],
    'Heroku key': [randomUUID(), (s) => `HEROKU_API_KEY=${s}`],
    'master key': [word(), (s) => `master-key = '${s}'`],
  };
}

function pemLine(): string {
  return base64(48);
}

export function plantedSecrets(): PlantedSecret[] {
  const bare = Object.entries(prefixed()).map(([kind, secret]) => ({ kind, secret, line: `something ${secret} was seen` }));
  const named = Object.entries(said()).map(([kind, [secret, line]]) => ({ kind, secret, line: line(secret) }));
  return [...bare, ...named];
}
