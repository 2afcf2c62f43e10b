/** The serving loop, beside llama-server with the same model file, threads, slots and context. */
import type { Trial } from '../trial.ts';
import { conversations, kvFull, sharedPrefix } from './serving/caching.ts';
import { aborts, idleStreams, largeBodies, longStreams } from './serving/connections.ts';
import { overload, prefillStall, shortBehindLong } from './serving/scheduling.ts';
import { modelSwitch, tenants } from './serving/sharing.ts';
import { contention, speculation, streams, structured } from './serving/throughput.ts';

export const servingTrials: readonly Trial[] = [
  sharedPrefix,
  streams,
  prefillStall,
  overload,
  conversations,
  kvFull,
  shortBehindLong,
  modelSwitch,
  structured,
  aborts,
  idleStreams,
  tenants,
  longStreams,
  largeBodies,
  contention,
  speculation,
];
