/** The configuration files of Patroni and HAProxy. */

/** A PostgreSQL server and the Patroni process that manages it. */
export interface Node {
  readonly name: string;
  readonly folder: string;
  /** The port of PostgreSQL, and the port of the REST API of Patroni. */
  readonly port: number;
  readonly apiPort: number;
}

/**
 * A failover starts when the leader has not renewed its lock for `ttl` seconds. These are the smallest values that
 * Patroni documents.
 */
const TIMES = { ttl: 20, loop_wait: 2, retry_timeout: 3 };

/** Returns the configuration of Patroni on a node, in JSON, which is a subset of YAML. */
export function patroniConfiguration(
  { name, folder, port, apiPort }: Node,
  etcdPort: number,
  programs: string,
): string {
  const user = { username: 'postgres', password: 'unused' };
  return JSON.stringify({
    scope: 'pets',
    name,
    restapi: { listen: address(apiPort), connect_address: address(apiPort) },
    etcd3: { host: address(etcdPort) },
    bootstrap: {
      dcs: {
        ...TIMES,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: { synchronous_commit: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: address(port),
      connect_address: address(port),
      data_dir: `${folder}/data`,
      bin_dir: programs,
      pgpass: `${folder}/pgpass`,
      authentication: { superuser: user, replication: user, rewind: user },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      parameters: {
        unix_socket_directories: folder,
        shared_buffers: '16MB',
        // A server that was killed leaves shared memory behind, which is then in the folder too.
        dynamic_shared_memory_type: 'mmap',
        timezone: 'UTC',
      },
    },
  });
}

/**
 * Returns the configuration of HAProxy, which connects clients to the node that Patroni calls the primary, and closes
 * the connections to a node that no longer is the primary.
 */
export function haproxyConfiguration(port: number, nodes: readonly Node[]): string {
  const servers = nodes.map(
    ({ name, port, apiPort }) => `  server ${name} ${address(port)} check port ${apiPort}`,
  );
  return `global
  maxconn 200
defaults
  mode tcp
  timeout connect 1s
  timeout client 30m
  timeout server 30m
listen primary
  bind ${address(port)}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

function address(port: number): string {
  return `127.0.0.1:${port}`;
}
