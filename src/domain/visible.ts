/** Matches control characters, bidirectional formatting characters, line separators and lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Escapes unsafe characters as JSON does, because a terminal would execute control sequences in untrusted text. */
export function visible(text: string): string {
  return text.replaceAll(UNSAFE, (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like {@link visible}, but keeps line feeds. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}
