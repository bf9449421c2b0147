import { createServer } from 'node:http';

/**
 * Starts an HTTP server on a free port.
 *
 * @param {import('node:http').RequestListener} listener
 * @returns {Promise<{ origin: string, stop: () => Promise<void> }>}
 */
export async function startListener(listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}
