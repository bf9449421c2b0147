/** The command line interface. */

export { consoleOf } from './console.ts';
export type { DoctorReport } from './doctor-report.ts';
export type { CliOptions } from './options.ts';
export { runCli } from './program.ts';
