/** sipp as the other side of a call: a scenario is written from a list of steps, and sipp says whether all of it happened. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { newFolder } from '../../../../platform/files/test-support/new-folder.ts';
import type { TransportName } from '../sip-transport.ts';

/** Undefined: it is there. */
export function whyNoProgram(name: string): string | false {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return false;
  } catch {
    return `${name} is not installed`;
  }
}

type Step = string;

/** A request that must come; `rrs` keeps its route set. */
export const comes = (method: string, { optional = false, timeout = 0 } = {}): Step =>
  `<recv request="${method}" crlf="true"${optional ? ' optional="true"' : ''}${timeout > 0 ? ` timeout="${timeout}"` : ''}></recv>`;

export const answerComes = (status: number, optional = false): Step =>
  `<recv response="${status}"${optional ? ' optional="true"' : ''}></recv>`;

const SAME = '[last_Via:]\n[last_From:]\n';
const TAIL = '[last_Call-ID:]\n[last_CSeq:]\n';
const CONTACT = 'Contact: <sip:[local_ip]:[local_port];transport=[transport]>\n';

/** An answer to the last request; `more` are further header fields. */
export function says(status: string, { tag = 'a', more = '', body = '', cseq = '' } = {}): Step {
  const to = tag === '' ? '[last_To:]' : `[last_To:];tag=[pid]${tag}[call_number]`;
  const tail = cseq === '' ? TAIL : `[last_Call-ID:]\nCSeq: ${cseq}\n`;
  const length = body === '' ? 'Content-Length: 0\n\n' : `Content-Type: application/sdp\nContent-Length: [len]\n\n${body}`;
  return `<send><![CDATA[\nSIP/2.0 ${status}\n${SAME}${to}\n${tail}${CONTACT}${more}${length}\n]]></send>`;
}

export const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 [local_ip]',
  's=-',
  'c=IN IP4 [media_ip]',
  't=0 0',
  'm=audio [media_port] RTP/AVP 0 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  '',
].join('\n');

/** A request of the other side within the dialog. */
export function asks(method: string, cseq = 1, body = ''): Step {
  const length = body === '' ? 'Content-Length: 0\n\n' : `Content-Type: application/sdp\nContent-Length: [len]\n\n${body}`;
  return `<send><![CDATA[
${method} sip:svc@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: [$to];tag=[pid]a[call_number]
To: [$from]
[last_Call-ID:]
CSeq: ${cseq} ${method}
Max-Forwards: 70
${CONTACT}${length}
]]></send>`;
}

/** The INVITE, whose From and To later requests of this side turn around. */
export const invited: Step = `<recv request="INVITE" crlf="true"><action>
<ereg regexp=".*" search_in="hdr" header="From:" assign_to="from"/>
<ereg regexp=".*" search_in="hdr" header="To:" assign_to="to"/>
</action></recv>`;

const USED = '<Reference variables="from,to"/>';

interface Sipp {
  readonly port: number;
  /** Whether the whole scenario happened. */
  readonly ended: Promise<{ isWhole: boolean; errors: string }>;
}

export async function startSipp(t: Test, steps: readonly Step[], transport: TransportName = 'udp'): Promise<Sipp> {
  const folder = newFolder(t);
  const file = join(folder, 'scenario.xml');
  writeFileSync(
    file,
    `<?xml version="1.0" encoding="ISO-8859-1" ?>\n<scenario name="svc">\n${steps.join('\n')}\n${USED}\n</scenario>\n`,
  );
  const port = await freePort();
  const args = ['-sf', file, '-i', '127.0.0.1', '-p', String(port), '-m', '1', '-nostdin', '-timeout', '40s', '-timeout_error'];
  const way = transport === 'tcp' ? ['-t', 't1'] : ['-t', 'u1'];
  const child = spawn('sipp', [...args, ...way, '-nd'], { cwd: folder });
  t.teardown(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  child.stdout.resume();
  const ended = once(child, 'exit').then(([code]) => ({ isWhole: code === 0, errors }));
  await isListening(child, port, transport);
  return { port, ended };
}

/** A port that UDP and TCP have free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The kernel lists what a process listens at. */
export async function isListening(child: ChildProcess, port: number, transport: TransportName): Promise<void> {
  const { readFileSync } = await import('node:fs');
  const table = transport === 'udp' ? '/proc/net/udp' : '/proc/net/tcp';
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  while (child.exitCode === null && !readFileSync(table, 'utf8').includes(wanted))
    await new Promise((done) => setTimeout(done, 10));
}
