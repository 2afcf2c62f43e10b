/** What a database holds of knowledge bases, read past the module: whole documents, and rows that belong to none. */
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { systemScope } from '../../../platform/storage/index.ts';
import type { KnowledgeTables } from '../store/tables.ts';
import { Sweep } from '../sweep.ts';
import type { KnowledgeBed } from './knowledge-bed.ts';

interface WholeDocuments {
  /** The number that the text of a source begins with (`Document 7 ...`); -1 where passages are missing. */
  readonly documents: ReadonlyMap<string, number>;
  /** Sources that more than one document has. */
  readonly twice: readonly string[];
}

type Parts = Pick<KnowledgeBed, 'storage' | 'jobs'>;

export async function listWhole({ storage }: Parts): Promise<WholeDocuments> {
  const access = storage.access<KnowledgeTables>();
  const rows = await access.read(systemScope(), (db) =>
    db
      .selectFrom('data_documents as d')
      .leftJoin('data_chunks as c', 'c.document_no', 'd.no')
      .select(['d.source', 'd.n_chunks', (eb) => eb.fn.count<number>('c.seq').as('n'), (eb) => eb.fn.min('c.text').as('text')])
      .where('d.state', '=', 'ready')
      .groupBy(['d.no', 'd.source', 'd.n_chunks'])
      .execute(),
  );
  const documents = new Map<string, number>();
  for (const { source, n_chunks: wanted, n, text } of rows) {
    const named = Number(/Document (\d+)/.exec(text ?? '')?.[1] ?? -1);
    documents.set(source, wanted > 0 && Number(n) === wanted ? named : -1);
  }
  const sources = rows.map(({ source }) => source);
  return { documents, twice: sources.filter((source, i) => sources.indexOf(source) !== i) };
}

/** After everything that is to be removed was: passages with their vectors, and parts that wait, whose document is not there or not that far. */
export async function listOrphans({ storage, jobs }: Parts): Promise<string[]> {
  const nothing = async () => undefined;
  const sweep = new Sweep({
    storage,
    files: { listExpired: async () => [] },
    jobs,
    log: silentLog,
    onErased: nothing,
    removeBase: nothing,
    removeOwned: nothing,
    removeFile: nothing,
  });
  await sweep.run(Date.now() + 3_600_000);
  const access = storage.access<KnowledgeTables>();
  return await access.read(systemScope(), async (db) => {
    const chunks = await db
      .selectFrom('data_chunks as c')
      .leftJoin('data_documents as d', 'd.no', 'c.document_no')
      .select(['c.document_no', 'd.state', (eb) => eb.fn.countAll<number>().as('n')])
      .where((eb) => eb.or([eb('d.no', 'is', null), eb('d.state', '!=', 'ready')]))
      .groupBy(['c.document_no', 'd.state'])
      .execute();
    const blocks = await db
      .selectFrom('data_blocks as b')
      .leftJoin('data_documents as d', 'd.no', 'b.document_no')
      .select(['b.document_no', 'd.state', (eb) => eb.fn.countAll<number>().as('n')])
      .groupBy(['b.document_no', 'd.state'])
      .execute();
    const pending = await db.selectFrom('data_documents').select('source').where('state', '=', 'pending').execute();
    return [
      ...chunks.map(({ document_no: no, state, n }) => `${n} passages of document ${no}, which is ${state ?? 'gone'}`),
      ...blocks.map(({ document_no: no, state, n }) => `${n} waiting parts of document ${no}, which is ${state ?? 'gone'}`),
      ...pending.map(({ source }) => `${source} waits, and no job indexes it`),
    ];
  });
}
