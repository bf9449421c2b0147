/** What the threads of a process that share a port need: loading this module loads no Koa. */

export { lockPort, refuseUsedPort } from './listeners.ts';
