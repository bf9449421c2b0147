/** Sets the window title, changes colours, deletes, changes the writing direction, moves the cursor, ends a line. */
export const EVIL = '\u001b]0;x\u0007\u009b31m\u007f\u202e\u2066\u061c\r\b\t\u2028\u0000';

/** The first and last code unit of each range. The line feed and complete surrogate pairs are safe. */
const UNSAFE = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
  [0xd800, 0xdfff],
] as const;

export function hasUnsafe(text: string): boolean {
  return Array.from(text).some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return UNSAFE.some(([first, last]) => first <= code && code <= last);
  });
}
