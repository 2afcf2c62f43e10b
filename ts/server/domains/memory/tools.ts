/** The tool `memory.remember`: a model proposes a memory, and only a person can make it one. */
import Type from 'typebox';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import { MEMORY_KINDS } from './memory.ts';
import { MAX_TEXT } from './schemas.ts';
import { requireNoSecret } from './service.ts';

const Input = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: MAX_TEXT,
      pattern: '\\S',
      description: 'One statement, in the words of the person, that will still matter in later conversations.',
    }),
    kind: Type.Optional(Type.Enum([...MEMORY_KINDS])),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Whom or what it is about.' })),
  },
  { additionalProperties: false },
);

export const rememberTool: Tool = defineTool({
  name: 'memory.remember',
  description: 'Propose something to be remembered. Nothing is kept until the person confirms it.',
  input: Input,
  // It keeps nothing: the person who is shown the proposal makes a memory of it, or does not.
  effect: 'read',
  scope: 'account:manage',
  maxSeconds: 10,
  isUntrusted: false,
  run: async ({ arguments: { text, kind = 'fact', subject } }) => {
    requireNoSecret(`${subject ?? ''} ${text}`);
    return { proposal: { text: text.trim(), kind, subject: subject ?? null }, stored: false };
  },
});
