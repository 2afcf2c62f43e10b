/** Receives NetFlow and IPFIX, and adds volumes up by minute, hour and day. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { listOf } from '../../../platform/config/setting.ts';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import { StartError } from '../../../platform/module/start-error.ts';
import { AddressList, canonicalAddress } from '../../../platform/network/address-list.ts';
import { Repeater } from '../../../platform/repeater.ts';
import type { SystemScope } from '../../../platform/storage/index.ts';
import { type Flow, FlowDecoder, type SavedTemplates } from './flow-decoder.ts';
import { type FlowKey, type FlowRow, type FlowStore, GRAINS, type Grain } from './flow-store.ts';

export interface FlowCollectorDeps {
  /** Addresses and ports, separated by commas; empty: none. */
  listen: string;
  /** Exporters that are heard. */
  exporters: string;
  dataDir: string;
  store: FlowStore;
  everyone(): SystemScope;
  log: Log;
  metrics: MetricsRegistry;
  now(): number;
}

interface Place {
  address: string;
  port: number;
}

const FLUSH_MS = 5_000;
const PURGE_MS = 3_600_000;
/** Each minute, hour and day has so many; what is beyond is added to `other`, so that sums stay whole. */
const MOST_KEYS: Readonly<Record<Grain, number>> = { minute: 1_000, hour: 3_000, day: 5_000 };
const OTHER = 'other';
/** Packets of a second; a flood may not hold up the node. */
const MOST_A_SECOND = 5_000;
const FILE = 'flow-templates.json';
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

export class FlowCollector {
  readonly #deps: FlowCollectorDeps;
  readonly #places: readonly Place[];
  readonly #exporters: AddressList;
  readonly #flushes: Repeater;
  readonly #metrics: ReturnType<typeof flowMetrics>;
  #decoder = new FlowDecoder();
  #sockets: Socket[] = [];
  /** Volumes that are not on the disk yet, by their key. */
  #pending = new Map<string, FlowRow>();
  /** Keys of the minutes, hours and days that are counted. */
  readonly #keys = new Map<string, Set<string>>();
  #savedText = '';
  #purgedAt = 0;
  #second = 0;
  #nInSecond = 0;
  #fault: string | undefined;
  #last: Promise<void> = Promise.resolve();
  #counted = { packets: 0, invalid: 0, lost: 0, flows: 0 };

  /** Throws StartError for settings that are none. */
  constructor(deps: FlowCollectorDeps) {
    this.#deps = deps;
    this.#places = listOf(deps.listen).map(placeOf);
    try {
      this.#exporters = new AddressList(listOf(deps.exporters));
    } catch (cause) {
      throw new StartError('invalid_setting', `logs.flows_from: ${(cause as Error).message}`, 'write addresses and networks');
    }
    const onError = (error: unknown): void =>
      deps.log.warn('volumes of flows could not be written, and are tried again', { error });
    this.#flushes = new Repeater({ intervalMs: FLUSH_MS, run: () => this.flush(), onError });
    this.#metrics = flowMetrics(deps.metrics, () => this.#decoder.nExporters);
  }

  get isOn(): boolean {
    return this.#places.length > 0;
  }

  /** It listens at these: ports that the system chose have their numbers. */
  get ports(): number[] {
    return this.#sockets.map((socket) => socket.address().port);
  }

  /** A port that cannot be bound is a reason of /health: lines are collected all the same. */
  async start(): Promise<void> {
    if (!this.isOn) return;
    this.#decoder = new FlowDecoder(await this.#templates());
    this.#counted = { ...this.#decoder.counts };
    for (const { address, port } of this.#places) {
      const socket = createSocket({ type: isIP(address) === 6 ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
      socket.on('message', (packet, { address: sender }) => this.#take(sender, packet));
      try {
        socket.bind(port, address);
        await once(socket, 'listening');
        this.#sockets.push(socket);
        socket.on('error', (error) => this.#deps.log.warn('a listener of flows has failed', { error }));
      } catch (error) {
        this.#fault = `${address}:${port} cannot be listened at: ${(error as Error).message}`;
        this.#deps.log.error('flows are not received', { fault: this.#fault });
      }
    }
    this.#flushes.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
    this.#sockets = [];
    this.#fault = undefined;
    await this.#flushes.stop();
    if (this.isOn) await this.flush().catch((error: unknown) => this.#deps.log.warn('volumes of flows are lost', { error }));
  }

  health(): HealthReason[] {
    return this.#fault === undefined ? [] : [{ code: 'flows_not_received', detail: `Flows are not received: ${this.#fault}.` }];
  }

  /** Writes what was added up since, one flush after the other. */
  flush(): Promise<void> {
    const done = this.#last.catch(() => undefined).then(() => this.#flush());
    this.#last = done;
    return done;
  }

  async #flush(): Promise<void> {
    const { store, everyone, now } = this.#deps;
    this.#decoder.expire(now());
    this.#count();
    const rows = [...this.#pending.values()];
    if (rows.length > 0) {
      this.#pending = new Map();
      try {
        await store.add(everyone(), rows);
      } catch (error) {
        for (const row of rows) this.#addRow(row);
        throw error;
      }
    }
    await this.#keepTemplates();
    if (now() - this.#purgedAt >= PURGE_MS) {
      this.#purgedAt = now();
      await store.purge(everyone(), now());
      for (const place of this.#keys.keys()) if (isOver(place, now())) this.#keys.delete(place);
    }
  }

  #take(sender: string, packet: Buffer): void {
    const now = this.#deps.now();
    const address = canonicalAddress(sender) ?? sender;
    const second = Math.floor(now / 1000);
    if (second !== this.#second) [this.#second, this.#nInSecond] = [second, 0];
    this.#nInSecond += 1;
    if (this.#nInSecond > MOST_A_SECOND) this.#metrics.dropped.with({ reason: 'flood' }).add();
    else if (!this.#exporters.has(address)) this.#metrics.dropped.with({ reason: 'sender' }).add();
    else {
      const flows = this.#decoder.decode(address, packet, now);
      const sampling = flows.length === 0 ? 0 : this.#decoder.samplingOf(address);
      for (const flow of flows) this.#add(address, sampling, flow);
    }
  }

  #add(exporter: string, sampling: number, { atMs, src, dst, proto, srcPort, dstPort, bytes, packets, flows }: Flow): void {
    const port = srcPort === 0 || dstPort === 0 ? Math.max(srcPort, dstPort) : Math.min(srcPort, dstPort);
    for (const grain of Object.keys(GRAINS) as Grain[]) {
      const at = Math.floor(atMs / GRAINS[grain]) * GRAINS[grain];
      const key = this.#bounded(grain, at, { exporter, src, dst, proto, port });
      this.#addRow({ grain, at, ...key, bytes, packets, flows, sampling });
    }
  }

  #bounded(grain: Grain, at: number, key: FlowKey): FlowKey {
    const place = `${grain} ${at}`;
    const keys = this.#keys.get(place) ?? new Set();
    this.#keys.set(place, keys);
    const text = textOf(key);
    if (!keys.has(text)) {
      if (keys.size >= MOST_KEYS[grain]) return { exporter: key.exporter, src: OTHER, dst: OTHER, proto: 0, port: 0 };
      keys.add(text);
    }
    return key;
  }

  #addRow(row: FlowRow): void {
    const key = `${row.grain} ${row.at} ${textOf(row)}`;
    const before = this.#pending.get(key);
    if (before === undefined) {
      this.#pending.set(key, { ...row });
      return;
    }
    const sum = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);
    before.bytes = sum(before.bytes, row.bytes);
    before.packets = sum(before.packets, row.packets);
    before.flows = sum(before.flows, row.flows);
    before.sampling = row.sampling;
  }

  #count(): void {
    const { counts } = this.#decoder;
    this.#metrics.packets.add(counts.packets - this.#counted.packets);
    this.#metrics.flows.add(counts.flows - this.#counted.flows);
    this.#metrics.dropped.with({ reason: 'invalid' }).add(counts.invalid - this.#counted.invalid);
    this.#metrics.dropped.with({ reason: 'no_template' }).add(counts.lost - this.#counted.lost);
    this.#counted = { ...counts };
  }

  get #file(): string {
    return join(this.#deps.dataDir, 'logs', FILE);
  }

  async #templates(): Promise<SavedTemplates> {
    try {
      this.#savedText = await readFile(this.#file, 'utf8');
      return JSON.parse(this.#savedText) as SavedTemplates;
    } catch {
      // Exporters send their templates again and again.
      return [];
    }
  }

  async #keepTemplates(): Promise<void> {
    const text = JSON.stringify(this.#decoder.saved);
    if (text === this.#savedText) return;
    await mkdir(join(this.#deps.dataDir, 'logs'), { recursive: true, mode: 0o750 });
    await writeFileAtomically(this.#file, text, 0o600);
    this.#savedText = text;
  }
}

function textOf({ exporter, src, dst, proto, port }: FlowKey): string {
  return `${exporter} ${src} ${dst} ${proto} ${port}`;
}

function isOver(place: string, nowMs: number): boolean {
  const [grain, at] = place.split(' ');
  return Number(at) + GRAINS[grain as Grain] < nowMs - 3 * GRAINS.hour;
}

function placeOf(text: string): Place {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  if (isIP(address) === 0 || Number(port) > 65_535)
    throw new StartError(
      'invalid_setting',
      `logs.flows_listen: ${JSON.stringify(text.slice(0, 100))} is no address with a port`,
      'write for example 0.0.0.0:2055, or [::]:2055',
    );
  return { address, port: Number(port) };
}

function flowMetrics(metrics: MetricsRegistry, nExporters: () => number) {
  const exporters = metrics.gauge('svc_flows_exporters', 'Exporters of flows that were heard.').with();
  metrics.onCollect(() => exporters.set(nExporters()));
  return {
    packets: metrics.counter('svc_flows_packets_total', 'Packets of NetFlow and IPFIX.').with(),
    flows: metrics.counter('svc_flows_received_total', 'Flows in them.').with(),
    dropped: metrics.counter(
      'svc_flows_dropped_total',
      'Packets of flows that were not counted, or parts of them: of strangers, too many, damaged, or without a template.',
      ['reason'],
    ),
  };
}
