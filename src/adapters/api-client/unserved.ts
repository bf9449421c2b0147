/** The message of the error when a server does not serve the operations that change pets and list changes. */
export const NOT_SERVED =
  'this address serves no changes: correct it, or start the server with EXPERIMENTAL=on';
