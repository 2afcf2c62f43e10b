import fc from 'fast-check';
import t from 'tap';
import { readConversation } from './import-formats.ts';

const NOW = 2_000_000_000_000;
const numRuns = process.env['SVC_TEST_LONG'] ? 20_000 : 500;

function node(parent: string | null, role: string, text: string, time: number, more: object = {}) {
  const content = { content_type: 'text', parts: [text] };
  return { parent, message: { author: { role }, content, create_time: time, metadata: { model_slug: 'gpt' }, ...more } };
}

t.test('an export of ChatGPT becomes messages without what was hidden, and keeps its branches', async (t) => {
  const read = readConversation(
    {
      conversation_id: '11111111-2222-4333-8444-555555555555',
      title: 'Trip',
      create_time: 1_700_000_000.5,
      is_archived: true,
      current_node: 'a2',
      mapping: {
        a2: node('q1', 'assistant', 'second answer', 1_700_000_030),
        root: { parent: null, message: null },
        sys: node('root', 'system', '', 0),
        q1: node('sys', 'user', 'question', 1_700_000_010),
        a1: node('q1', 'assistant', 'first answer', 1_700_000_020),
      },
    },
    NOW,
  );
  t.match(read, {
    conversation: { id: '11111111-2222-4333-8444-555555555555', title: 'Trip', isArchived: true, createdAt: 1_700_000_000_500 },
    currentMessageId: 'a2',
    messages: [
      { id: 'q1', parentId: null, role: 'user', content: 'question', ts: 1_700_000_010_000 },
      { id: 'a1', parentId: 'q1', content: 'first answer', model: 'gpt' },
      { id: 'a2', parentId: 'q1', content: 'second answer' },
    ],
  });
});

t.test('an export of Open WebUI becomes messages', async (t) => {
  const messages = {
    b: { id: 'b', parentId: 'a', role: 'assistant', content: 'answer', timestamp: 1_700_000_002, model: 'llama' },
    a: { id: 'a', parentId: null, role: 'user', content: 'question', timestamp: 1_700_000_001 },
  };
  const chat = { title: 'x', history: { messages, currentId: 'b' } };
  const given = { id: 'c', title: 'Chat', created_at: 1_700_000_000, archived: false, pinned: true, chat };
  t.match(readConversation(given, NOW), {
    conversation: { id: 'c', title: 'Chat', isPinned: true, isArchived: false, createdAt: 1_700_000_000_000 },
    currentMessageId: 'b',
    messages: [
      { id: 'a', parentId: null, role: 'user' },
      { id: 'b', parentId: 'a', role: 'assistant', model: 'llama' },
    ],
  });
});

t.test('a message of which nobody knows when it was said is marked, and one that follows a dated one is not', async (t) => {
  const said = (id: string, parent_id: string | null, more: object = {}) => ({
    id,
    parent_id,
    role: 'user',
    content: id,
    ...more,
  });
  const messages = [
    said('a', null, { metadata: { color: 'red' } }),
    said('b', 'a', { ts: '2023-01-02T00:00:00Z' }),
    said('c', 'b'),
  ];
  const metadataOf = (given: object) => readConversation(given, NOW)?.messages.map(({ metadata }) => metadata);
  t.strictSame(metadataOf({ messages }), [{ color: 'red', undated: true }, undefined, undefined]);
  t.strictSame(metadataOf({ created_at: '2023-01-01T00:00:00Z', messages }), [{ color: 'red' }, undefined, undefined]);
  t.strictSame(metadataOf({ messages: [said('a', null)] }), [{ undated: true }]);
});

t.test('broken trees are read: circles, missing parents, nodes that are none', async (t) => {
  const mapping = {
    a: node('b', 'user', 'a', 3),
    b: node('a', 'user', 'b', 2),
    c: node('gone', 'user', 'c', 1),
    d: 7,
    ['__proto__']: node('c', 'user', 'e', 9),
    self: node('self', 'user', 'f', 4),
  };
  const read = readConversation(JSON.parse(JSON.stringify({ id: 'x', mapping })), NOW);
  t.strictSame(read?.messages.map(({ content }) => content).sort(), ['a', 'b', 'c', 'e', 'f']);
  for (const value of [null, 7, 'x', [], {}, { mapping: 1 }, { chat: {} }]) t.equal(readConversation(value, NOW), undefined);
});

t.test('whatever a file says, what is stored keeps its promises', async () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const time = fc.oneof(fc.double(), fc.integer({ min: 0, max: 2e9 }), fc.constant(null));
  const entry = fc.record({
    parent: fc.oneof(id, fc.constant(null)),
    message: fc.option(
      fc.record({
        author: fc.record({ role: fc.constantFrom('user', 'assistant', 'tool', 'wizard') }),
        content: fc.oneof(
          fc.record({ parts: fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())) }),
          fc.jsonValue(),
        ),
        create_time: time,
      }),
    ),
  });
  const file = fc.record({ id: fc.jsonValue(), title: fc.jsonValue(), create_time: time, mapping: fc.dictionary(id, entry) });
  fc.assert(
    fc.property(file, (given) => {
      const read = readConversation(given, NOW);
      if (read === undefined) throw new Error('a mapping is a conversation');
      const seen = new Set<string>();
      let last = read.conversation.createdAt;
      for (const message of read.messages) {
        if (message.parentId !== null && !seen.has(message.parentId)) throw new Error('a parent comes after what follows it');
        if (message.ts < last || !Number.isSafeInteger(message.ts)) throw new Error('times go back');
        if (message.content.includes('\0')) throw new Error('NUL');
        last = message.ts;
        seen.add(message.id);
      }
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(read.conversation.id)) throw new Error('an id that is none');
    }),
    { numRuns },
  );
});
