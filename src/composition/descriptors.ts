/** The number of file descriptors that are reserved for the database, the log, threads, a backup or an import. */
const RESERVED = 128;

/**
 * Returns the default of `MAX_CONNECTIONS`, derived from the limit of file descriptors, or `undefined` when there is no
 * limit.
 */
export function connectionsWithinDescriptors(): number | undefined {
  const limit = descriptorLimit();
  return limit === undefined ? undefined : Math.max(limit - RESERVED, Math.floor(limit / 4));
}

/**
 * Returns the limit of file descriptors. Only the diagnostic report of Node.js contains this limit. Without the network
 * section, the report is created in a few milliseconds.
 */
function descriptorLimit(): number | undefined {
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
