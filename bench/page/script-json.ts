/** JSON that cannot end the script element around it, whatever strings it holds. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c');
}
