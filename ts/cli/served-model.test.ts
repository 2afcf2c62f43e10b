import t from 'tap';
import { findChatModel } from './served-model.ts';

t.test('the default model is asked where it chats, else one in memory, else the first that can', (t) => {
  const a = { id: 'a', capabilities: ['chat'], state: 'unloaded' };
  const b = { id: 'b', capabilities: ['chat'], state: 'loaded' };
  const c = { id: 'c', capabilities: ['chat'], state: 'unloaded', default: true };
  t.equal(findChatModel([a, b, c])?.id, 'c');
  t.equal(findChatModel([a, b, { ...c, state: 'unusable' }])?.id, 'b');
  t.equal(findChatModel([a, b, { ...c, capabilities: ['embeddings'] }])?.id, 'b');
  t.equal(findChatModel([a])?.id, 'a');
  t.end();
});
