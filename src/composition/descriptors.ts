/** The file descriptors for the database, the log, threads, a backup and an import. */
const RESERVED = 128;

/** For each thread that handles requests but the first. */
const RESERVED_BY_THREAD = 16;

/** Returns the default of `MAX_CONNECTIONS`, if there is a limit of file descriptors and it is known. */
export function connectionsWithin(limit: number | undefined, threads: number): number | undefined {
  const reserved = RESERVED + RESERVED_BY_THREAD * (threads - 1);
  return limit === undefined ? undefined : Math.max(limit - reserved, Math.floor(limit / 4));
}

/** In Node.js, only the diagnostic report has this number. Its network section would take long. */
export function descriptorLimit(): number | undefined {
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
