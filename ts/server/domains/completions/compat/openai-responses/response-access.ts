/**
 * Decides which stored responses a caller reaches. A response holds what knowledge bases and files said, and so does each that continues it: a caller
 * who is limited to some bases reaches only responses that were made of what it may use. All others are answered as if they did not exist.
 */

import { type Principal, scopeOf } from '../../../../platform/http/principal.ts';
import { anyName, type UseRules } from '../../../../platform/module/use-rules.ts';
import type { UsedKnowledge } from '../../../data/index.ts';
import type { KnowledgeModule } from '../../knowledge/knowledge-stage.ts';
import { previousNotFound, type ResponseKeeper, responseNotFound } from '../../stored-responses/response-keeper.ts';
import { storesOf } from './file-search/file-search.ts';
import { storedFileIds } from './file-search/input-files.ts';

interface ResponseAccessDeps {
  readonly keeper: Pick<ResponseKeeper, 'chainRequests'>;
  readonly knowledge: KnowledgeModule;
  readonly uses: UseRules;
}

export class ResponseAccess {
  readonly #deps: ResponseAccessDeps;

  constructor(deps: ResponseAccessDeps) {
    this.#deps = deps;
  }

  /** Throws `response_not_found`. */
  async require(caller: Principal, id: string): Promise<void> {
    if (!(await this.#reaches(caller, id))) responseNotFound(id);
  }

  /** Throws `previous_response_not_found`. */
  async requirePrevious(caller: Principal, id: string): Promise<void> {
    if (!(await this.#reaches(caller, id))) previousNotFound(id);
  }

  async #reaches(caller: Principal, id: string): Promise<boolean> {
    const { keeper, knowledge, uses } = this.#deps;
    if ((await uses.of(caller, 'namespaces')) === anyName) return true;
    const requests = await keeper.chainRequests(scopeOf(caller), id);
    if (requests === undefined) return false;
    const used: UsedKnowledge = {
      namespaces: requests.flatMap(({ head }) => storesOf(head['tools'])),
      files: requests.flatMap(({ input }) => storedFileIds(input)),
    };
    if (used.namespaces.length === 0 && used.files.length === 0) return true;
    return await knowledge.api.answers.reaches(caller, used);
  }
}
