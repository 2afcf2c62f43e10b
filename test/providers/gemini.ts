/** Gemini's streamGenerateContent, as its public reference describes it. */
import type { Dialect } from './provider-server.ts';

const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

export const geminiDialect: Dialect = {
  contentType: 'text/event-stream',
  isChat: (path) => path.includes(':streamGenerateContent?alt=sse'),
  models: (names) => ({
    models: names.map((name) => ({
      name: `models/${name}`,
      supportedGenerationMethods: ['generateContent'],
      inputTokenLimit: 1000,
    })),
  }),
  frames: ({ reasoning, signature, texts, calls = [], finish = 'stop', tokens }) => {
    const usageMetadata = {
      promptTokenCount: tokens.prompt,
      cachedContentTokenCount: tokens.cached,
      candidatesTokenCount: tokens.completion - tokens.reasoning,
      thoughtsTokenCount: tokens.reasoning,
    };
    const frame = (part: object): string => event({ candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] });
    const signed = signature === undefined ? {} : { thoughtSignature: signature };
    return {
      before: [],
      texts: [
        ...(reasoning === undefined ? [] : [frame({ text: reasoning, thought: true })]),
        ...texts.map((text) => frame({ text })),
        ...calls.map(({ name, arguments: text }, i) =>
          frame({ functionCall: { name, args: JSON.parse(text || '{}') as object }, ...(i === 0 && signed) }),
        ),
      ],
      usage: [],
      end: [
        event({
          candidates: [{ index: 0, content: { parts: [] }, finishReason: finish === 'length' ? 'MAX_TOKENS' : 'STOP' }],
          usageMetadata,
        }),
      ],
    };
  },
  error: (code, message) => ({ error: { code, message, status: 'UNKNOWN' } }),
  errorFrame: (message) => event({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
};
