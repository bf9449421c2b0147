/** The name in tests for the storage behind the address of a server, which is no `StorageKind`. */
export const SERVER = 'server';
