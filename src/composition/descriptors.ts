/** How many file descriptors this process may have open, and what is left of them for connections. */

/** What the process itself needs: the database, its log, threads, the files of a backup or an import. */
const RESERVED = 128;

/** The default of `MAX_CONNECTIONS`; `undefined` where the system has no limit. */
export function connectionsWithinDescriptors(): number | undefined {
  const limit = descriptorLimit();
  return limit === undefined ? undefined : Math.max(limit - RESERVED, Math.floor(limit / 4));
}

/** The report is the only place where Node.js tells it. Without the network part it takes some milliseconds. */
function descriptorLimit(): number | undefined {
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
