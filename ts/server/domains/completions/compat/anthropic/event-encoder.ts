/** The event stream of the Messages API. Deltas go by byte template. */
import type { FinishReason, JobUsage } from '../../../../native/llama-shapes.ts';
import type { HttpError } from '../../../../platform/http/errors.ts';
import type { ReasoningDetail } from '../../../inference/index.ts';
import type { Frames, StreamEncoder } from '../../answer/frames.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { anthropicUsage, messageHead, type StopMembers, stopMembers, textBlock, toolUseBlock } from './answer.ts';
import { anthropicErrorBody } from './error-body.ts';
import { blockId, callBlocks } from './server-tools.ts';

type BlockKind = 'text' | 'thinking' | 'tool_use';

/** Delta type and its text member, by kind of block. */
const deltas: Record<BlockKind, [type: string, member: string]> = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
};

const deltaEnd = Buffer.from('"}}\n\n');

export class MessagesEncoder implements StreamEncoder {
  readonly #id: string;
  readonly #model: string;
  readonly #omitsThinking: boolean;
  #nBlocks = 0;
  /** The node's tools that were called, by the ids of the calls. */
  readonly #called = new Map<string, ToolEvent>();
  #open: BlockKind | undefined;
  #prefix: Buffer = Buffer.alloc(0);
  #stop: StopMembers = stopMembers('stop', '');

  constructor(id: string, model: string, omitsThinking = false) {
    this.#id = id;
    this.#model = model;
    this.#omitsThinking = omitsThinking;
  }

  open(out: Frames, nPromptTokens: number, model = this.#model): void {
    const usage = anthropicUsage({ nPromptTokens, nCachedTokens: 0, nCompletionTokens: 0 });
    const message = { ...messageHead(this.#id, model), content: [], stop_reason: null, stop_sequence: null, usage };
    send(out, 'message_start', { message });
    send(out, 'ping', {});
  }

  content(out: Frames, _choice: number, jsonBody: Buffer): void {
    if (this.#open !== 'text') this.#begin(out, 'text', textBlock(''));
    this.#delta(out, jsonBody);
  }

  reasoning(out: Frames, _choice: number, jsonBody: Buffer): void {
    if (this.#open !== 'thinking') this.#begin(out, 'thinking', { type: 'thinking', thinking: '', signature: '' });
    if (!this.#omitsThinking) this.#delta(out, jsonBody);
  }

  reasoningDetail(out: Frames, _choice: number, { signature, data }: ReasoningDetail): void {
    if (data !== undefined) {
      this.#end(out);
      const index = this.#nBlocks++;
      send(out, 'content_block_start', { index, content_block: { type: 'redacted_thinking', data } });
      send(out, 'content_block_stop', { index });
      return;
    }
    if (this.#open !== 'thinking') this.#begin(out, 'thinking', { type: 'thinking', thinking: '', signature: '' });
    const index = this.#nBlocks - 1;
    if (signature !== undefined) send(out, 'content_block_delta', { index, delta: { type: 'signature_delta', signature } });
    this.#end(out);
  }

  toolCall(out: Frames, _choice: number, _index: number, id: string, name: string): void {
    this.#begin(out, 'tool_use', toolUseBlock(id, name, {}));
  }

  toolArguments(out: Frames, _choice: number, _index: number, jsonBody: Buffer): void {
    this.#delta(out, jsonBody);
  }

  /** A call that waits for a decision has no event of its own: the client is told that the connection lives. */
  toolEvent(out: Frames, event: ToolEvent): void {
    this.#end(out);
    const id = blockId(event);
    const { use, input, result } = callBlocks(event, id);
    if (!this.#called.has(event.call_id)) {
      this.#called.set(event.call_id, event);
      const index = this.#nBlocks++;
      send(out, 'content_block_start', { index, content_block: { ...use, input: {} } });
      send(out, 'content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } });
      send(out, 'content_block_stop', { index });
    } else if (result === undefined) send(out, 'ping', {});
    if (result === undefined) return;
    const index = this.#nBlocks++;
    send(out, 'content_block_start', { index, content_block: result });
    send(out, 'content_block_stop', { index });
  }

  /** The Messages API has no log probabilities. */
  logprobs(): void {}

  finish(out: Frames, _choice: number, reason: FinishReason, stopString: string): void {
    this.#end(out);
    this.#stop = stopMembers(reason, stopString);
  }

  done(out: Frames, usage: JobUsage): void {
    send(out, 'message_delta', {
      delta: { ...this.#stop, container: null, stop_details: null },
      usage: anthropicUsage(usage, [...this.#called.values()]),
    });
    send(out, 'message_stop', {});
  }

  error(out: Frames, error: HttpError): void {
    out.pushText(`event: error\ndata: ${JSON.stringify(anthropicErrorBody.write(error, ''))}\n\n`);
  }

  #begin(out: Frames, kind: BlockKind, block: Record<string, unknown>): void {
    this.#end(out);
    const index = this.#nBlocks++;
    send(out, 'content_block_start', { index, content_block: block });
    const [type, member] = deltas[kind];
    const head = JSON.stringify({ type: 'content_block_delta', index }).slice(0, -1);
    this.#prefix = Buffer.from(`event: content_block_delta\ndata: ${head},"delta":{"type":"${type}","${member}":"`);
    this.#open = kind;
  }

  #delta(out: Frames, jsonBody: Buffer): void {
    out.push(this.#prefix);
    out.push(jsonBody);
    out.push(deltaEnd);
  }

  #end(out: Frames): void {
    if (!this.#open) return;
    send(out, 'content_block_stop', { index: this.#nBlocks - 1 });
    this.#open = undefined;
  }
}

function send(out: Frames, type: string, members: Record<string, unknown>): void {
  out.pushText(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
}
