/** Times one completion on its way to the client and counts it once, at its end. */
import type { JobUsage, NativeError } from '../../native/llama.ts';
import type { CompletionSink } from './backend.ts';
import { clientError } from './errors.ts';
import type { ModelMetrics } from './metrics.ts';
import { RelaySink } from './stream/relay-sink.ts';

export class MeteredSink extends RelaySink {
  readonly #metrics: ModelMetrics;
  readonly #startedAt = performance.now();
  #lastTokenAt = 0;
  #hasNews = false;

  constructor(sink: CompletionSink, metrics: ModelMetrics) {
    super(sink);
    this.#metrics = metrics;
  }

  override onContent(choice: number, jsonBody: Buffer): void {
    this.#hasNews = true;
    this.sink.onContent(choice, jsonBody);
  }

  override onReasoning(choice: number, jsonBody: Buffer): void {
    this.#hasNews = true;
    this.sink.onReasoning(choice, jsonBody);
  }

  override onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    this.#hasNews = true;
    this.sink.onToolArguments(choice, index, jsonBody);
  }

  override onDone(usage: JobUsage): void {
    this.#metrics.completed(usage);
    this.sink.onDone(usage);
  }

  override onError(error: NativeError): void {
    this.#metrics.failed(clientError(error).code);
    this.sink.onError(error);
  }

  override onFlush(): void {
    this.sink.onFlush();
    if (this.#hasNews) this.#observe();
  }

  #observe(): void {
    const now = performance.now();
    if (this.#lastTokenAt === 0) this.#metrics.firstToken((now - this.#startedAt) / 1000);
    else this.#metrics.interToken((now - this.#lastTokenAt) / 1000);
    this.#lastTokenAt = now;
    this.#hasNews = false;
  }
}
