/** Whether an answer says that the documents do not tell: "That is not in the passages." */
const DOCUMENTS = '(?:passages?|documents?|texts?|sources?|context|knowledge base|excerpts?|information)';
const DOKUMENTE = String.raw`(?:passagen?|dokument\p{L}*|text\p{L}*|quellen?|unterlagen|kontext\p{L}*|wissensdatenbank|auszüge\p{L}*|abschnitt\p{L}*)`;

const DENIALS = [
  String.raw`\b${DOCUMENTS}\b[^.!?\n]{0,50}\b(?:do|does|did|is|are|was|were|has|have|can|could)(?:\s+not|n['’]t)\b`,
  String.raw`\bno (?:information|mention|passage|document|answer)\b|\bnone of the ${DOCUMENTS}`,
  String.raw`\b(?:not|nothing|n['’]t)\b[^.!?\n]{0,40}\b(?:in|from|by) (?:the|these|any) ${DOCUMENTS}`,
  String.raw`\b(?:is|are|was|were)(?:\s+not|n['’]t) (?:mentioned|stated|specified|given|provided|told|disclosed|answered)\b`,
  String.raw`\bI (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:know|find|tell|answer|say)\b`,
  String.raw`(?<!\p{L})${DOKUMENTE}(?!\p{L})[^.!?\n]{0,50}(?<!\p{L})(?:nicht|nichts|kein\p{L}*)(?!\p{L})`,
  String.raw`(?<!\p{L})(?:nicht|nichts|kein\p{L}*)(?!\p{L})[^.!?\n]{0,40}(?<!\p{L})(?:${DOKUMENTE}|informationen|angaben?|erwähnt|angegeben|bekannt|enthalten)(?!\p{L})`,
  String.raw`\bich (?:weiß|kann)\b[^.!?\n]{0,40}\bnicht\b`,
  String.raw`\b(?:passages?|documents?|textes?|extraits?)\b[^.!?\n]{0,50}\b(?:ne|n['’])[^.!?\n]{0,30}\bpas\b`,
  String.raw`\bno\b[^.!?\n]{0,40}\b(?:documentos?|textos?|pasajes?|fragmentos?)\b|\b(?:documentos?|textos?|pasajes?)\b[^.!?\n]{0,40}\bno\b`,
  String.raw`\bnon\b[^.!?\n]{0,40}\b(?:documenti|testo|testi|passaggi)\b|\b(?:documenti|testi|passaggi)\b[^.!?\n]{0,40}\bnon\b`,
  String.raw`(?:документ|текст|отрыв|фрагмент|источник)\p{L}*[^.!?\n]{0,50}(?<!\p{L})(?:не|нет|ничего)(?!\p{L})`,
  String.raw`(?<!\p{L})(?:не|нет|ничего)(?!\p{L})[^.!?\n]{0,40}(?:документ|текст|отрыв|фрагмент|указан|упомина|информаци)`,
  String.raw`(?:文档|文件|段落|文本|资料|原文)[^。！？\n]{0,20}(?:没有|未|不|无)|(?:没有|未)(?:提到|提及|说明|找到)`,
].map((source) => new RegExp(source, 'iu'));

/** Of a longer answer, the beginning; who denies says so at once. */
const MAX_LENGTH = 2_000;

export function denies(answer: string): boolean {
  const text = answer.slice(0, MAX_LENGTH);
  return DENIALS.some((denial) => denial.test(text));
}
