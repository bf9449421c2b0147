/** The message of the error when a server does not serve the operations that change pets and list changes. */
export const NOT_SERVED = 'the server does not serve changes, start it with EXPERIMENTAL=on';
