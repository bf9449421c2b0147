/** Returns a JavaScript string literal, in single quotes when the text needs no escape. */
export function quote(text: string): string {
  return /^[^'\\\p{Cc}\p{Cs}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}
