/** Passes everything on; subclasses watch what they need. */
import type { FinishReason, JobUsage, NativeError, TokenLogprob } from '../../../native/llama.ts';
import type { CompletionSink } from '../backend.ts';

export abstract class RelaySink implements CompletionSink {
  protected readonly sink: CompletionSink;

  constructor(sink: CompletionSink) {
    this.sink = sink;
  }

  onStart(nPromptTokens: number, nCachedTokens: number): void {
    this.sink.onStart(nPromptTokens, nCachedTokens);
  }

  onContent(choice: number, jsonBody: Buffer): void {
    this.sink.onContent(choice, jsonBody);
  }

  onReasoning(choice: number, jsonBody: Buffer): void {
    this.sink.onReasoning(choice, jsonBody);
  }

  onToolCall(choice: number, index: number, id: string, name: string): void {
    this.sink.onToolCall(choice, index, id, name);
  }

  onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    this.sink.onToolArguments(choice, index, jsonBody);
  }

  onLogprobs(choice: number, tokens: TokenLogprob[]): void {
    this.sink.onLogprobs(choice, tokens);
  }

  onFinish(choice: number, reason: FinishReason, stopString: string): void {
    this.sink.onFinish(choice, reason, stopString);
  }

  onDone(usage: JobUsage): void {
    this.sink.onDone(usage);
  }

  onError(error: NativeError): void {
    this.sink.onError(error);
  }

  onFlush(): void {
    this.sink.onFlush();
  }
}
