/** The command line interface. */

export { commandLine, programName } from './command-line.ts';
export { consoleOf } from './console.ts';
export type { CliOptions, DoctorReport, RunningService, ServeValues } from './options.ts';
export { runCli } from './program.ts';
