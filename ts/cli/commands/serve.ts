import { namedModelFile } from '../../server/domains/inference/index.ts';
import { modelNameOfFile } from '../../server/domains/inference/library/index.ts';
import type { HeadStart } from '../../server/main.ts';
import { formatListenAddress, parseListenAddress } from '../../server/platform/config/listen-address.ts';
import { SpareThreads, type StartedThreads } from '../../server/platform/storage/index.ts';
import { VERSION } from '../../server/product.ts';
import type { NodeConfig } from '../../server/settings.ts';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';
import { inferenceValues, openLibrary, readConfig } from '../configuration.ts';
import { printable } from '../format.ts';
import { announcement } from '../serve-announcement.ts';
import { overridesOf, serveOptions } from './serve-options.ts';

export const serve = command({
  words: ['serve'],
  summary: 'Run the server',
  options: serveOptions,
  examples: [
    'svc serve',
    'svc serve --listen 127.0.0.1:9000 --model model.gguf --parallel 8 --ctx 32768 --threads 4',
    'svc serve --public-listen 0.0.0.0:8443',
  ],
  async run(invocation) {
    const { options, terminal } = invocation;
    const listen = parseListenAddress(readConfig(invocation).values.listen);
    const config = readConfig(invocation, overridesOf(options, listen));
    const headStart = beginStart(config, invocation.startedThreads);
    await checkModelFile(config);
    // Loaded here: the other commands start without the server's modules.
    const { RESTART, runServer } = await import('../../server/run.ts');
    const stopped = new AbortController();
    const code = await runServer(
      config,
      ({ internal }, server) => {
        const url = `http://${formatListenAddress(reachable(internal))}`;
        terminal.note(`svc ${VERSION} listens at ${url}; the default model is being loaded`);
        void server.ready().then(async () => {
          // A node that is told to stop meanwhile, or is too busy to answer, announces nothing.
          const found = await announcement(url, stopped.signal).catch(() => undefined);
          if (found === undefined) return;
          const { text, ...record } = found;
          terminal.result(record, text);
        });
      },
      headStart,
    );
    // Its own question may wait where nobody accepts connections any more: with sockets that are inherited, for the next process.
    stopped.abort();
    if (code === RESTART) {
      terminal.note('the next start of svc serve finishes a restore; a service manager starts it by itself');
      return 'restart';
    }
    return code === 0 ? 'ok' : 'failed';
  },
});

/** The writer of a SQLite database loads its code while the server's is loaded. */
function beginStart({ values }: NodeConfig, started: StartedThreads = {}): HeadStart {
  const url = values['database.url'];
  if (url === '' || url.startsWith('sqlite:')) return { spareThreads: SpareThreads.start(started) };
  void started.writer?.terminate();
  return {};
}

/** A model file that was named must be there and sound; later it would only be a line in the log. */
async function checkModelFile(config: NodeConfig): Promise<void> {
  const [file] = namedModelFile(inferenceValues(config));
  if (file === undefined) return;
  const entry = await openLibrary(config).get(modelNameOfFile(file));
  if (entry.problem === undefined) return;
  const isMissing = entry.sizeBytes === 0;
  throw new CliError(
    isMissing ? 'not_found' : 'verification_failed',
    isMissing ? 'not_found' : 'not_a_model',
    printable(entry.problem),
    'name a sound GGUF file with --model',
  );
}

/** Every address of the machine is reached at its own. */
function reachable({ host, port }: { host: string; port: number }): { host: string; port: number } {
  const own: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: own[host] ?? host, port };
}
