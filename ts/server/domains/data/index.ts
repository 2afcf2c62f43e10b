/** The data module: knowledge bases of a tenant, their documents, search in them, and cited answers from them. */
import { defineModule } from '../../platform/module/module.ts';
import type { Storage } from '../../platform/storage/index.ts';
import { dataSettings } from './settings.ts';
import { dataMigrations } from './store/migrations.ts';

export type { CallerDocuments } from './caller-documents.ts';
export { answerErrors, inputFileErrors } from './errors.ts';
export type {
  AnswerFilter,
  CheckedCitations,
  Citation,
  CitationMark,
  ConversationFilesPlace,
  InputFile,
  InputFileText,
  KnowledgeContext,
  KnowledgePort,
  KnowledgeQuestion,
  NearBases,
  SearchBounds,
  UnindexedFiles,
  UsedKnowledge,
} from './knowledge-context.ts';

export const data = defineModule({
  name: 'data',
  settings: dataSettings,
  migrations: dataMigrations,
  useKinds: [
    {
      name: 'namespaces',
      one: 'namespace',
      labels: ['knowledge base', 'knowledge bases'],
      word: 'knowledge',
      example: 'handbook, legal-*',
    },
  ],
  create: async (context) => (await import('./data-module.ts')).createData(context),
});

/** Whether a database has a document of whomever, while no node runs on it. */
export async function holdsDocuments(storage: Storage): Promise<boolean> {
  return await (await import('./sweep.ts')).holdsDocuments(storage);
}
