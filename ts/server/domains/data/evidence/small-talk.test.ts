import t from 'tap';
import { readQuestion } from './asked-question.ts';
import { isSmallTalk } from './small-talk.ts';

t.test('greetings, thanks and questions about the chat ask nothing of documents', async (t) => {
  for (const text of [
    'Hello!',
    'Thank you',
    'Guten Morgen',
    'Danke!',
    'Привет',
    '你好',
    '谢谢',
    'What did I ask before?',
    'Was habe ich gerade gefragt?',
  ])
    t.ok(isSmallTalk(readQuestion(text)), text);
});

t.test('what has a word of its own does', async (t) => {
  for (const text of [
    'Hello, who keeps the lighthouse?',
    'Danke. Wann wurde der Turm gebaut?',
    '灯塔的看守人是谁？',
    'Which day is the market?',
    'boiler',
    'What is this about?',
  ])
    t.notOk(isSmallTalk(readQuestion(text)), text);
});
