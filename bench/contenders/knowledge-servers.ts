/** A server with the models that ship, and a client that adds files to it: by `svc kb add`, or by hand with its embeddings alone. */
import { join } from 'node:path';
import { startModelServer } from '../../models/eval/model-server.ts';
import type { IngestJob } from '../ingest/ingest-load.ts';
import { measureQuotes } from '../ingest/quotes.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender } from './contender.ts';

const program = join(import.meta.dirname, '../ingest/main.ts');

export const svcIngest = knowledgeServer('svc-ingest', 'svc');
export const ingestByHand = knowledgeServer('ingest-by-hand', 'by-hand');

function knowledgeServer(name: string, side: IngestJob['side']): Contender {
  return {
    name,
    async start() {
      const server = await startModelServer();
      return {
        measure: async (load, seed) => {
          if (load.kind === 'quotes' && side === 'svc') return await measureQuotes(server, load, seed);
          if (load.kind !== 'ingest') return undefined;
          const job: IngestJob = { side, url: server.url, serverPid: server.pid, load, seed };
          return JSON.parse(await runProgram(process.execPath, [program, JSON.stringify(job)])) as Sample;
        },
        stop: () => server.stop(),
      };
    },
  };
}
