import t from 'tap';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import { Ingestion, type IngestionOptions } from './ingestion.ts';

const file = { fileName: 'a.docx', sha256: 'f'.repeat(64), sizeBytes: 2 ** 30 };

/** An ingestion whose job publishes the file after so many questions to the database. */
function publishingAfter(nQuestions: number): Ingestion {
  let nAsked = 0;
  const isPublished = () => nAsked++ >= nQuestions;
  const document = { id: 'd', source: 'a.docx', kind: 'docx', sha256: file.sha256, nChunks: 3 };
  return new Ingestion({
    documents: {
      findBySource: async () => (isPublished() ? document : undefined),
      findWaiting: async () => (isPublished() ? undefined : { no: 1, sha256: file.sha256, jobId: 'job' }),
    },
    jobs: { isOpen: async () => !isPublished() },
  } as unknown as IngestionOptions);
}

t.test('a large file that comes again is the same job until it is the document, whenever that is', async (t) => {
  const addAgain = (nQuestions: number) =>
    publishingAfter(nQuestions).addFile(tenantScope('red'), { namespace: 'kb' } as KnowledgeBase, { source: 'a.docx' }, file);
  for (const nQuestions of [0, 1])
    t.match(await addAgain(nQuestions), { document: { id: 'd', isNew: false } }, `published after ${nQuestions} questions`);
  t.strictSame(await addAgain(2), { jobId: 'job' });
});
