/**
 * Masks the API keys of the configuration in texts that a client controls. A configured key can have any format, so it is
 * not recognized by its form.
 */

/** A part of a key is recognized if it has this length and is the start or the end of the key. */
const SECRET_LENGTH = 16;

const ENCODED = /%([0-9a-f]{2})/gi;

/**
 * Returns a function that replaces a text by `…` if the text contains the start or the end of a key. The characters of the
 * key can be percent-encoded, as in a path.
 */
export function configuredKeyMask(keys: readonly string[]): (text: string) => string {
  const parts = keys.flatMap((key) => [key.slice(0, SECRET_LENGTH), key.slice(-SECRET_LENGTH)]);
  return (text) => {
    if (text.length < SECRET_LENGTH || parts.length === 0) return text;
    const decoded = text.replaceAll(ENCODED, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    return parts.some((part) => text.includes(part) || decoded.includes(part)) ? '…' : text;
  };
}
