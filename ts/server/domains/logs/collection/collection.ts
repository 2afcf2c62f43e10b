/** The collection of a node: its configuration, and the rsyslog that it is in force with or not. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { createSelfSigned } from '../../../platform/http/self-signed.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { logsError } from '../errors.ts';
import { type ClientCertificate, missingCanaries } from './canary.ts';
import { type CollectionConfig, KEY_IS_SET, requireUsable } from './collection-config.ts';
import { KeptCopies } from './kept-copies.ts';
import { rsyslogFile, type TlsPaths } from './rsyslog-file.ts';
import {
  ChildRunner,
  CONFIG_FILE,
  checkedByRsyslog,
  findRsyslog,
  type RsyslogRunner,
  rsyslogVersion,
  UnitRunner,
} from './rsyslog-runner.ts';

interface CollectionDeps {
  dataDir: string;
  runner: 'child' | 'unit';
  log: Log;
  metrics: MetricsRegistry;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

/** The file logs.json. Keys of TLS are sealed in both. */
interface Saved {
  config: CollectionConfig | undefined;
  applied: { at: string; config: CollectionConfig; canary: string } | undefined;
}

interface Reading {
  copy: string | null;
  copies: readonly string[];
  sources: CollectionConfig['sources'];
  /** Those that lines are taken from. */
  networks: readonly string[];
}

interface Applied {
  applied_at: string;
  listeners: number;
  restart_ms: number;
}

const LOGS_FILE = 'logs.json';
const SHORTEN_MS = 30_000;
/** Stands behind the name of a configuration that rsyslog is not to be started with for now. */
const PAUSED = '.paused';
const MOST_WORDS = 4_000;
const MOST_OWN_BYTES = 1_000_000;

export class Collection {
  readonly #deps: CollectionDeps;
  readonly #folder: string;
  readonly #runner: RsyslogRunner | undefined;
  readonly #program = findRsyslog();
  readonly #copies: KeptCopies;
  readonly #shortens: Repeater;
  #saved: Saved = { config: undefined, applied: undefined };
  #version: string | undefined;
  /** Applies and repairs run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: CollectionDeps) {
    this.#deps = deps;
    const { log, metrics } = deps;
    this.#folder = join(deps.dataDir, 'logs');
    const places = { folder: this.#folder, copies: () => this.#saved.applied?.config.copies ?? [] };
    if (deps.runner === 'unit') this.#runner = new UnitRunner(places);
    else if (this.#program !== undefined)
      this.#runner = new ChildRunner(this.#program, places, (code) => log.warn('rsyslog ended and is started again', { code }));
    const { now } = deps;
    this.#copies = new KeptCopies({
      log,
      metrics,
      now,
      serialise: (work) => this.#serialised(work),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    const onError = (error: unknown): void => log.warn('what rsyslog says of itself could not be shortened', { error });
    this.#shortens = new Repeater({ intervalMs: SHORTEN_MS, run: () => this.#shortenOwn(), onError });
  }

  async start(): Promise<void> {
    this.#saved = await this.#read();
    if (this.#program !== undefined) this.#version = await rsyslogVersion(this.#program);
    const { applied } = this.#saved;
    if (applied === undefined) return;
    this.#follow(applied.config);
    const file = join(this.#folder, CONFIG_FILE);
    // It was stopped while both copies were full, which is looked at again soon.
    await rename(`${file}${PAUSED}`, file).catch(() => undefined);
    await this.#runner?.restart().catch((error: unknown) => this.#deps.log.error('rsyslog did not start', { error }));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#copies.stop(), this.#shortens.stop()]);
    await this.#last.catch(() => undefined);
    await this.#runner?.stop();
  }

  /** Where lines are read and who sent them, as what is in force says it; undefined: nothing is. */
  get reading(): Reading | undefined {
    const { config } = this.#saved.applied ?? {};
    if (config === undefined) return undefined;
    const { copies, sources, allowed_networks: allowed } = config;
    return { copy: this.#copies.reading, copies, sources, networks: [...allowed, ...sources.map(({ network }) => network)] };
  }

  /** Undefined: nothing was configured. Keys are not shown. */
  get shown(): (CollectionConfig & { applied: boolean }) | undefined {
    const { config, applied } = this.#saved;
    return (
      config && { ...withKeys(config, () => KEY_IS_SET), applied: JSON.stringify(applied?.config) === JSON.stringify(config) }
    );
  }

  /** Saves it; what runs changes with apply(). Throws DomainError. */
  async configure(given: CollectionConfig): Promise<void> {
    await this.#serialised(async () => {
      const sealing = await this.#deps.sealingKey();
      const before = this.#saved.config;
      const known = (place: string): string | undefined => before?.listen.find((each) => placeOf(each) === place)?.tls?.key;
      const opened = withKeys(given, (key, place) => {
        const sealed = key === KEY_IS_SET ? known(place) : undefined;
        return sealed === undefined ? key : sealing.unseal(sealed, contextOf(place));
      });
      requireUsable(opened);
      const config = withKeys(opened, (key, place) => sealing.seal(key, contextOf(place)));
      await this.#save({ ...this.#saved, config });
    });
  }

  /** Puts the configuration into force, or leaves the one before in force. Throws DomainError. */
  apply(): Promise<Applied> {
    return this.#serialised(() => this.#apply());
  }

  /** Repairs packed hours, and closes those that are over. Returns how many files and lines were put back. */
  repair(): Promise<{ files: number; lines: number }> {
    return this.#serialised(async () => {
      if (this.#saved.applied === undefined) throw notConfigured();
      return await this.#copies.repair();
    });
  }

  async status() {
    const pid = this.#runner?.pid;
    return {
      reading: this.#copies.reading,
      in_step: this.#copies.isInStep,
      copies: await this.#copies.shown(),
      rsyslog: {
        state: this.#stateOf(pid),
        pid: pid ?? null,
        version: this.#version ?? null,
        stats: await this.#stats(),
      },
      applied_at: this.#saved.applied?.at ?? null,
    };
  }

  health(): HealthReason[] {
    if (this.#saved.config === undefined) return [];
    if (this.#program === undefined)
      return [{ code: 'rsyslog_missing', detail: 'Logs are to be collected, and rsyslog is not installed.' }];
    if (this.#saved.applied === undefined) return [];
    return this.#copies.health(this.#runner?.pid !== undefined);
  }

  #stateOf(pid: number | undefined): 'missing' | 'running' | 'stopped' {
    if (this.#program === undefined) return 'missing';
    return pid === undefined ? 'stopped' : 'running';
  }

  async #apply(): Promise<Applied> {
    const { config: sealed } = this.#saved;
    if (sealed === undefined) throw notConfigured();
    const [program, runner] = [this.#program, this.#runner];
    if (program === undefined || runner === undefined)
      throw logsError('rsyslog_missing', 'rsyslog is not installed on this node.');
    const sealing = await this.#deps.sealingKey();
    const config = withKeys(sealed, (key, place) => sealing.unseal(key, contextOf(place)));
    const token = `svc-canary-${randomBytes(12).toString('hex')}`;
    const file = join(this.#folder, CONFIG_FILE);
    const [next, previous] = [`${file}.next`, `${file}.previous`];
    const tls = join(this.#folder, `tls-${token.slice(-8)}`);
    await mkdir(this.#folder, { recursive: true, mode: 0o750 });
    await makeCopies(config.copies);
    const certificate = await this.#canaryCertificate(config, tls);
    const paths = await writeTls(config, tls, certificate?.cert);
    await writeFile(join(this.#folder, 'copies'), `${config.copies.join('\n')}\n`);
    await writeFile(next, rsyslogFile({ config, folder: this.#folder, canary: token, tls: paths }), { mode: 0o600 });
    const fault = await checkedByRsyslog(program, next);
    if (fault !== undefined) {
      await rm(next);
      await rm(tls, { recursive: true, force: true });
      throw refused(fault);
    }
    const hadOne = await rename(file, previous).then(
      () => true,
      () => false,
    );
    await rename(next, file);
    const startedAt = performance.now();
    const missing = await this.#runs(runner, { config, token, certificate });
    if (missing === undefined) {
      const at = new Date(this.#deps.now()).toISOString();
      await this.#save({ config: sealed, applied: { at, config: sealed, canary: token } });
      this.#follow(sealed);
      await rm(previous, { force: true });
      await this.#removeOldTls(tls);
      this.#deps.log.info('the configuration of rsyslog is in force', { listeners: config.listen.length });
      return { applied_at: at, listeners: config.listen.length, restart_ms: Math.round(performance.now() - startedAt) };
    }
    const said = [missing, runner.words(), await this.#ownWords()].join('\n').split('\n');
    const words = [...new Set(said)]
      .filter((line) => line !== '')
      .join('\n')
      .slice(0, MOST_WORDS);
    if (hadOne) {
      await rename(previous, file);
      await runner.restart();
      await this.#untilReceiving();
    } else {
      await rm(file, { force: true });
      await runner.end();
    }
    await rm(tls, { recursive: true, force: true });
    throw refused(words);
  }

  /** Waits for what was in force before; listeners that ask for certificates cannot be tried any more. */
  async #untilReceiving(): Promise<void> {
    const { config, canary } = this.#saved.applied ?? {};
    if (config === undefined || canary === undefined) return;
    const listeners = config.listen.filter(({ tls }) => tls?.ca === undefined);
    const fault = await missingCanaries({ listeners, copies: config.copies, token: canary, certificate: undefined });
    if (fault !== undefined) this.#deps.log.error('the configuration of before does not receive either', { fault });
  }

  /** Undefined: it was started, and lines arrive. */
  async #runs(
    runner: RsyslogRunner,
    { config, token, certificate }: { config: CollectionConfig; token: string; certificate: ClientCertificate | undefined },
  ): Promise<string | undefined> {
    try {
      await rm(join(this.#folder, 'own'), { force: true });
      await runner.restart();
      return await missingCanaries({ listeners: config.listen, copies: config.copies, token, certificate });
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Listeners that ask for certificates trust one of the service's own as well, whose key is forgotten after the canaries. */
  async #canaryCertificate({ listen }: CollectionConfig, tls: string): Promise<ClientCertificate | undefined> {
    if (listen.every((listener) => listener.tls?.ca === undefined)) return undefined;
    const folder = join(tls, 'canary');
    const files = await createSelfSigned({ folder, names: ['svc-canary'], isForClients: true, days: 2 });
    const certificate = { cert: await readFile(files.certFile, 'utf8'), key: await readFile(files.keyFile, 'utf8') };
    await rm(folder, { recursive: true });
    return certificate;
  }

  async #removeOldTls(current: string): Promise<void> {
    for (const name of await readdir(this.#folder))
      if (name.startsWith('tls-') && join(this.#folder, name) !== current)
        await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  #follow(config: CollectionConfig): void {
    this.#copies.follow(config);
    this.#shortens.start();
  }

  async #pause(): Promise<void> {
    const file = join(this.#folder, CONFIG_FILE);
    await rename(file, `${file}${PAUSED}`);
    await this.#runner?.end();
  }

  async #resume(): Promise<void> {
    const file = join(this.#folder, CONFIG_FILE);
    await rename(`${file}${PAUSED}`, file);
    await this.#runner?.restart();
  }

  async #shortenOwn(): Promise<void> {
    await this.#shorten('own');
    await this.#shorten('stats');
  }

  /** Cuts a file that rsyslog writes without a bound: it opens these files for appending, so that they may be cut under it. */
  async #shorten(name: string): Promise<void> {
    const path = join(this.#folder, name);
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size > MOST_OWN_BYTES) await writeFile(path, (await readFile(path)).subarray(-MOST_OWN_BYTES / 10));
  }

  async #ownWords(): Promise<string> {
    return (await readFile(join(this.#folder, 'own'), 'utf8').catch(() => '')).slice(0, MOST_WORDS).trim();
  }

  /** The last figures of each part of rsyslog; a date stands before each object. */
  async #stats(): Promise<Record<string, unknown>> {
    const text = await readFile(join(this.#folder, 'stats'), 'utf8').catch(() => '');
    const parts: Record<string, unknown> = {};
    for (const line of text.slice(-64 * 1024).split('\n')) {
      const json = /^[^{]*(\{.*\})$/.exec(line)?.[1];
      if (json === undefined) continue;
      const { name, ...figures } = JSON.parse(json) as { name: string };
      parts[name] = figures;
    }
    return parts;
  }

  async #read(): Promise<Saved> {
    const text = await readFile(join(this.#deps.dataDir, LOGS_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    const { config, applied } = JSON.parse(text) as Saved;
    return { config, applied };
  }

  async #save(saved: Saved): Promise<void> {
    await writeFileAtomically(join(this.#deps.dataDir, LOGS_FILE), `${JSON.stringify(saved, undefined, 2)}\n`, 0o600);
    this.#saved = saved;
  }

  #serialised<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => undefined).then(work);
    this.#last = done;
    return done;
  }
}

function notConfigured(): Error {
  return logsError('rsyslog_not_configured', 'No collection was configured on this node.');
}

function refused(words: string): Error {
  return logsError('rsyslog_config_invalid', `The configuration is not in force: ${words.slice(0, 500)}`, {
    extra: { rsyslog: words },
  });
}

function placeOf({ protocol, address, port }: CollectionConfig['listen'][number]): string {
  return `${protocol} ${address} ${port}`;
}

function contextOf(place: string): string {
  return `logs listener ${place}`;
}

/** The same configuration with other texts in place of its private keys. */
function withKeys(config: CollectionConfig, change: (key: string, place: string) => string): CollectionConfig {
  const listen = config.listen.map((listener) =>
    listener.tls === undefined
      ? listener
      : { ...listener, tls: { ...listener.tls, key: change(listener.tls.key, placeOf(listener)) } },
  );
  return { ...config, listen };
}

/** Folders whose parents are there are made; one that cannot be used refuses the configuration. */
async function makeCopies(copies: readonly string[]): Promise<void> {
  for (const copy of copies)
    await mkdir(copy, { mode: 0o750 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw refused(`The folder ${copy} cannot be made: ${error.message}`);
    });
}

async function writeTls(
  { listen }: CollectionConfig,
  folder: string,
  canary: string | undefined,
): Promise<(TlsPaths | undefined)[]> {
  const paths: (TlsPaths | undefined)[] = [];
  for (const [i, { tls }] of listen.entries()) {
    if (tls === undefined) {
      paths.push(undefined);
      continue;
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const [cert, key, ca] = [join(folder, `${i}.cert`), join(folder, `${i}.key`), join(folder, `${i}.ca`)];
    await writeFile(cert, tls.cert, { mode: 0o600 });
    await writeFile(key, tls.key, { mode: 0o600 });
    if (tls.ca !== undefined) await writeFile(ca, `${tls.ca.trimEnd()}\n${canary ?? ''}`, { mode: 0o600 });
    paths.push({ cert, key, ca: tls.ca === undefined ? undefined : ca });
  }
  return paths;
}
