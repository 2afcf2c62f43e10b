/** One open connection to an SFTP server: requests go out at once, and each answer finds its own. */
import type { DomainError } from '../../../../platform/errors/domain-error.ts';
import { backupError } from '../../errors.ts';
import {
  type Attributes,
  type Field,
  openFlags,
  type PacketBody,
  PacketReader,
  packet,
  request,
  response,
  status,
} from './sftp-packets.ts';
import { complaintOf, type SshProcess } from './ssh-process.ts';

/** What servers take and give in one packet. */
const BLOCK = 32 * 1024;
/** Of one file, under way at once. */
const WINDOW = 24;
const MOST_ENTRIES = 5_000_000;

interface SftpEntry extends Attributes {
  readonly name: string;
}

export class SftpSession {
  readonly #process: SshProcess;
  readonly #idleMs: number;
  readonly #complaint: () => string;
  readonly #reader = new PacketReader();
  readonly #waiting = new Map<number, { resolve(body: PacketBody): void; reject(error: Error): void }>();
  readonly #extensions = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #failure: Error | undefined;

  /** Throws `destination_unusable` with what ssh says. */
  static async open(process: SshProcess, idleMs = 60_000): Promise<SftpSession> {
    const session = new SftpSession(process, idleMs);
    try {
      await session.#handshake();
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  private constructor(process: SshProcess, idleMs: number) {
    this.#process = process;
    this.#idleMs = idleMs;
    this.#complaint = complaintOf(process);
    process.stdin.on('error', () => undefined);
    process.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(error.code === 'ENOENT' ? 'the program ssh is not installed' : error.message),
    );
    process.on('close', (code) => this.#fail(this.#complaint() || `the connection ended (${code ?? 'killed'})`));
    process.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Undefined: it is not there. Throws RangeError for more than `maxBytes`. */
  async readFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const handle = await this.#open(path, openFlags.read);
    if (handle === undefined) return undefined;
    try {
      const { sizeBytes = 0, kind } = await this.#attributes(handle);
      if (kind !== 'file' || sizeBytes > maxBytes) throw new RangeError('no plain file, or too large for one of a backup');
      const bytes = Buffer.alloc(sizeBytes);
      await inWindow(blocks(sizeBytes), ({ from, to }) => this.#readBlock(handle, bytes, from, to));
      return bytes;
    } finally {
      await this.#close(handle);
    }
  }

  /** The file is new, and on the disk when this resolves, where the server can say so. */
  async writeFile(path: string, bytes: Uint8Array): Promise<void> {
    const handle = await this.#open(path, openFlags.write | openFlags.create | openFlags.exclusive);
    if (handle === undefined) throw refusal('there is no such folder');
    try {
      await inWindow(blocks(bytes.length), async ({ from, to }) =>
        expectOk(await this.#ask(request.write, handle, { long: from }, bytes.subarray(from, to))),
      );
      if (this.#extensions.has('fsync@openssh.com')) expectOk(await this.#ask(request.extended, 'fsync@openssh.com', handle));
    } finally {
      await this.#close(handle);
    }
  }

  /** In the place of a file that is there. Without OpenSSH's extension there is a moment in which neither is. */
  async rename(from: string, to: string): Promise<void> {
    if (this.#extensions.has('posix-rename@openssh.com')) {
      expectOk(await this.#ask(request.extended, 'posix-rename@openssh.com', from, to));
      return;
    }
    await this.remove(to);
    expectOk(await this.#ask(request.rename, from, to));
  }

  /** Whether it is there; its times are then those given, Unix milliseconds. */
  async touch(path: string, now: number): Promise<boolean> {
    const seconds = Math.floor(now / 1000);
    return isThere(await this.#ask(request.setstat, path, 8, seconds, seconds));
  }

  async remove(path: string): Promise<void> {
    isThere(await this.#ask(request.remove, path));
  }

  /** One that is there already is no fault; `list` or the next use tells other reasons. */
  async makeFolder(path: string): Promise<void> {
    await this.#ask(request.mkdir, path, 4, 0o700);
  }

  /** Undefined: there is no such folder. */
  async list(path: string): Promise<SftpEntry[] | undefined> {
    const opened = await this.#ask(request.opendir, path);
    if (opened.type !== response.handle) return isThere(opened) ? [] : undefined;
    const handle = opened.bytes();
    const entries: SftpEntry[] = [];
    try {
      for (;;) {
        const body = await this.#ask(request.readdir, handle);
        if (body.type !== response.name) {
          const code = body.number();
          if (code === status.eof) return entries;
          throw refusal(sentenceOf(code, body));
        }
        for (let n = body.number(); n > 0; n -= 1) {
          const name = body.text();
          body.bytes();
          entries.push({ name, ...body.attributes() });
        }
        if (entries.length > MOST_ENTRIES) throw refusal('a folder has more files than any of a backup');
      }
    } finally {
      await this.#close(handle);
    }
  }

  close(): void {
    this.#fail('the connection was closed');
    this.#process.stdin.end();
    this.#process.kill();
  }

  async #handshake(): Promise<void> {
    const answer = this.#expect(0);
    this.#process.stdin.write(packet(request.init, 3));
    const body = await answer;
    if (body.type !== response.version || body.number() < 3) throw refusal('it speaks no SFTP of version 3');
    while (!body.isAtEnd) this.#extensions.set(body.text(), body.text());
  }

  async #open(path: string, flags: number): Promise<Buffer | undefined> {
    const body = await this.#ask(request.open, path, flags, ...(flags === openFlags.read ? [0] : [4, 0o600]));
    if (body.type === response.handle) return body.bytes();
    isThere(body);
    return undefined;
  }

  async #attributes(handle: Buffer): Promise<Attributes> {
    const body = await this.#ask(request.fstat, handle);
    if (body.type !== response.attributes) throw refusal(sentenceOf(body.number(), body));
    return body.attributes();
  }

  /** A server may give less than was asked for. */
  async #readBlock(handle: Buffer, into: Buffer, from: number, to: number): Promise<void> {
    for (let at = from; at < to; ) {
      const body = await this.#ask(request.read, handle, { long: at }, to - at);
      if (body.type !== response.data) throw refusal(sentenceOf(body.number(), body));
      const bytes = body.bytes();
      if (bytes.length === 0 || bytes.length > to - at) throw refusal('it gives other bytes than were asked for');
      bytes.copy(into, at);
      at += bytes.length;
    }
  }

  /** What was read or written is known already; a handle that cannot be closed ends with the connection. */
  async #close(handle: Buffer): Promise<void> {
    await this.#ask(request.close, handle).catch(() => undefined);
  }

  async #ask(type: number, ...fields: readonly Field[]): Promise<PacketBody> {
    const id = this.#nextId;
    this.#nextId = (this.#nextId + 1) % 2 ** 32 || 1;
    const answer = this.#expect(id);
    this.#process.stdin.write(packet(type, id, ...fields));
    return await answer;
  }

  #expect(id: number): Promise<PacketBody> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#waiting.set(id, { resolve, reject });
      this.#timer ??= this.#newTimer();
    });
  }

  #newTimer(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#fail(`no answer for ${this.#idleMs / 1000} s`);
      this.#process.kill();
    }, this.#idleMs);
  }

  #receive(chunk: Buffer): void {
    clearTimeout(this.#timer);
    try {
      for (const body of this.#reader.feed(chunk)) {
        const id = body.type === response.version ? 0 : body.number();
        const waiting = this.#waiting.get(id);
        if (waiting === undefined) throw new RangeError('an answer that nobody waits for');
        this.#waiting.delete(id);
        waiting.resolve(body);
      }
    } catch (error) {
      this.#fail(`it speaks no SFTP (${(error as Error).message})`);
      this.#process.kill();
    }
    this.#timer = this.#waiting.size > 0 ? this.#newTimer() : undefined;
  }

  #fail(reason: string): void {
    this.#failure ??= refusal(reason);
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

/** False: there is no such file. Throws for every other refusal. */
function isThere(body: PacketBody): boolean {
  if (body.type !== response.status) throw refusal('it gives another answer than was asked for');
  const code = body.number();
  if (code === status.ok) return true;
  if (code === status.noSuchFile) return false;
  throw refusal(sentenceOf(code, body));
}

function expectOk(body: PacketBody): void {
  if (!isThere(body)) throw refusal('there is no such file or folder');
}

function sentenceOf(code: number, body: PacketBody): string {
  if (code === status.permissionDenied) return 'it permits that to nobody with this key';
  const said = body.isAtEnd
    ? ''
    : body
        .text()
        .slice(0, 100)
        .replaceAll(/[^\w .,-]/g, ' ');
  return `it answers ${code} ${said}`.trim();
}

function refusal(reason: string): DomainError {
  const remedy =
    'Look at the folder of the destination, the key in backup.ssh_key_file, and the host key in backup.ssh_known_hosts_file.';
  return backupError('destination_unusable', `The SFTP server does not work: ${reason}.`, remedy);
}

function* blocks(sizeBytes: number): Generator<{ from: number; to: number }> {
  for (let from = 0; from < sizeBytes; from += BLOCK) yield { from, to: Math.min(sizeBytes, from + BLOCK) };
}

/** Some at once; rejects with the first failure, when none is under way any more. */
async function inWindow<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await run(next.value);
  };
  const ended = await Promise.allSettled(Array.from({ length: WINDOW }, worker));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
