/** The output items of tools that the node runs, with their events: lists of MCP servers, calls, requests for approval, searches. */
import type { McpListing } from '../../../tools/answer-tools.ts';
import type { ToolEvent } from '../../../tools/tool-event.ts';
import { identifier, isMembers } from '../../members.ts';
import type { Emit } from '../open-item.ts';
import type { OutputItem } from '../response-object.ts';
import { mcpNameOf, SEARCH_TOOL } from './hosted-tools.ts';

/** A member of `include`. */
export const SEARCH_SOURCES = 'web_search_call.action.sources';

interface FoundPage {
  readonly url: string;
  readonly title: string;
}

/** An item that a call has begun. */
interface Place {
  readonly index: number;
  readonly id: string;
}

interface UrlCitation {
  readonly type: 'url_citation';
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

export class HostedItems {
  readonly #listings: readonly McpListing[];
  readonly #includesSources: boolean;
  readonly #open = new Map<string, Place>();
  readonly #found = new Map<string, FoundPage>();

  constructor(listings: readonly McpListing[], include: readonly string[]) {
    this.#listings = listings;
    this.#includesSources = include.includes(SEARCH_SOURCES);
  }

  /** The lists stand before the answer. */
  begin(emit: Emit, output: OutputItem[]): void {
    for (const { label, tools, error } of this.#listings) {
      const item = {
        id: identifier('mcpl_'),
        type: 'mcp_list_tools',
        server_label: label,
        tools: tools.map(({ name, description, input }) => ({
          name: mcpNameOf(name)?.name ?? name,
          description,
          input_schema: input,
          annotations: null,
        })),
        error: error ?? null,
      };
      const place = { item_id: item.id, output_index: output.length };
      emit('response.output_item.added', { output_index: output.length, item: { ...item, tools: [] } });
      emit('response.mcp_list_tools.in_progress', place);
      emit(`response.mcp_list_tools.${error === undefined ? 'completed' : 'failed'}`, place);
      emit('response.output_item.done', { output_index: output.length, item });
      output.push(item);
    }
  }

  /** The items come into `output` as they begin, and are complete there when they end. */
  add(emit: Emit, output: OutputItem[], event: ToolEvent): void {
    const mcp = mcpNameOf(event.tool);
    if (mcp === undefined) {
      if (event.tool === SEARCH_TOOL) this.#search(emit, output, event);
      return;
    }
    if (event.state === 'awaiting_approval') this.#ask(emit, output, event);
    else this.#call(emit, output, event);
  }

  /** Names the places of the addresses that searches found. */
  citations(text: string): UrlCitation[] {
    return [...this.#found.values()].flatMap(({ url, title }) => {
      const start = text.indexOf(url);
      return start < 0 ? [] : [{ type: 'url_citation' as const, url, title, start_index: start, end_index: start + url.length }];
    });
  }

  #ask(emit: Emit, output: OutputItem[], { call_id: id, tool, arguments: given }: ToolEvent): void {
    const { label, name } = mcpNameOf(tool) ?? { label: '', name: tool };
    const item = { id, type: 'mcp_approval_request', server_label: label, name, arguments: JSON.stringify(given) };
    emit('response.output_item.added', { output_index: output.length, item });
    emit('response.output_item.done', { output_index: output.length, item });
    output.push(item);
  }

  #call(emit: Emit, output: OutputItem[], event: ToolEvent): void {
    const { label, name } = mcpNameOf(event.tool) ?? { label: '', name: event.tool };
    const base = {
      type: 'mcp_call',
      server_label: label,
      name,
      arguments: JSON.stringify(event.arguments),
      approval_request_id: event.call_id.startsWith('mcpr_') ? event.call_id : null,
    };
    const at = this.#placeOf(event, 'mcp_', output, (id, place) => {
      const item = { ...base, id, status: 'in_progress', arguments: '', output: null, error: null };
      emit('response.output_item.added', { output_index: place.output_index, item });
      emit('response.mcp_call.in_progress', place);
      emit('response.mcp_call_arguments.delta', { ...place, delta: base.arguments });
      emit('response.mcp_call_arguments.done', { ...place, arguments: base.arguments });
      return item;
    });
    if (event.state === 'running') return;
    const isDone = event.state === 'done';
    const item = {
      ...base,
      id: at.id,
      status: isDone ? 'completed' : 'failed',
      output: isDone ? textOf(event.result) : null,
      error: isDone ? null : detailOf(event.result),
    };
    this.#complete(emit, output, event, item, `response.mcp_call.${isDone ? 'completed' : 'failed'}`);
  }

  #search(emit: Emit, output: OutputItem[], event: ToolEvent): void {
    const query = isMembers(event.arguments) ? String(event.arguments['query'] ?? '') : '';
    const action = { type: 'search', query, queries: [query] };
    const at = this.#placeOf(event, 'ws_', output, (id, place) => {
      const item = { id, type: 'web_search_call', status: 'in_progress', action };
      emit('response.output_item.added', { output_index: place.output_index, item });
      emit('response.web_search_call.in_progress', place);
      emit('response.web_search_call.searching', place);
      return item;
    });
    if (event.state === 'running' || event.state === 'awaiting_approval') return;
    const pages = event.state === 'done' ? pagesOf(event.result) : [];
    for (const page of pages) this.#found.set(page.url, page);
    const sources = this.#includesSources ? { sources: pages.map(({ url }) => ({ type: 'url', url })) } : {};
    const status = event.state === 'done' ? 'completed' : 'failed';
    const item = { id: at.id, type: 'web_search_call', status, action: { ...action, ...sources } };
    // OpenAI has no event of a search that failed; its item says so.
    const type = event.state === 'done' ? 'response.web_search_call.completed' : undefined;
    this.#complete(emit, output, event, item, type);
  }

  #placeOf(
    { call_id: call }: ToolEvent,
    prefix: string,
    output: OutputItem[],
    begin: (id: string, place: { readonly item_id: string; readonly output_index: number }) => OutputItem,
  ): Place {
    const open = this.#open.get(call);
    if (open !== undefined) return open;
    const place = { index: output.length, id: identifier(prefix) };
    this.#open.set(call, place);
    output.push(begin(place.id, { item_id: place.id, output_index: place.index }));
    return place;
  }

  /** A later call may have the same id. */
  #complete(emit: Emit, output: OutputItem[], { call_id: call }: ToolEvent, item: OutputItem, type: string | undefined): void {
    const index = this.#open.get(call)?.index ?? output.length;
    this.#open.delete(call);
    output[index] = item;
    if (type !== undefined) emit(type, { item_id: item.id, output_index: index });
    emit('response.output_item.done', { output_index: index, item });
  }
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result ?? null);
}

function detailOf(result: unknown): string {
  const detail = isMembers(result) ? result['detail'] : undefined;
  return typeof detail === 'string' ? detail : textOf(result);
}

/** Results of a search that were kept in part have no list. */
function pagesOf(result: unknown): FoundPage[] {
  const results = isMembers(result) && Array.isArray(result['results']) ? (result['results'] as unknown[]) : [];
  return results
    .filter(isMembers)
    .flatMap(({ url, title }) => (typeof url === 'string' ? [{ url, title: String(title ?? '') }] : []));
}
