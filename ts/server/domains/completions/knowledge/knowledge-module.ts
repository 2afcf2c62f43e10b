import type { KnowledgePort } from '../../data/index.ts';

/** The module of knowledge bases, whose `api` throws while it does not run. */
export interface KnowledgeModule {
  readonly api: { readonly answers: KnowledgePort };
}
