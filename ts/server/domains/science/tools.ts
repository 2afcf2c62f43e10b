/** The operations of sources as tools, and the query over several of them. */
import Type from 'typebox';
import type { Principal } from '../../platform/http/principal.ts';
import { CATEGORIES } from '../../platform/module/module-names.ts';
import type { KnownAddresses } from '../../platform/tools/known-addresses.ts';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import type { Adapter, Operation } from './adapters/adapter.ts';
import type { ScienceRecord } from './answers/read-answer.ts';
import { DATE, inputOf, MOST_RECORDS } from './arguments.ts';
import { type ScienceService, toolName } from './service.ts';

const SECONDS = 60;
/** Nothing is changed: a question leaves the node, as one to a search engine does. */
const SHARED = { effect: 'read', scope: 'tools:use', maxSeconds: SECONDS, isUntrusted: true } as const;

export const QuerySchema = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description: 'Words.' }),
    sources: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z][a-z0-9]{0,29}$' }), {
        minItems: 1,
        maxItems: 30,
        description: 'Ids of sources; by default all that are enabled and can be searched by words.',
      }),
    ),
    category: Type.Optional(Type.Enum([...CATEGORIES])),
    from: Type.Optional(Type.String({ pattern: DATE, description: 'The earliest date.' })),
    to: Type.Optional(Type.String({ pattern: DATE, description: 'The latest date.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_RECORDS, description: 'Of each source; 10 by default.' })),
  },
  { additionalProperties: false },
);

export class ScienceTools {
  readonly #service: ScienceService;
  readonly #query: Tool;
  /** Made once, since a tool is known by its object. */
  readonly #made = new Map<Adapter, readonly Tool[]>();

  constructor(service: ScienceService) {
    this.#service = service;
    this.#query = defineTool({
      ...SHARED,
      name: 'science.query',
      description:
        'Search several scientific sources at once. Returns records with titles, creators, dates and addresses to cite.',
      input: QuerySchema,
      run: async ({ caller, addresses, arguments: asked }, signal) => {
        const { records, failures } = await service.query(caller, asked, signal);
        addAddresses(addresses, records);
        return { records, failures };
      },
    });
  }

  /** Those of the sources that the caller's tenant has enabled. */
  async of(caller: Principal): Promise<Tool[]> {
    const enabled = (await this.#service.list(caller)).filter(({ isEnabled }) => isEnabled);
    return enabled.length === 0 ? [] : [this.#query, ...enabled.flatMap(({ adapter }) => this.toolsOf(adapter))];
  }

  toolsOf(adapter: Adapter): readonly Tool[] {
    const made = this.#made.get(adapter) ?? Object.entries(adapter.operations).map((entry) => this.#toolOf(adapter, entry));
    this.#made.set(adapter, made);
    return made;
  }

  #toolOf(adapter: Adapter, [name, operation]: [string, Operation]): Tool {
    return defineTool({
      ...SHARED,
      name: toolName(adapter, name),
      description: `${adapter.name}: ${operation.summary}`,
      input: inputOf(operation),
      run: async ({ caller, addresses, arguments: given }, signal) => {
        const { records, total } = await this.#service.ask(caller, adapter, name, given, signal);
        addAddresses(addresses, records);
        return { records, ...(total !== undefined && { total }) };
      },
    });
  }
}

function addAddresses(addresses: KnownAddresses | undefined, records: readonly ScienceRecord[]): void {
  for (const { url } of records) if (url !== null) addresses?.add(url);
}
