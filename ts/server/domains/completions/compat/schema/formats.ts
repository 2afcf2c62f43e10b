/** Formats of strings as patterns: each of their strings has the format, and few that have it are left out. */

const label = '[A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,15})?';
const hostname = `${label}(?:\\.${label}){0,4}`;
const dayOfYear =
  '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])';
const leapYear = '[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00';
const date = `(?:[0-9]{4}-(?:${dayOfYear})|(?:${leapYear})-02-29)`;
const hours = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const time = `${hours}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${hours})`;
const n = '[0-9]{1,9}';
const days = `(?:${n}Y(?:${n}M(?:${n}D)?)?|${n}M(?:${n}D)?|${n}D)`;
const daytime = `T(?:${n}H(?:${n}M(?:${n}S)?)?|${n}M(?:${n}S)?|${n}S)`;
const atom = '[A-Za-z0-9_+-]{1,30}';
const email = `${atom}(?:\\.${atom})?@${label}(?:\\.${label}){1,3}`;
const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `${octet}(?:\\.${octet}){3}`;
const h = '[0-9a-fA-F]{1,4}';
const uriLetter = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})";
/** Readers of URLs refuse ports that TCP does not have. */
const port = '(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const uri = `[A-Za-z][A-Za-z0-9+.-]*://${hostname}(?::${port})?(?:/${uriLetter}*)?(?:\\?${uriLetter}*)?(?:#${uriLetter}*)?`;
const pointer = '(?:/(?:[^~/]|~[01])*)*';

export const formats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date,
    time,
    'date-time': `${date}T${time}`,
    duration: `P(?:${days}(?:${daytime})?|${daytime}|${n}W)`,
    email,
    'idn-email': email,
    hostname,
    'idn-hostname': hostname,
    ipv4,
    ipv6: `(?:(?:${h}:){7}${h}|(?:${h}:){1,6}:${h}|(?:${h}:){1,7}:|::(?:${h}:){0,5}${h}|::)`,
    uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
    uri,
    'uri-reference': uri,
    iri: uri,
    'iri-reference': uri,
    'uri-template': uri,
    'json-pointer': pointer,
    'relative-json-pointer': `(?:0|[1-9][0-9]{0,5})(?:#|${pointer})`,
  }).map(([name, pattern]) => [name, `^(?:${pattern})$`]),
);
