import type { Test } from 'tap';
import { Log } from '../../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../../platform/metrics/registry.ts';
import { tenantScope } from '../../../../platform/storage/index.ts';
import type { IndexPassage } from '../../index/index-messages.ts';
import { IndexThread } from '../../index/index-thread.ts';
import type { VectorStorageKind } from '../../index/vector-index.ts';
import { VectorNotices } from '../../index/vector-notices.ts';
import { packTerms, termVector } from '../../terms/term-vector.ts';
import type { ChangedDocument, Collection } from '../collection.ts';
import { CollectionIndexes } from '../collection-indexes.ts';
import { LoadedIndexes } from '../loaded-indexes.ts';
import { indexMetrics, SavedIndexes } from '../saved-indexes.ts';

const DIMENSIONS = 16;
const PASSAGES = 10;
const scope = tenantScope('red');

export const collection: Collection = {
  id: `vs_${'0'.repeat(32)}`,
  embeddingModel: 'words',
  embeddingSource: 'local',
  dimensions: DIMENSIONS,
  version: 0,
  sweptVersion: 0,
  usedAt: 0,
};

/** Documents as a database has them. */
export class PlainDocuments {
  version = 0;
  readonly rows = new Map<number, ChangedDocument & { version: number }>();
  /** Passages that were read. */
  nRead = 0;

  put(no: number, id = `document ${no}`): void {
    this.rows.set(no, { no, id, isReady: true, nChunks: PASSAGES, version: ++this.version });
  }

  remove(no: number): void {
    const row = this.rows.get(no);
    if (row !== undefined) this.rows.set(no, { ...row, isReady: false, version: ++this.version });
  }

  async listChanges(_scope: unknown, _collection: unknown, version: number): Promise<ChangedDocument[]> {
    return [...this.rows.values()].filter((row) => row.version > version);
  }

  async *readForIndex(_scope: unknown, documentNos: readonly number[]): AsyncGenerator<IndexPassage[]> {
    for (let at = 0; at < documentNos.length; at += 50) {
      const some = documentNos.slice(at, at + 50);
      this.nRead += some.length * PASSAGES;
      yield some.flatMap((no) =>
        Array.from({ length: PASSAGES }, (_, seq) => ({
          documentNo: no,
          seq,
          terms: packTerms(termVector(`${this.rows.get(no)?.id} passage ${seq}`)),
          vector: vectorOf(no, seq),
        })),
      );
    }
  }
}

/** Of length 1. */
function vectorOf(no: number, seq: number): Float32Array {
  // Digits far behind the point of a sine repeat nowhere.
  const numbers = Float32Array.from({ length: DIMENSIONS }, (_, i) => {
    const digits = Math.sin((no * PASSAGES + seq) * DIMENSIONS + i) * 10_000;
    return digits - Math.floor(digits) - 0.5;
  });
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

export interface IndexBed {
  readonly indexes: CollectionIndexes<Collection>;
  readonly loaded: LoadedIndexes;
  readonly thread: IndexThread;
  readonly notices: VectorNotices;
  readonly saved: SavedIndexes;
  readonly log: Log;
  /** Of the log so far. */
  readonly lines: readonly string[];
  /** The value of a metric, 0 where it is not there. */
  metric(name: string): number;
  /** The document whose passage is nearest to that of a document, by its vector. */
  nearest(no: number, seq: number): Promise<number | undefined>;
  /** Documents that have all the words. */
  byWords(question: string): Promise<number[]>;
  load(): Promise<void>;
  rebuild(): Promise<void>;
  remove(): Promise<void>;
  stop(): Promise<void>;
}

export async function openIndexBed(
  t: Test,
  documents: PlainDocuments,
  folder: string,
  { kind = 'f16' as VectorStorageKind, maxBytes = 2 ** 30 } = {},
): Promise<IndexBed> {
  const lines: string[] = [];
  const log = new Log({ level: 'debug', format: 'json', sink: { write: (line) => void lines.push(line), flush: () => {} } });
  const metrics = new MetricsRegistry();
  const notices = new VectorNotices(log, metrics);
  const thread = new IndexThread({
    vectors: { kind, exactFolder: folder },
    onLost: () => loaded.forget(),
    onNotice: (notice) => notices.take(notice),
  });
  const loaded = new LoadedIndexes(thread, maxBytes);
  const saved = new SavedIndexes({ folder, log, metrics: indexMetrics(metrics) });
  const indexes = new CollectionIndexes({ thread, loaded, documents, saved });
  await saved.open();
  t.teardown(() => thread.close());
  const now = () => ({ ...collection, version: documents.version });
  const query = { question: '', vector: undefined, denseWeight: 0, k: 10, documents: undefined };
  return {
    indexes,
    loaded,
    thread,
    notices,
    saved,
    log,
    lines,
    metric: (name) =>
      Number(
        metrics
          .expose()
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1) ?? 0,
      ),
    nearest: async (no, seq) => {
      const hits = await indexes.search(scope, now(), { ...query, vector: vectorOf(no, seq), denseWeight: 1, k: 1 });
      return hits[0]?.documentNo;
    },
    byWords: async (question) =>
      (await indexes.search(scope, now(), { ...query, question }))
        .filter(({ coverage }) => coverage > 0.999)
        .map((hit) => hit.documentNo),
    load: () => indexes.load(scope, now()),
    rebuild: () => indexes.rebuild(scope, now()),
    remove: () => indexes.remove(now()),
    stop: () => thread.close(),
  };
}
