/** The system's `ssh`, which brings bytes to an SFTP server: its ciphers, its keys and its list of known hosts. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { backupError } from '../../errors.ts';
import type { SftpLocation } from '../location.ts';

export interface SshOptions {
  readonly location: SftpLocation;
  /** What the host's name was resolved to, and judged. */
  readonly address: string;
  readonly keyFile: string;
  readonly knownHostsFile: string;
  /** The program; absent: the one in the path. */
  readonly program?: string;
}

export type SshProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const LONGEST_COMPLAINT = 2000;

/** Everything that the user's own configuration could change is said here. Throws `credentials_needed`. */
export function startSsh({ location, address, keyFile, knownHostsFile, program = 'ssh' }: SshOptions): SshProcess {
  if (keyFile === '' || knownHostsFile === '')
    throw backupError(
      'credentials_needed',
      'An SFTP destination needs a private key, and the keys that its host is known by.',
      'Set backup.ssh_key_file, and backup.ssh_known_hosts_file to what `ssh-keyscan HOST` wrote and you have compared.',
    );
  const { user, host, port } = location;
  const options = {
    BatchMode: 'yes',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PreferredAuthentications: 'publickey',
    IdentityFile: quoted(keyFile),
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: quoted(knownHostsFile),
    GlobalKnownHostsFile: 'none',
    UpdateHostKeys: 'no',
    // The connection goes to the address that was judged, and the key is that of the name.
    HostKeyAlias: port === 22 ? host : `[${host}]:${port}`,
    CheckHostIP: 'no',
    CanonicalizeHostname: 'no',
    ProxyCommand: 'none',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    PermitLocalCommand: 'no',
    RequestTTY: 'no',
    Compression: 'no',
    EscapeChar: 'none',
    ConnectTimeout: '15',
    ConnectionAttempts: '1',
    ServerAliveInterval: '15',
    ServerAliveCountMax: '3',
    LogLevel: 'ERROR',
  };
  const args = ['-F', 'none', '-T', '-p', String(port), '-l', user];
  for (const [name, value] of Object.entries(options)) args.push('-o', `${name}=${value}`);
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' };
  return spawn(program, [...args, '-s', '--', address, 'sftp'], { stdio: ['pipe', 'pipe', 'pipe'], env });
}

/** The last words of the program, which say why there is no connection. It quotes no key. */
export function complaintOf(process: SshProcess): () => string {
  let said = '';
  process.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-LONGEST_COMPLAINT);
  });
  return () => said.replaceAll(/\p{Cc}+/gu, ' ').trim();
}

/** ssh splits such a value at blanks and replaces what follows a percent sign. */
function quoted(path: string): string {
  if (!/["\\\n]/.test(path)) return `"${path.replaceAll('%', '%%')}"`;
  throw backupError(
    'credentials_needed',
    'The name of a key file has a quotation mark, a backslash or a line end in it.',
    'Rename it.',
  );
}
