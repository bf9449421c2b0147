/** What tests call the storage that is the address of a server, besides `StorageKind`. */
export const SERVER = 'server';
