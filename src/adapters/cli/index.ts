/** The command line interface. */

export { consoleOf } from './console.ts';
export type { CliOptions, DoctorReport } from './options.ts';
export { runCli } from './program.ts';
