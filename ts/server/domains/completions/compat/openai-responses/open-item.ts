/** The output item that a stream is writing: its events, and the item when it is done. */
import type { TokenLogprob } from '../../../../native/llama-shapes.ts';
import type { ReasoningDetail } from '../../../inference/index.ts';
import { identifier } from '../members.ts';
import {
  callItem,
  type ItemStatus,
  messageItem,
  type OutputItem,
  reasoningItem,
  responseLogprobs,
  textPart,
} from './response-object.ts';

/** One event of a response's stream, as the client reads it. */
export function eventFrame(type: string, sequence: number, members: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;
}

/** Sends one event; sequence_number is added. */
export type Emit = (type: string, members: Record<string, unknown>) => void;

export interface OpenItem {
  readonly kind: 'message' | 'reasoning' | 'call';
  readonly id: string;
  /** Event type and members before the delta, for the byte template. */
  readonly deltaType: string;
  readonly deltaMembers: Record<string, unknown>;
  begin(emit: Emit): void;
  /** Sends the done events and returns the finished item. The text is whole. */
  end(emit: Emit, text: string, status: ItemStatus): OutputItem;
}

interface MessageParts {
  logprobs(): TokenLogprob[] | undefined;
  /** The annotations of the text, once it is whole. */
  annotations(text: string): readonly object[];
}

export function openMessage(outputIndex: number, { logprobs, annotations }: MessageParts): OpenItem {
  const id = identifier('msg_');
  const place = { item_id: id, output_index: outputIndex, content_index: 0 };
  return {
    kind: 'message',
    id,
    deltaType: 'response.output_text.delta',
    deltaMembers: place,
    begin: (emit) => {
      emit('response.output_item.added', { output_index: outputIndex, item: messageItem(id, 'in_progress', []) });
      emit('response.content_part.added', { ...place, part: textPart('', undefined) });
    },
    end: (emit, text, status) => {
      const notes = annotations(text);
      const part = textPart(text, logprobs(), notes);
      const item = messageItem(id, status, [part]);
      for (const [index, annotation] of notes.entries())
        emit('response.output_text.annotation.added', { ...place, annotation_index: index, annotation });
      emit('response.output_text.done', { ...place, text, logprobs: responseLogprobs(logprobs()) });
      emit('response.content_part.done', { ...place, part });
      emit('response.output_item.done', { output_index: outputIndex, item });
      return item;
    },
  };
}

/** `details` are read and taken when the item ends. */
export function openReasoning(outputIndex: number, details: ReasoningDetail[]): OpenItem {
  const id = identifier('rs_');
  const place = { item_id: id, output_index: outputIndex, content_index: 0 };
  return {
    kind: 'reasoning',
    id,
    deltaType: 'response.reasoning_text.delta',
    deltaMembers: place,
    begin: (emit) => {
      emit('response.output_item.added', { output_index: outputIndex, item: reasoningItem(id, 'in_progress', undefined) });
      emit('response.content_part.added', { ...place, part: { type: 'reasoning_text', text: '' } });
    },
    end: (emit, text, status) => {
      const item = reasoningItem(id, status, text, details.splice(0));
      emit('response.reasoning_text.done', { ...place, text });
      emit('response.content_part.done', { ...place, part: { type: 'reasoning_text', text } });
      emit('response.output_item.done', { output_index: outputIndex, item });
      return item;
    },
  };
}

export function openCall(outputIndex: number, callId: string, name: string): OpenItem {
  const id = identifier('fc_');
  const place = { item_id: id, output_index: outputIndex };
  return {
    kind: 'call',
    id,
    deltaType: 'response.function_call_arguments.delta',
    deltaMembers: place,
    begin: (emit) => {
      emit('response.output_item.added', { output_index: outputIndex, item: callItem(id, 'in_progress', callId, name, '') });
    },
    end: (emit, text, status) => {
      const item = callItem(id, status, callId, name, text);
      emit('response.function_call_arguments.done', { ...place, name, arguments: text });
      emit('response.output_item.done', { output_index: outputIndex, item });
      return item;
    },
  };
}
