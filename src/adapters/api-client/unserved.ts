/** The fault of a server that does not serve changes. */
export const NOT_SERVED = 'the server does not serve changes: start it with EXPERIMENTAL=on';
