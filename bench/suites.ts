import type { ServerSettings } from './contenders/contender.ts';
import type { ModelPurpose } from './model.ts';
import type { Trial } from './trial.ts';
import { agentTrials } from './trials/agents.ts';
import { cloudTrials } from './trials/cloud.ts';
import { embeddingTrials } from './trials/embeddings.ts';
import { gpuTrials } from './trials/gpu.ts';
import { httpTrials } from './trials/http.ts';
import { ingestTrials } from './trials/ingest.ts';
import { iotTrials } from './trials/iot.ts';
import { kernelTrials } from './trials/kernels.ts';
import { loadTrials } from './trials/load.ts';
import { logTrials } from './trials/logs.ts';
import { matrixTrials } from './trials/matrix.ts';
import { mediaTrials } from './trials/media.ts';
import { servingTrials } from './trials/serving.ts';
import { vectorTrials } from './trials/vector.ts';

export interface Suite {
  /** What it answers, for the help. */
  question: string;
  trials: readonly Trial[];
  /** Model when --model is not given. */
  model: string;
  /** What a random model of a named shape is for; `chat` unless told. */
  purpose?: ModelPurpose;
  /** What the servers are started with unless a trial says otherwise. */
  server: Omit<ServerSettings, 'nThreads'>;
}

export const suites: Readonly<Record<string, Suite>> = {
  http: {
    question: 'what the platform adds to a request, beside a bare uWebSockets.js handler',
    trials: httpTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 4_096 },
  },
  serving: {
    question: 'the serving loop in sixteen situations, beside llama-server',
    trials: servingTrials,
    model: 'mid',
    server: { nParallel: 32, nCtx: 32_768 },
  },
  gpu: {
    question: 'an NVIDIA GPU: kernels and the serving loop, beside llama-server with CUDA; builds both and writes the summary',
    trials: gpuTrials,
    model: 'b1',
    server: { nParallel: 32, nCtx: 32_768 },
  },
  matrix: {
    question: 'serving in short; `serving --machine-matrix` runs it on each machine that can be emulated here',
    trials: matrixTrials,
    model: 'mid',
    server: { nParallel: 32, nCtx: 32_768 },
  },
  kernels: {
    question: 'prefill and decoding by the engine alone, beside llama-batched-bench',
    trials: kernelTrials,
    model: 'mid',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  embeddings: {
    question: 'texts a second, beside llama-server --embeddings',
    trials: embeddingTrials,
    model: 'mid',
    purpose: 'embedding',
    // 512 for each sequence: the longest text of the embedding model.
    server: { nParallel: 32, nCtx: 16_384 },
  },
  vector: {
    question:
      'finding the nearest vectors, beside usearch, hnswlib-node, sqlite-vec and a scan; --trial million is left out unless named',
    trials: vectorTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  ingest: {
    question: 'files a second into a knowledge base that is asked meanwhile, beside a splitter and a flat scan by hand',
    trials: ingestTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  cloud: {
    question:
      'what this server adds to answers of providers, beside a bare uWebSockets.js proxy that parses each frame, and beside LiteLLM',
    trials: cloudTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  agents: {
    question: 'what a round of tools adds to a chat, and a call over MCP beside a bare server of the library',
    trials: agentTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  iot: {
    question: 'what a thousand devices take, beside a bare client, and what they leave of a chat',
    trials: iotTrials,
    model: 'mid',
    server: { nParallel: 4, nCtx: 8_192 },
  },
  logs: {
    question:
      'log lines collected, indexed and found, beside rsyslog alone, zstdgrep, SQLite FTS5 and chdb; --trial ten-million and twenty-million are left out unless named',
    trials: logTrials,
    model: 'tiny',
    server: { nParallel: 1, nCtx: 1_024 },
  },
  media: {
    question:
      'recordings that become text, beside whisper-server, and beside chats; --trial memory-long is left out unless named',
    trials: mediaTrials,
    model: 'mid',
    server: { nParallel: 4, nCtx: 8_192 },
  },
  load: {
    question: 'the time until a model answers, beside llama-server and its router',
    trials: loadTrials,
    model: 'mid',
    server: { nParallel: 4, nCtx: 8_192 },
  },
};
