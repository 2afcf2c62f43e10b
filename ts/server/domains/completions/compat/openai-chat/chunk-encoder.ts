/** Chat completion chunks by byte template: a content token costs three copies and no object. */

import type { FinishReason, JobUsage, TokenLogprob } from '../../../../native/llama-shapes.ts';
import type { HttpError } from '../../../../platform/http/errors.ts';
import { openaiErrorBody, type ReasoningDetail } from '../../../inference/index.ts';
import type { Frames, StreamEncoder } from '../../answer/frames.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { chatLogprobsJson } from './logprobs.ts';
import { chatTimings, chatUsage } from './usage.ts';

export interface ChunkHead {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  fingerprint: string;
}

interface ChoiceTemplates {
  content: Buffer;
  reasoning: Buffer;
  /** The bytes between the payload of a text delta and its end. */
  suffix: Buffer;
}

/** The members of a choice's last chunk beside its reason. */
interface LastChunk {
  /** Members of `delta`. */
  delta: object;
  /** Members of the chunk itself. */
  members: object;
}

const doneFrame = Buffer.from('data: [DONE]\n\n');

export class ChunkEncoder implements StreamEncoder {
  #head: string;
  readonly #facts: ChunkHead;
  readonly #tail: string;
  readonly #nChoices: number;
  readonly #includeUsage: boolean;
  readonly #lastChunk: ((choice: number) => LastChunk) | undefined;
  /** Made with a choice's first text: thousands of streams that wait must stay small. */
  readonly #choices: ChoiceTemplates[] = [];
  #pendingLogprobs: Map<number, TokenLogprob[]> | undefined;

  /** @param lastChunk of an answer from knowledge bases or with memories: what was found. */
  constructor(head: ChunkHead, nChoices: number, includeUsage: boolean, lastChunk?: (choice: number) => LastChunk) {
    this.#facts = head;
    this.#head = chunkHead(head);
    // With include_usage, OpenAI's chunks all carry the member.
    this.#tail = includeUsage ? '],"usage":null}\n\n' : ']}\n\n';
    this.#includeUsage = includeUsage;
    this.#nChoices = nChoices;
    this.#lastChunk = lastChunk;
  }

  open(out: Frames, _nPromptTokens?: number, model?: string): void {
    if (model !== undefined) this.#head = chunkHead({ ...this.#facts, model });
    for (let index = 0; index < this.#nChoices; index++) {
      this.#chunk(out, index, '{"role":"assistant","content":"","refusal":null}');
    }
  }

  content(out: Frames, choice: number, jsonBody: Buffer): void {
    if (this.#pendingLogprobs?.has(choice)) {
      this.#chunk(out, choice, `{"content":"${jsonBody.toString()}"}`);
      return;
    }
    this.#text(out, choice, 'content', jsonBody);
  }

  reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#text(out, choice, 'reasoning', jsonBody);
  }

  reasoningDetail(out: Frames, choice: number, detail: ReasoningDetail): void {
    this.#chunk(out, choice, JSON.stringify({ reasoning_details: [detail] }));
  }

  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    this.#toolDelta(out, choice, { index, id, type: 'function', function: { name, arguments: '' } });
  }

  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void {
    this.#chunk(out, choice, `{"tool_calls":[{"index":${index},"function":{"arguments":"${jsonBody.toString()}"}}]}`);
  }

  toolEvent(out: Frames, event: ToolEvent): void {
    this.#chunk(out, 0, '{}', null, `],"tool_event":${JSON.stringify(event)}${this.#tail.slice(1)}`);
  }

  /** Held until the text of the same tokens comes. */
  logprobs(_out: Frames, choice: number, tokens: TokenLogprob[]): void {
    this.#pendingLogprobs ??= new Map();
    const pending = this.#pendingLogprobs.get(choice);
    if (pending) pending.push(...tokens);
    else this.#pendingLogprobs.set(choice, tokens);
  }

  finish(out: Frames, choice: number, reason: FinishReason): void {
    if (this.#pendingLogprobs?.has(choice)) this.#chunk(out, choice, '{"content":""}');
    if (this.#lastChunk === undefined) {
      this.#chunk(out, choice, '{}', reason);
      return;
    }
    const { delta, members } = this.#lastChunk(choice);
    const tail = `],${JSON.stringify(members).slice(1, -1)}${this.#tail.slice(1)}`;
    this.#chunk(out, choice, JSON.stringify(delta), reason, tail);
  }

  done(out: Frames, usage: JobUsage): void {
    if (this.#includeUsage) {
      out.pushText(
        `${this.#head}],"usage":${JSON.stringify(chatUsage(usage))},"timings":${JSON.stringify(chatTimings(usage))}}\n\n`,
      );
    }
    out.push(doneFrame);
  }

  error(out: Frames, error: HttpError): void {
    out.pushText(`data: ${JSON.stringify(openaiErrorBody.write(error, ''))}\n\n`);
  }

  #text(out: Frames, choice: number, kind: 'content' | 'reasoning', jsonBody: Buffer): void {
    if (choice >= this.#nChoices) return;
    this.#choices[choice] ??= this.#templates(choice);
    const template = this.#choices[choice];
    out.push(template[kind]);
    out.push(jsonBody);
    out.push(template.suffix);
  }

  #toolDelta(out: Frames, choice: number, call: Record<string, unknown>): void {
    this.#chunk(out, choice, `{"tool_calls":[${JSON.stringify(call)}]}`);
  }

  #chunk(out: Frames, choice: number, delta: string, finish: FinishReason | null = null, tail = this.#tail): void {
    const end = `"logprobs":${this.#takeLogprobs(choice)},"finish_reason":${finish === null ? 'null' : `"${finish}"`}}`;
    out.pushText(`${this.#head}{"index":${choice},"delta":${delta},${end}${tail}`);
  }

  #takeLogprobs(choice: number): string {
    const tokens = this.#pendingLogprobs?.get(choice);
    if (!tokens) return 'null';
    this.#pendingLogprobs?.delete(choice);
    return `{"content":${chatLogprobsJson(tokens)},"refusal":null}`;
  }

  #templates(index: number): ChoiceTemplates {
    const prefix = (member: string) => Buffer.from(`${this.#head}{"index":${index},"delta":{"${member}":"`);
    return {
      content: prefix('content'),
      reasoning: prefix('reasoning_content'),
      suffix: Buffer.from(`"},"logprobs":null,"finish_reason":null}${this.#tail}`),
    };
  }
}

function chunkHead({ id, created, model, fingerprint }: ChunkHead): string {
  const members = { id, object: 'chat.completion.chunk', created, model, system_fingerprint: fingerprint };
  return `data: ${JSON.stringify(members).slice(0, -1)},"choices":[`;
}
