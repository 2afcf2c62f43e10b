/** Calls over TLS, through kamailio, and to baresip, whose recording is compared with what was played. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import t, { type Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../../platform/http/self-signed.ts';
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../../platform/network/allowed-host.ts';
import { Phone, type PhoneOptions } from './phone.ts';
import { CALL_RATE } from './rtp-session.ts';
import {
  answerComes,
  asks,
  comes,
  freePort,
  invited,
  isListening,
  SDP,
  says,
  startSipp,
  whyNoProgram,
} from './test-support/sipp.ts';
import { readWav } from './wav.ts';

t.setTimeout(120_000);

const KAMAILIO = '/usr/sbin/kamailio';
const BARESIP_MODULES = '/usr/lib/baresip/modules';
/** Samples are its unit. */
const WINDOW = CALL_RATE / 4;
const OK_TO_REQUEST = says('200 OK', { tag: '' });

function phoneTo(t: Test, port: number, more: Partial<PhoneOptions> = {}, transport: 'udp' | 'tls' = 'udp'): Phone {
  const phone = new Phone({
    settings: {
      registrar: `127.0.0.1:${port}`,
      user: 'svc',
      domain: `127.0.0.1:${port}`,
      transport,
      audio_port_range: [32_000, 33_000],
    },
    password: 'secret',
    to: '200',
    sound: undefined,
    digits: undefined,
    isRecorded: false,
    maxSeconds: 20,
    ringSeconds: 20,
    policy: new AddressPolicy({ trusted: [], allowed: allowedHostsOf('test', '127.0.0.1,http://127.0.0.1', '') }),
    timeoutMs: 5_000,
    now: Date.now,
    onState: () => undefined,
    ...more,
  });
  t.teardown(() => phone.abandon());
  return phone;
}

t.test(
  'a call over TLS goes to a server whose certificate is trusted, and to no other',
  { skip: whyNoProgram('sipp') },
  async (t) => {
    const { certFile, keyFile } = await createSelfSigned({ folder: join(newFolder(t), 'tls') });
    const sipp = await startSipp(t, [invited, says('200 OK', { body: SDP }), comes('ACK'), comes('BYE'), OK_TO_REQUEST], 'tcp');
    const cert = readFileSync(certFile);
    const server = createServer({ cert, key: readFileSync(keyFile) }, (secure) => {
      const plain = connect(sipp.port, '127.0.0.1');
      for (const socket of [secure, plain]) socket.on('error', () => undefined);
      secure.pipe(plain).pipe(secure);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as { port: number };
    const refused = await phoneTo(t, port, {}, 'tls').run();
    t.match(refused, { end: 'failed', reason: /certificate/ });
    t.match(await phoneTo(t, port, { ca: cert.toString() }, 'tls').run(), { end: 'completed', status: 200 });
    t.ok((await sipp.ended).isWhole);
  },
);

/** Routes every call to one telephone, and stays in the way of what follows. */
const proxyConfiguration = (port: number, telephone: number): string => `
debug=0
log_stderror=yes
children=1
tcp_children=1
disable_tcp=yes
listen=udp:127.0.0.1:${port}
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "siputils.so"
loadmodule "textops.so"
request_route {
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not here");
    exit;
  }
  record_route();
  $du = "sip:127.0.0.1:${telephone}";
  t_relay();
}
`;

async function proxyTo(t: Test, telephone: number): Promise<number> {
  const folder = newFolder(t);
  const port = await freePort();
  writeFileSync(join(folder, 'kamailio.cfg'), proxyConfiguration(port, telephone));
  const child = spawn(KAMAILIO, [
    '-f',
    join(folder, 'kamailio.cfg'),
    '-DD',
    '-E',
    '-m',
    '16',
    '-M',
    '4',
    '-Y',
    folder,
    '-w',
    folder,
  ]);
  const ended = once(child, 'exit');
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said += text;
    });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await isListening(child, port, 'udp');
  if (child.exitCode !== null) throw new Error(said);
  return port;
}

/** sipp keeps the route set of the INVITE, and goes back the same way. */
const invitedByProxy = invited.replace('<recv ', '<recv rrs="true" ');
const askedByProxy = asks('BYE')
  .replace(/BYE sip:\S+/, 'BYE [next_url]')
  .replace('Max-Forwards', '[routes]\nMax-Forwards');
const routed = [
  { name: 'hangs up', steps: [comes('BYE'), OK_TO_REQUEST] },
  { name: 'is hung up', steps: [askedByProxy, answerComes(200)], more: { isRecorded: true } },
];

for (const { name, steps, more = {} } of routed)
  t.test(
    `a call through kamailio, which stays in its way, ${name}`,
    { skip: whyNoProgram('sipp') || (!existsSync(KAMAILIO) && 'kamailio is not installed') },
    async (t) => {
      const answered = says('200 OK', { body: SDP, more: '[last_Record-Route:]\n' });
      const sipp = await startSipp(t, [invitedByProxy, answered, comes('ACK'), ...steps]);
      const phone = phoneTo(t, await proxyTo(t, sipp.port), more);
      t.match(await phone.run(), { end: 'completed', status: 200 });
      const { isWhole, errors } = await sipp.ended;
      t.ok(isWhole, `the whole scenario happened ${errors.slice(0, 2_000)}`);
    },
  );

/** Answers every call, says back what it hears, and writes that down. */
async function startBaresip(t: Test): Promise<{ port: number; heard(): Promise<Int16Array> }> {
  const folder = newFolder(t);
  const port = await freePort();
  writeFileSync(join(folder, 'accounts'), `<sip:200@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=pcmu\n`);
  const lines = [
    `sip_listen 127.0.0.1:${port}`,
    'net_interface 127.0.0.1',
    'audio_player aubridge,loop',
    'audio_source aubridge,loop',
    'audio_srate 8000',
    'jitter_buffer_delay 2-4',
    `module_path ${BARESIP_MODULES}`,
    'module g711.so',
    'module aubridge.so',
    'module sndfile.so',
    'module_app account.so',
    'module_app menu.so',
    `snd_path ${folder}`,
  ];
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
  const child = spawn('baresip', ['-f', folder], { stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await isListening(child, port, 'udp');
  const heard = async (): Promise<Int16Array> => {
    // The file is whole when the program has ended.
    child.kill('SIGTERM');
    await ended;
    const file = readdirSync(folder).find((name) => name.endsWith('dec.wav')) ?? '';
    return readWav(readFileSync(join(folder, file)))?.samples ?? new Int16Array();
  };
  return { port, heard };
}

t.test('what is played is what baresip hears and records', { skip: whyNoProgram('baresip') }, async (t) => {
  const played = voiceLike(2 * CALL_RATE);
  const baresip = await startBaresip(t);
  const { end, status } = await phoneTo(t, baresip.port, { sound: played }).run();
  t.match({ end, status }, { end: 'completed', status: 200 });
  const found = correlations(played, await baresip.heard()).toSorted((a, b) => b - a);
  t.ok((found[found.length / 2] ?? 0) >= 0.95, `half of it or more is as it was played: ${found.map((each) => each.toFixed(3))}`);
});

/** Noise that swells and fades, so that only one shift fits. */
function voiceLike(nSamples: number): Int16Array {
  return Int16Array.from({ length: nSamples }, (_, i) => 12_000 * Math.sin(i / 900) * (random.next() - 0.5));
}

/** The correlation of each quarter of a second with what fits it best: a busy machine may lose packets between them. */
function correlations(played: Int16Array, heard: Int16Array): number[] {
  return Array.from({ length: Math.floor(played.length / WINDOW) }, (_, i) => {
    const window = played.subarray(i * WINDOW, (i + 1) * WINDOW);
    let best = 0;
    for (let shift = 0; shift <= heard.length - WINDOW; shift += 1)
      best = Math.max(best, correlation(window, heard.subarray(shift)));
    return best;
  });
}

function correlation(a: Int16Array, b: Int16Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    ab += (a[i] ?? 0) * (b[i] ?? 0);
    aa += (a[i] ?? 0) ** 2;
    bb += (b[i] ?? 0) ** 2;
  }
  return ab / Math.sqrt(aa * bb || 1);
}
