/** Counts what one completion takes of its tenant's tokens, however it ends. */
import type { JobUsage, NativeError } from '../../native/llama.ts';
import type { CompletionSink, RunningCompletion } from './backend.ts';
import { RelaySink } from './stream/relay-sink.ts';
import type { Reservation } from './token-budgets.ts';

export class BudgetedSink extends RelaySink {
  readonly #reservation: Reservation;
  #nPrompt = 0;
  /** Only the end tells exact usage; until then each record counts as a token, for those that are cut off. */
  #nRecords = 0;

  constructor(sink: CompletionSink, reservation: Reservation) {
    super(sink);
    this.#reservation = reservation;
  }

  /** The same job; its cancellation ends the reservation. */
  watch(job: RunningCompletion): RunningCompletion {
    const cancel = () => {
      job.cancel();
      this.#reconcile();
    };
    return { cancel, pause: () => job.pause(), resume: () => job.resume() };
  }

  override onStart(nPromptTokens: number, nCachedTokens: number): void {
    this.#nPrompt = nPromptTokens;
    this.sink.onStart(nPromptTokens, nCachedTokens);
  }

  override onContent(choice: number, jsonBody: Buffer): void {
    this.#nRecords++;
    this.sink.onContent(choice, jsonBody);
  }

  override onReasoning(choice: number, jsonBody: Buffer): void {
    this.#nRecords++;
    this.sink.onReasoning(choice, jsonBody);
  }

  override onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    this.#nRecords++;
    this.sink.onToolArguments(choice, index, jsonBody);
  }

  override onDone(usage: JobUsage): void {
    this.#reservation.reconcile(usage.nPromptTokens, usage.nCompletionTokens);
    this.sink.onDone(usage);
  }

  override onError(error: NativeError): void {
    this.#reconcile();
    this.sink.onError(error);
  }

  #reconcile(): void {
    this.#reservation.reconcile(this.#nPrompt, this.#nRecords);
  }
}
