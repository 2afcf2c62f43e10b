/** Facts of a chat template that its text tells. */

const oneByOne = /(?:args|arguments)\s*(?:\|\s*(?:items|dictsort)\b|\.items\(\))/;
const asJson = /(?:args|arguments)\s*\|\s*tojson\b/;
/** Formats of calls in which llama.cpp follows no schema: Gemma 4, Kimi K3, MiniMax M3, LFM2, MiniCPM5 and one more. */
const freeMarks = [
  '<|tool_call>call:',
  '<|open|>',
  ']<]minimax[>[',
  'List of tools: [',
  '<param name="',
  '<atem:function_calls>',
];

/** How a template writes arguments of calls, as ModelInfo has it of a loaded model, which knows for certain. */
export function callArgumentsOf(template: string): 'json' | 'tagged' | 'free' {
  if (freeMarks.some((mark) => template.includes(mark))) return 'free';
  return oneByOne.test(template) && !asJson.test(template) ? 'tagged' : 'json';
}
