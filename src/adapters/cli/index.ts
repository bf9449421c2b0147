/** The command line interface. */

export type { CliOptions, DoctorReport, RunningService, ServeValues } from './options.ts';
export { consoleOf } from './output/console.ts';
export { runCli } from './program.ts';
