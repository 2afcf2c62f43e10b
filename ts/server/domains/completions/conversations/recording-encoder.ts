/** Hands the events of a stream on, and keeps the first choice for the conversation that the chat belongs to. */
import type { FinishReason, JobUsage } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { Frames, StreamEncoder } from '../answer/frames.ts';
import { PassingEncoder } from '../answer/passing-encoder.ts';
import type { CutReason } from '../resumable-streams/resumable-stream.ts';
import { type ToolEvent, ToolEvents } from '../tools/tool-event.ts';
import { answerFacts, type OpenConversation } from './open-conversation.ts';

interface RecordedAnswer {
  readonly conversation: OpenConversation;
  readonly model: string;
  /** The text that the stored answer has before what is generated. */
  readonly prefix: string;
  /** Returns the citations of the answer, once it has finished. */
  citations(): readonly unknown[] | undefined;
  readonly unindexed: object | undefined;
}

/** Texts are bodies of JSON strings. */
interface RecordedCall {
  readonly name: string;
  args: string;
}

export class RecordingEncoder extends PassingEncoder {
  readonly #answer: RecordedAnswer;
  #text = '';
  #reasoning = '';
  readonly #calls: RecordedCall[] = [];
  readonly #toolEvents = new ToolEvents();
  #finish: FinishReason | undefined;
  #stored: Promise<void> | undefined;

  constructor(inner: StreamEncoder, answer: RecordedAnswer) {
    super(inner);
    this.#answer = answer;
  }

  /** Stores the whole answer, before the client is told that it is whole. */
  async store(usage: JobUsage): Promise<void> {
    this.#stored ??= this.#answer.conversation.store(this.#recorded(undefined, usage));
    await this.#stored;
  }

  /** Stores the part that was generated, with its mark. Nothing is stored where nothing was generated. */
  storePart(cutBy: CutReason): void {
    if (this.#text === '' && this.#reasoning === '' && this.#calls.length === 0 && this.#toolEvents.list === undefined) return;
    this.#stored ??= this.#answer.conversation.storePart(this.#recorded(cutBy, undefined));
  }

  /** Resolves when nothing is being stored any more. */
  async whenStored(): Promise<void> {
    await this.#stored?.catch(() => undefined);
  }

  override content(out: Frames, choice: number, jsonBody: Buffer): void {
    if (choice === 0) this.#text += jsonBody.toString();
    this.inner.content(out, choice, jsonBody);
  }

  override reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    if (choice === 0) this.#reasoning += jsonBody.toString();
    this.inner.reasoning(out, choice, jsonBody);
  }

  override toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    if (choice === 0) this.#calls[index] = { name, args: '' };
    this.inner.toolCall(out, choice, index, id, name);
  }

  override toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void {
    const call = choice === 0 ? this.#calls[index] : undefined;
    if (call !== undefined) call.args += jsonBody.toString();
    this.inner.toolArguments(out, choice, index, jsonBody);
  }

  override toolEvent(out: Frames, event: ToolEvent): void {
    this.#toolEvents.add(event);
    this.inner.toolEvent?.(out, event);
  }

  override finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void {
    if (choice === 0) this.#finish = reason;
    this.inner.finish(out, choice, reason, stopString);
  }

  override error(out: Frames, error: HttpError): void {
    this.storePart('failure');
    this.inner.error(out, error);
  }

  #recorded(cutBy: CutReason | undefined, usage: JobUsage | undefined) {
    const toolCalls = this.#calls.filter(Boolean).map(({ name, args }) => ({ name, arguments: decode(args) }));
    const { model, prefix, citations, unindexed } = this.#answer;
    return {
      content: prefix + decode(this.#text),
      model,
      cutBy,
      facts: answerFacts({
        finish: this.#finish,
        usage,
        reasoning: decode(this.#reasoning),
        toolCalls,
        toolEvents: this.#toolEvents.list,
        unindexed,
      }),
      citations: citations(),
    };
  }
}

function decode(jsonBody: string): string {
  return JSON.parse(`"${jsonBody}"`) as string;
}
