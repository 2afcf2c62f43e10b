/** A conversation at the terminal: lines in, streamed answers out, a few words with a slash. */
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Client } from '../../client/client.ts';
import { asCliError } from '../as-cli-error.ts';
import { printable } from '../format.ts';
import type { Terminal } from '../terminal.ts';
import { type ChatMessage, type ChatRequest, streamChat } from './chat-stream.ts';

const help = [
  '/exit           leave (also Ctrl-D)',
  '/clear          forget the conversation',
  '/system TEXT    instruct the model and start anew',
  '/model NAME     change the model',
  'Ctrl-C stops an answer; at the prompt it leaves.',
].join('\n');

/** A server may let another model answer than the one that was asked. */
export function noteSubstitute(terminal: Terminal, asked: string, answered: string): void {
  if (answered !== '' && answered !== asked) terminal.note(`(${printable(answered)} answered in place of ${asked})`);
}

interface ChatSessionOptions {
  client: Client;
  terminal: Terminal;
  input: Readable;
  request: Omit<ChatRequest, 'messages'>;
  system?: string;
}

export class ChatSession {
  readonly #options: ChatSessionOptions;
  readonly #lines: Interface;
  #messages: ChatMessage[];
  #model: string;
  #answering: AbortController | undefined;

  constructor(options: ChatSessionOptions) {
    this.#options = options;
    this.#messages = options.system === undefined ? [] : [{ role: 'system', content: options.system }];
    this.#model = options.request.model;
    this.#lines = createInterface({
      input: options.input,
      prompt: '> ',
      output: options.terminal.isInteractive ? process.stdout : undefined,
    });
  }

  /** Ends at /exit, at the end of the input, or at Ctrl-C on an empty prompt. */
  async run(): Promise<void> {
    this.#lines.on('SIGINT', () => this.interrupt());
    this.#lines.prompt();
    for await (const line of this.#lines) {
      if (!(await this.#handle(line.trim()))) break;
      this.#lines.prompt();
    }
    this.#lines.close();
  }

  /** The first Ctrl-C stops the answer that is running; without one the session ends. */
  interrupt(): void {
    if (this.#answering) this.#answering.abort();
    else this.#lines.close();
  }

  async #handle(line: string): Promise<boolean> {
    if (line === '') return true;
    if (!line.startsWith('/')) {
      await this.#ask(line);
      return true;
    }
    const [word = '', ...rest] = line.split(/\s+/);
    return this.#obey(word, rest.join(' '));
  }

  #obey(word: string, text: string): boolean {
    const { terminal } = this.#options;
    if (word === '/exit' || word === '/quit') return false;
    if (word === '/clear') {
      this.#messages = this.#messages.filter(({ role }) => role === 'system');
      terminal.note('(forgotten)');
    } else if (word === '/system') {
      this.#messages = text === '' ? [] : [{ role: 'system', content: text }];
      terminal.note(text === '' ? '(no instruction any more)' : '(noted; the conversation starts anew)');
    } else if (word === '/model' && text !== '') {
      this.#model = text;
      terminal.note(`(now asking ${text})`);
    } else terminal.note(help);
    return true;
  }

  async #ask(content: string): Promise<void> {
    const { client, terminal, request } = this.#options;
    const messages: ChatMessage[] = [...this.#messages, { role: 'user', content }];
    const controller = new AbortController();
    this.#answering = controller;
    let shown = '';
    const onText = (text: string) => {
      shown += text;
      terminal.write(printable(text));
    };
    try {
      const asked = { ...request, messages, model: this.#model };
      const { text, model } = await streamChat(client, asked, { onText }, controller.signal);
      terminal.write('\n');
      noteSubstitute(terminal, this.#model, model);
      this.#messages = [...messages, { role: 'assistant', content: text }];
    } catch (error) {
      if (shown !== '') terminal.write('\n');
      if (controller.signal.aborted) this.#keepStopped(messages, shown);
      else terminal.error(asCliError(error));
    } finally {
      this.#answering = undefined;
    }
  }

  /** What was said before the stop stays part of the conversation, so that one can go on from it. */
  #keepStopped(messages: ChatMessage[], shown: string): void {
    this.#options.terminal.note('(stopped)');
    if (shown !== '') this.#messages = [...messages, { role: 'assistant', content: shown }];
  }
}
