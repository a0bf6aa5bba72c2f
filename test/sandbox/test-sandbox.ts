// Gives a test file a sandbox on its own database, and an HTTP client for it.
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { parseXml, type XmlElement } from '../../src/sandbox/interface/xml-app.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTestDatabase } from '../support/database.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Sending {
  /** Absent: no credentials. */
  readonly token?: string;
  readonly password?: string;
  readonly body?: string | Buffer | Readable;
  /** Default: `application/xml` if there is a body. */
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

export interface TestSandbox {
  readonly sandbox: Sandbox;
  readonly databaseUrl: string;
  /** The token of ann@example.com, whose password is `correct horse`. */
  readonly token: string;
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
  /** Creates a job as ann and returns its ID. */
  create(fields: Readonly<Record<string, string>>): Promise<string>;
  end(): Promise<void>;
}

export const basic = (token: string, password = 'X'): string =>
  `Basic ${Buffer.from(`${token}:${password}`).toString('base64')}`;

/** A job's XML; the values are XML already. */
export const jobOf = (fields: Readonly<Record<string, string>>): string =>
  `<job>${Object.entries(fields)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('')}</job>`;

/** A job that the sandbox accepts. */
export const nurse = { title: 'Nurse', 'location-state': 'Ohio' };

/** The text of a child element. */
export const textOf = (parent: XmlElement, name: string): string | undefined =>
  parent.children.find((child) => child.name === name)?.text;

/** The root element of a response, which must be well-formed. */
export const rootOf = (answer: Answer): XmlElement => parseXml(answer.text);

export async function openTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const database = await createTestDatabase({ empty: true });
  const sandbox = await startSandbox({ databaseUrl: database.url, connections: 4, ...options });
  const { token } = await sandbox.ensureUser('ann@example.com', 'correct horse');
  const dispatcher = new Agent();
  const send: TestSandbox['send'] = async (method, path, sending = {}) => {
    const { headers, statusCode, body } = await request(sandbox.url + path, {
      dispatcher,
      method: method as Dispatcher.HttpMethod,
      body: sending.body,
      headersTimeout: sending.timeoutMs ?? 20_000,
      headers: {
        ...(sending.token === undefined ? {} : { authorization: basic(sending.token, sending.password) }),
        ...(sending.body === undefined ? {} : { 'content-type': sending.type ?? 'application/xml' }),
        ...sending.headers,
      },
    });
    return { status: statusCode, headers, text: await body.text() };
  };
  return {
    sandbox,
    databaseUrl: database.url,
    token,
    send,
    async create(fields) {
      const answer = await send('POST', '/jobs.xml', { token, body: jobOf(fields) });
      if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`);
      return String(answer.headers.location).replace(/^.*\//, '');
    },
    async end() {
      await dispatcher.destroy();
      await sandbox.close();
      await database.drop();
    },
  };
}
