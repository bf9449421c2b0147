/** Returns random bytes as hexadecimal digits. Browsers have no `crypto.randomUUID` in pages that were loaded over plain HTTP. */
export function randomHex(size: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(size));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
