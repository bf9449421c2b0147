/** Text that came from outside, as a person may see it. */

/** Control characters, marks that change the direction of writing, separators of lines, halves of surrogate pairs. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Shows what a terminal would obey as an escape of JSON, such as `\u001b`. Within JSON it still means the same. */
export function visible(text: string): string {
  return text.replaceAll(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Like {@link visible}, but leaves the ends of lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}
