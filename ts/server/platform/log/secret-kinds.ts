/** Secrets as data: names of members whose values are secrets, and tokens by their prefix, characters and length. */

/** Words of names, of which each may have something before it (`db_`, `aws-`) and one of the suffixes behind it. */
export const SECRET_WORDS: readonly string[] = [
  'password',
  'passwd',
  'passwort',
  'passphrase',
  'passcode',
  '(?<![a-z])pass(?![a-z])',
  '(?<![a-z])pwd(?![a-z])',
  '(?:bind|root|admin|user)_?pw(?![a-z])',
  'identified by',
  'secret',
  'token',
  'credentials?(?![a-z])',
  'api[_-]?key',
  'access[_-]?key',
  'private[_-]?key',
  'account[_-]?key',
  'signing[_-]?key',
  'encryption[_-]?key',
  'master[_-]?key',
  'auth[_-]?key',
  'provider[_-]?key',
  'preshared[_-]?key',
  '(?<![a-z])psk(?![a-z])',
  'code[_-]?verifier',
  'client[_-]?assertion',
  'shared[_-]?access[_-]?signature',
  'amz[_-]signature',
  '(?<=[?&])sig(?==)',
  'authorization',
  'cookie',
];
export const SECRET_SUFFIX = '(?:[_-]?(?:access|key|value|hash|text|string|base|old|new|b64|[0-9]{1,2}))';

/** A prefix, and what stands behind it: characters and how many of them at least. */
type TokenKind = readonly [prefix: string, rest: string];

const WORD = '[A-Za-z0-9]';
const DASHED = '[\\w-]';

export const TOKEN_KINDS: readonly TokenKind[] = [
  // Clouds.
  ['(?:AKIA|ASIA|ABIA|ACCA)', '[A-Z2-7]{16}'],
  ['AIza', `${DASHED}{30,}`],
  ['ya29\\.', '[\\w.-]{20,}'],
  ['GOCSPX-', `${DASHED}{20,}`],
  ['LTAI', `${WORD}{12,}`],
  ['dop_v1_', '[a-f0-9]{40,}'],
  ['do[or]_v1_', '[a-f0-9]{40,}'],
  ['fo1_', `${DASHED}{30,}`],
  ['HRKU-', `${DASHED}{30,}`],
  ['dapi', '[a-f0-9]{32}'],
  ['pscale_(?:tkn|pw|oauth)_', '[\\w.-]{24,}'],
  ['sbp_', '[a-f0-9]{32,}'],
  ['tskey-', '[\\w-]{16,}'],
  // Code and packages.
  ['gh[pousr]_', `${WORD}{30,}`],
  ['github_pat_', '\\w{30,}'],
  ['gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat|imt|oas)-', `${DASHED}{16,}`],
  ['ATATT3', '[\\w=-]{30,}'],
  ['AT(?:BB|CTT3)', `${DASHED}{16,}`],
  ['npm_', `${WORD}{30,}`],
  ['pypi-', `${DASHED}{30,}`],
  ['rubygems_', '[a-f0-9]{40,}'],
  ['oy2', '[a-z0-9]{43}'],
  ['dckr_(?:pat|oat)_', `${DASHED}{20,}`],
  ['cio', `${WORD}{32}`],
  ['CCIPAT_', '\\w{30,}'],
  ['glsa_', '\\w{32,}'],
  ['glc_', '[\\w+/=]{30,}'],
  ['NRAK-', '[A-Z0-9]{20,}'],
  ['NRII-', `${DASHED}{20,}`],
  ['sntry[su]_', '[\\w=+/]{30,}'],
  ['hv[sbr]\\.', `${DASHED}{20,}`],
  ['dp\\.(?:pt|st|ct|sa|scim|audit)\\.', '[\\w.]{30,}'],
  [`${WORD}{14}\\.atlasv1\\.`, '[\\w=-]{40,}'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{20,}'],
  // Providers of models.
  ['sk-', `${DASHED}{8,}`],
  ['svc[srlib]?_', `${DASHED}{8,}`],
  ['hf_', `${DASHED}{8,}`],
  ['gsk_', `${WORD}{30,}`],
  ['xai-', `${WORD}{30,}`],
  ['pplx-', `${WORD}{30,}`],
  ['r8_', `${WORD}{30,}`],
  ['nvapi-', `${DASHED}{30,}`],
  ['fw_', `${WORD}{20,}`],
  ['tgp_v1_', `${DASHED}{30,}`],
  // Messages, money and offices.
  ['xox[abeoprs]-', `${DASHED}{10,}`],
  ['xapp-', `${DASHED}{20,}`],
  ['(?<=hooks\\.slack\\.com/services/\\w{8,14}/\\w{8,14}/)', '\\w{16,}'],
  ['(?<=discord(?:app)?\\.com/api/webhooks/\\d{16,20}/)', `${DASHED}{40,}`],
  ['(?<=(?<!\\d)\\d{8,10}:)AA', `${DASHED}{32,}`],
  ['[MNO][A-Za-z\\d_-]{23,27}\\.[\\w-]{6}\\.', `${DASHED}{27,}`],
  ['[sr]k_(?:live|test)_', `${WORD}{16,}`],
  ['whsec_', '[\\w+/=]{16,}'],
  ['SG\\.', `${DASHED}{16,}\\.${DASHED}{16,}`],
  ['SK(?=[a-f0-9]{32}(?!\\w))', '[a-f0-9]{32}'],
  ['key-', '[a-f0-9]{32}'],
  ['xkeysib-', `${DASHED}{40,}`],
  ['shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{32}'],
  ['sq0(?:atp|csp|idp)-', `${DASHED}{20,}`],
  ['EAAA', `${DASHED}{56,}`],
  ['lin_(?:api|oauth)_', `${WORD}{30,}`],
  ['ntn_', `${WORD}{30,}`],
  ['secret_', `${WORD}{40,}`],
  ['fig[dorp]_', `${DASHED}{30,}`],
  ['PMAK-', `${DASHED}{40,}`],
  ['pat[A-Za-z0-9]{14}\\.', '[a-f0-9]{60,}'],
  // A JSON Web Token: the header begins with `{"`.
  ['eyJ', '[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]*){0,3}'],
];

/** Words that follow a name and a colon in a sentence, and are no value of it. */
export const SENTENCE_WORDS =
  '(?:null|none|nil|true|false|undefined|yes|no|ok|set|unset|empty|missing|invalid|expired|required|accepted|rejected|denied|failed|failure|success|successful|' +
  'incorrect|wrong|changed|not|is|was|has|for|from|must|cannot|can|could|does|did|too|the|an?|and|or|user|authentication|check|unable|unknown|permission|error|file|reset|update|updated|refreshed|' +
  'revoked|granted|bad|new|old|generated|created|loaded|using|found|no|in|of|to|on|with)';
/** Texts that stand for a value that is not there, or that is masked already. */
export const NO_VALUE = '(?:null|none|nil|true|false|undefined|\\*{2,}|\\[redacted\\]|\\(null\\)|%s|-)';
