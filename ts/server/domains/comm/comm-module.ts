/** Wires the comm module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { files } from '../files/index.ts';
import { identity } from '../identity/index.ts';
import { license } from '../license/index.ts';
import { media, Resampler, SPEECH_RATE } from '../media/index.ts';
import { security } from '../security/index.ts';
import { AttachedFiles } from './attached-files.ts';
import { CallStore } from './calls/call-store.ts';
import { Calls } from './calls/calls.ts';
import { CALL_RATE } from './calls/rtp-session.ts';
import type { Sound } from './calls/wav.ts';
import { CommStore } from './comm-store.ts';
import { Delivery } from './delivery.ts';
import { commError } from './errors.ts';
import { messageNotSent } from './events.ts';
import { commRoutes } from './routes.ts';
import { CommService } from './service.ts';
import type { commSettings } from './settings.ts';
import type { CommStorage, MessageRow } from './tables.ts';
import { CommTools } from './tools.ts';

const HOUR_MS = 3_600_000;

export function createComm(context: ModuleContext<typeof commSettings>): Module<undefined> {
  const { settings, node, log, metrics, jobs, events } = context;
  const { recordAct, sealingKey } = context.use(identity);
  const storage: CommStorage = context.storage.access();
  const store = new CommStore(storage);
  const now = (): number => Date.now();
  const nodeId = (): string => node.id;
  const allowed = allowedHostsOf('comm.allowed_hosts', settings['comm.allowed_hosts'], 'mail.lan:587 or http://10.0.0.5');
  const policy = new AddressPolicy({
    trusted: [],
    allowed,
    refusal: (sentence) => commError('unsafe_address', `${sentence}.`),
  });
  const http = new HttpClient({ policy, connections: 8 });
  const messages = metrics.counter('svc_comm_messages_total', 'Messages by channel and by what became of them.', [
    'channel',
    'state',
  ]);
  const storedFiles = context.useOptional(files);
  const attached = new AttachedFiles(() => storedFiles.api, now);
  const tellUnsent = async ({ tenant, id, account, state, reason }: MessageRow): Promise<void> => {
    if (state !== 'failed' && state !== 'outcome_unknown') return;
    await events.send(tenantScope(tenant), messageNotSent, { message_id: id, account_id: account, state, reason: reason ?? '' });
  };
  const delivery = new Delivery({
    store,
    files: attached,
    jobs,
    http,
    policy,
    sealingKey,
    nodeId,
    timeoutMs: settings['comm.timeout_seconds'] * 1000,
    log,
    now,
    onEnd: (account, message) => {
      messages.with({ channel: account?.kind ?? 'removed', state: message.state }).add();
      tellUnsent(message).catch((error: unknown) =>
        log.warn('an event of a message could not be recorded', { error: String(error) }),
      );
    },
  });
  const service = new CommService({
    store,
    files: attached,
    delivery,
    license: context.use(license),
    sealingKey,
    nodeId,
    now,
    check: (url) => policy.check(url),
  });
  const ends = metrics.counter('svc_comm_calls_total', 'Calls by channel and by how they ended.', ['channel', 'end']);
  const voices = context.useOptional(media);
  const calls = new Calls({
    store: new CallStore(storage),
    service,
    files: attached,
    speak: async (caller, text, voice = '') =>
      resample({ rate: SPEECH_RATE, samples: await voices.api.speak(caller, text, voice) }, CALL_RATE),
    transcribe: async (caller, wav, signal) => await voices.api.transcribe(caller, wav, signal),
    resample,
    sealingKey,
    policy,
    nodeId,
    maxSeconds: settings['comm.call_max_seconds'],
    timeoutMs: settings['comm.timeout_seconds'] * 1000,
    log,
    now,
    onEnd: (channel, end) => ends.with({ channel, end }).add(),
  });
  const tools = new CommTools(service, calls);
  const keptSince = (): number => now() - settings['comm.keep_days'] * 24 * HOUR_MS;
  const upkeep = new Repeater({
    intervalMs: HOUR_MS,
    run: () => store.removeBefore(keptSince()),
    onError: (error) => log.warn('old records of messages could not be removed', { error: String(error) }),
  });
  return {
    api: undefined,
    routes: commRoutes({ service, calls, security: context.use(security), recordAct }),
    toolsFor: (caller) => tools.of(caller),
    belongings: store,
    start: async () => {
      await calls.begin();
      delivery.start();
      upkeep.start();
    },
    stop: async () => {
      await Promise.all([calls.stop(), delivery.stop(), upkeep.stop()]);
      await http.close();
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

function resample({ rate, samples }: Sound, to: number): Int16Array {
  if (rate === to) return samples;
  const resampler = new Resampler(rate, to);
  const parts = [resampler.push(samples), resampler.end()];
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  whole.set(parts[0] ?? []);
  whole.set(parts[1] ?? [], parts[0]?.length ?? 0);
  return whole;
}
