/**
 * The number of file descriptors that are not used for connections, but for the database, the log, threads, a backup
 * and an import.
 */
const RESERVED = 128;

/**
 * Returns the default of `MAX_CONNECTIONS`, derived from the limit of file descriptors. Returns `undefined` when there
 * is no limit, or the limit is unknown.
 */
export function connectionsWithinDescriptors(): number | undefined {
  const limit = descriptorLimit();
  return limit === undefined ? undefined : Math.max(limit - RESERVED, Math.floor(limit / 4));
}

/**
 * Returns the limit of file descriptors. In Node.js, only the diagnostic report contains this limit. Without its
 * network section, the report is created in a few milliseconds.
 */
function descriptorLimit(): number | undefined {
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
