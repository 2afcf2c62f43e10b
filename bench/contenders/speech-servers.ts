/** Servers that hear: ours, and whisper-server of the same source and ggml. */
import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tinyShape, writeScriptedSpeechModel } from '../../models/random/speech-model.ts';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { SPEECH_MODELS, type SpeechJob, type SpeechSide } from '../media/speech-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { launch } from './launch.ts';
import { rivalProgram } from './rival-program.ts';

const program = join(import.meta.dirname, '../media/main.ts');
const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');
/** Words of each of two lines in half a minute: a few, so that a window takes little time. */
const WORDS = 12;

export const svcSpeech = contender('svc-speech', 'svc', async ({ model, nThreads, nParallel, nCtx }, folder) => {
  const models = join(folder, 'models');
  mkdirSync(models);
  for (const name of Object.values(SPEECH_MODELS)) linkSync(await speechModel(name), join(models, `${name}.bin`));
  const port = await freePort();
  return await ChildServer.start({
    ...launch(process.execPath, [cli, 'serve']),
    env: {
      ...process.env,
      SVC_LISTEN: `127.0.0.1:${port}`,
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_MODELS_DIR: models,
      SVC_MODELS_SHIPPED: 'false',
      SVC_DEFAULT_MODEL: model,
      SVC_INFERENCE_THREADS: String(nThreads),
      SVC_INFERENCE_PARALLEL: String(nParallel),
      SVC_INFERENCE_CTX: String(nCtx),
    },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/readyz',
    readyWithinMs: 180_000,
  });
});

/** With the beams of whisper-cli, which ours has too: its own default is the greedy search, which hears worse. */
export const whisperServer = contender('whisper-server', 'whisper-server', async ({ nThreads }) => {
  const port = await freePort();
  const named = { host: '127.0.0.1', port, threads: nThreads, model: await speechModel(SPEECH_MODELS.speed) };
  const flags = Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return await ChildServer.start({
    ...launch(rivalProgram('whisper-server'), [...flags, '--beam-size', '5', '--best-of', '5']),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/health',
    readyWithinMs: 180_000,
  });
});

function contender(
  name: string,
  side: SpeechSide,
  startServer: (options: ContenderOptions, folder: string) => Promise<ChildServer>,
): Contender {
  return {
    name,
    async start(options) {
      const folder = mkdtempSync(join(tmpdir(), 'svc-bench-speech-'));
      const clear = () => rmSync(folder, { recursive: true, force: true });
      const server = await startServer(options, folder).catch((error: unknown) => {
        clear();
        throw error;
      });
      return {
        async measure(load, seed) {
          // Behind a long file the rival answers when it has heard all of that: it does one thing at a time.
          if (load.kind !== 'speech' || (side !== 'svc' && load.task !== 'files')) return undefined;
          const job: SpeechJob = { side, url: server.url, pid: server.pid, load, seed };
          return JSON.parse(await runProgram(process.execPath, [program, JSON.stringify(job)])) as Sample;
        },
        async stop() {
          await server.stop('SIGTERM', 2_000);
          clear();
        },
      };
    },
  };
}

/** In the cache, made on first use. */
async function speechModel(name: string): Promise<string> {
  const folder = join(cacheFolder(), 'bench');
  const path = join(folder, `${name}-2.bin`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const words = (line: number) => Array.from({ length: WORDS }, (_, i) => ` word${line * WORDS + i}`);
  const says = [0, ...words(0), 14, 14, ...words(1), 28];
  await writeScriptedSpeechModel(path, { says, ...(name === SPEECH_MODELS.speed && { shape: tinyShape }) });
  return path;
}
