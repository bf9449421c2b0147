import type { Diagnosis, Problem } from '../../application/ports/maintenance.ts';

/** What `doctor` has found out. */
export interface DoctorReport {
  /** The version of Node.js, such as `v26.0.0`. */
  readonly node: string;
  /** The limit of open file descriptors, or `undefined` if the limit is unknown. */
  readonly fileDescriptors: number | undefined;
  /** The setting that selects the database, or `undefined` if the setting is invalid. */
  readonly source: string | undefined;
  readonly scheme: string | undefined;
  /** The facts about the database, or `undefined` if the setting of the database is invalid. */
  readonly database: Diagnosis | undefined;
  /** All problems, including those of the database. */
  readonly problems: readonly Problem[];
}
