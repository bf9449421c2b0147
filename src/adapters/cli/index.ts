/** The command line interface. */

export { consoleOf } from './console.ts';
export type { CliOptions, DoctorReport, RunningService, ServeValues } from './options.ts';
export { runCli } from './program.ts';
