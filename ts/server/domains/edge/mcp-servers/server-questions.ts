/**
 * Questions that an MCP server asks while it runs a call (elicitation), in both revisions: as a request of its own, or as a result that wants input. A
 * connection is shared, so each question has to find the person whose call it belongs to.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import type { AskPerson, ToolQuestion } from '../../../platform/tools/tool.ts';

/** One call of a tool, while it runs. */
interface AskingCall {
  readonly ask: AskPerson | undefined;
  nAsked: number;
  /** Resolves when the question before is answered: a person reads one at a time. */
  before: Promise<unknown>;
}

const MOST_QUESTIONS = 5;
const MOST_CHARACTERS = 4_000;
const MOST_SCHEMA_BYTES = 16 * 1024;
const NOBODY = { action: 'cancel' } as const;

export class ServerQuestions {
  readonly #current = new AsyncLocalStorage<AskingCall>();
  readonly #running = new Set<AskingCall>();

  /** A client that connects says with it that questions may be asked. */
  static readonly capabilities = { elicitation: { form: {} } };

  constructor(client: Client) {
    client.setRequestHandler('elicitation/create', async ({ params }): Promise<ElicitResult> => {
      // A page to be opened is another server's that nobody approved.
      if (params.mode === 'url') return NOBODY;
      return (await this.#ask({ message: params.message, schema: { ...params.requestedSchema } })) as ElicitResult;
    });
  }

  /** Runs a call whose questions go to `ask`. */
  async during<T>(ask: AskPerson | undefined, work: () => Promise<T>): Promise<T> {
    const call: AskingCall = { ask, nAsked: 0, before: Promise.resolve() };
    this.#running.add(call);
    try {
      return await this.#current.run(call, work);
    } finally {
      this.#running.delete(call);
    }
  }

  async #ask(question: ToolQuestion): ReturnType<AskPerson> {
    const call = this.#asking();
    if (call?.ask === undefined || !isBounded(question) || call.nAsked >= MOST_QUESTIONS) return NOBODY;
    const { ask } = call;
    call.nAsked += 1;
    const answer = call.before.then(() => (this.#running.has(call) ? ask(question) : NOBODY));
    call.before = answer.catch(() => undefined);
    return await answer;
  }

  /** A question that comes outside of every answer, as from a program, has one owner only where one call runs. */
  #asking(): AskingCall | undefined {
    const call = this.#current.getStore() ?? (this.#running.size === 1 ? [...this.#running][0] : undefined);
    return call !== undefined && this.#running.has(call) ? call : undefined;
  }
}

/** The server’s proposals stand where the person left something out. */
export function withDefaults({ schema }: ToolQuestion, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, { default?: unknown }>);
  const proposed = members.filter(([, member]) => member.default !== undefined).map(([name, member]) => [name, member.default]);
  return { ...Object.fromEntries(proposed), ...given };
}

function isBounded({ message, schema }: ToolQuestion): boolean {
  return message.length <= MOST_CHARACTERS && Buffer.byteLength(JSON.stringify(schema)) <= MOST_SCHEMA_BYTES;
}
