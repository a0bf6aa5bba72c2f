// Maps a method and path to an operation of site-interface.md, section 4.

/** The operations of the interface, in the order of its table. */
export const operations = ['show', 'create', 'update', 'delete', 'list'] as const;
export type Operation = (typeof operations)[number];

const oneJob = /^\/jobs\/[^/]+$/;

/**
 * The operation of a request.
 * @param path without the extension `.xml`
 * @returns `undefined` for anything else, such as the form of a new job
 */
export function operationOf(method: string, path: string): Operation | undefined {
  if (path === '/jobs/new') return undefined;
  if (method === 'GET' || method === 'HEAD') return oneJob.test(path) ? 'show' : 'list';
  if (method === 'POST') return path === '/jobs' ? 'create' : undefined;
  if (!oneJob.test(path)) return undefined;
  return method === 'PUT' || method === 'PATCH' ? 'update' : method === 'DELETE' ? 'delete' : undefined;
}
