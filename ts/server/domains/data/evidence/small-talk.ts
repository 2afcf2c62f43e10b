/** Messages that ask nothing of documents: greetings, thanks, and what was said before in the same chat. */
import { fold } from '../../../platform/text/words.ts';
import type { AskedQuestion } from './asked-question.ts';

const COURTESY = new Set(
  [
    'hello hi hey thanks thank good morning evening afternoon day bye goodbye ok okay great cheers welcome nice',
    'hallo servus moin danke dankeschön guten morgen abend tag tschüss gut prima super schön auf wiedersehen',
    'bonjour bonsoir salut merci beaucoup hola gracias muchas buenos buenas días tardes noches adiós ciao grazie mille buongiorno buonasera olá obrigado obrigada bom dia',
    'привет здравствуйте спасибо добрый доброе день утро вечер пока большое',
    '你好 您好 谢谢 早上 上好 早安 晚安 再见 好的 感谢 こん にち ちは あり りが がと とう',
  ]
    .join(' ')
    .split(' ')
    .map(fold),
);
const ABOUT_CHAT =
  /\b(?:did|have) (?:i|we|you) (?:just )?(?:ask|say|said|mention|talk|discuss)|\bour (?:conversation|chat)\b|\bmy (?:last|previous|first) (?:question|message)\b|habe ich (?:dich |sie )?(?:gerade |vorhin |zuletzt )?(?:gefragt|gesagt)|\bunser(?:e|em|er)? (?:gespräch|unterhaltung|chat)\b|я (?:только что )?(?:спросил|сказал|спрашивал)|наш(?:ем|его|а|ей)? (?:разговор|бесед)|我(?:刚才|之前)?(?:问|说)了?什么|我们的(?:对话|聊天)/iu;
const MAX_LENGTH = 300;

export function isSmallTalk(question: AskedQuestion): boolean {
  const text = question.text.trim();
  if (text.length > MAX_LENGTH) return false;
  const isCourtesy = question.words.length > 0 && question.words.every(({ text: word }) => COURTESY.has(word));
  return isCourtesy || ABOUT_CHAT.test(text);
}
