/** JavaScript as the text of a script element: nothing in it ends the element or begins a comment that hides the rest. */
export function scriptText(code: string): string {
  return code.replace(/<(?=\/script|!--|script)/gi, '\\x3C');
}
