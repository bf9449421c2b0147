/** The command line interface. */

export { commandLine, programName } from './command-line.ts';
export type { CliOptions, DoctorReport, RunningService, ServeValues } from './options.ts';
export { consoleOf } from './output/console.ts';
export { runCli } from './program.ts';
