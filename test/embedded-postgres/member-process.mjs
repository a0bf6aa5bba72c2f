// A process that uses the embedded server, compiled: joins, reports to its parent, and leaves on request.
// Arguments: the data folder, and the options as JSON.
import { openEmbeddedServer } from '../../dist/src/embedded-postgres/server.js';

const [dataDir = '', options = '{}'] = process.argv.slice(2);
const tell = (message) => process.send?.(message);
const onNotice = (text) => tell({ kind: 'notice', text });

try {
  const server = await openEmbeddedServer(dataDir, { ...JSON.parse(options), onNotice });
  tell({ kind: 'joined', url: server.url() });
  process.on('message', async () => {
    await server.leave();
    tell({ kind: 'left' });
    process.disconnect();
  });
} catch (error) {
  tell({ kind: 'failed', message: error.message });
  process.disconnect();
}
