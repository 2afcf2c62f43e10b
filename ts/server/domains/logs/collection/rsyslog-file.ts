/** The configuration of rsyslog that a collection stands for. */
import { join } from 'node:path';
import { type CollectionConfig, type Listener, OTHER_CLASS } from './collection-config.ts';
import { CANARY_CLASS } from './copy-files.ts';
import { networkCondition } from './networks.ts';
import { quoted } from './quoted.ts';

export interface TlsPaths {
  cert: string;
  key: string;
  ca: string | undefined;
}

interface RsyslogFileParts {
  config: CollectionConfig;
  /** Work folder of rsyslog. */
  folder: string;
  /** Lines that hold it are the service's own, whoever sends them. */
  canary: string;
  /** Files of each listener; undefined for one without TLS. */
  tls: readonly (TlsPaths | undefined)[];
}

/** Bytes of a message; longer ones are cut. */
const MOST_MESSAGE = '64k';
/** Without it, what is left of a longer message becomes a message for each of its characters. */
const WITHOUT_REST = 'discardTruncatedMsg="on"';

export function rsyslogFile({ config, folder, canary, tls }: RsyslogFileParts): string {
  const modules = ['impstats', 'mmutf8fix', ...new Set(config.listen.map(({ protocol }) => INPUT_MODULES[protocol]))];
  const stats = `interval="60" format="json" log.syslog="off" log.file=${quoted(join(folder, 'stats'))}`;
  return [
    '# Written by svc. What is changed here is lost with the next apply.',
    `global(workDirectory=${quoted(folder)} net.enableDNS="off" maxMessageSize="${MOST_MESSAGE}" parser.escapeControlCharactersOnReceive="on")`,
    ...modules.map((name) => `module(load="${name}"${{ impstats: ` ${stats}`, imtcp: ` ${WITHOUT_REST}` }[name] ?? ''})`),
    lineTemplate(),
    ...config.copies.map((copy, i) => fileTemplate(`copy${i}`, copy)),
    // Without a queue of its own, a ruleset has the main queue, which is in memory and would lose what was acknowledged.
    'ruleset(name="keep" queue.type="Direct") {',
    `  if not (${[isCanary(canary), ...config.allowed_networks.map(networkCondition)].join(' or ')}) then stop`,
    // Of a facility that is none, the text would be no JSON.
    '  set $.facility = cnum($syslogfacility);',
    '  action(type="mmutf8fix")',
    ...classRules(config, canary),
    ...config.copies.map(
      (_, i) =>
        `  action(type="omfile" dynaFile="copy${i}" template="line" createDirs="on" dirCreateMode="0750" fileCreateMode="0640" dynaFileCacheSize="300")`,
    ),
    '}',
    // Only datagrams pass a queue in memory: it would lose lines that TCP and RELP have acknowledged.
    'ruleset(name="datagrams" queue.type="LinkedList" queue.size="10000" queue.workerThreads="1") { call keep }',
    ...config.listen.map((listener, i) => input(listener, tls[i])),
    // What rsyslog says of itself.
    `action(type="omfile" file=${quoted(join(folder, 'own'))})`,
    '',
  ].join('\n');
}

/** The module imptcp would be faster, and spoils the lines that follow one that is too long (8.2302). */
const INPUT_MODULES = { udp: 'imudp', tcp: 'imtcp', tls: 'imtcp', relp: 'imrelp' } as const;

function lineTemplate(): string {
  const time = 'dateFormat="rfc3339"';
  const properties = [
    ['uuid', 'uuid', ''],
    ['ts', 'timereported', time],
    ['rcvd', 'timegenerated', `${time} date.inUTC="on"`],
    ['host', 'hostname', ''],
    ['fromhost_ip', 'fromhost-ip', ''],
    ['app', 'app-name', ''],
    ['severity', 'syslogseverity', 'dataType="number"'],
    ['facility', '$.facility', 'dataType="number"'],
    ['class', '$.class', ''],
    ['msg', 'msg', ''],
  ].map(([member, name, more]) => `  property(outname="${member}" name="${name}" format="jsonf" ${more})`);
  return ['template(name="line" type="list" option.jsonf="on") {', ...properties, '}'].join('\n');
}

/** Files by class and hour of reception in UTC: nothing of a message is in their names. */
function fileTemplate(name: string, copy: string): string {
  const time = (part: string): string => `property(name="timegenerated" dateFormat="${part}" date.inUTC="on")`;
  const text = (part: string): string => `constant(value=${quoted(part)})`;
  const date = [time('year'), text('-'), time('month'), text('-'), time('day'), text('T'), time('hour'), text('.jsonl')];
  return `template(name="${name}" type="list") { ${[text(`${copy}/`), 'property(name="$.class")', text('/'), ...date].join(' ')} }`;
}

function isCanary(canary: string): string {
  return `$msg contains ${quoted(canary)}`;
}

function classRules({ classes, sources }: CollectionConfig, canary: string): string[] {
  const ofMatch = ({ app, host, contains }: CollectionConfig['classes'][number]['match']): string =>
    [
      ...(app === undefined ? [] : [`$app-name == ${quoted(app)}`]),
      ...(host === undefined ? [] : [`$hostname == ${quoted(host)}`]),
      ...(contains === undefined ? [] : [`$msg contains ${quoted(contains)}`]),
    ].join(' and ');
  const rules = [
    [isCanary(canary), CANARY_CLASS],
    ...classes.map(({ name, match }) => [ofMatch(match), name]),
    ...sources.map(({ network, class: name }) => [networkCondition(network), name]),
  ];
  const chain = rules.map(([condition, name]) => `if ${condition} then set $.class = "${name}";`).join('\n  else ');
  return [`  ${chain}`, `  else set $.class = "${OTHER_CLASS}";`];
}

function input({ protocol, address, port }: Listener, tls: TlsPaths | undefined): string {
  const ruleset = protocol === 'udp' ? 'datagrams' : 'keep';
  const driver =
    tls === undefined
      ? ''
      : ` streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="${tls.ca === undefined ? 'anon' : 'x509/certvalid'}"` +
        ` streamDriver.certFile=${quoted(tls.cert)} streamDriver.keyFile=${quoted(tls.key)} streamDriver.caFile=${quoted(tls.ca ?? tls.cert)}`;
  const size = protocol === 'relp' ? ` maxDataSize="${MOST_MESSAGE}"` : '';
  return `input(type="${INPUT_MODULES[protocol]}" address=${quoted(address)} port="${port}" ruleset="${ruleset}"${driver}${size})`;
}
