// Separates an address from the secrets in it and in headers: the configuration names environment variables instead.
import { relative, resolve } from 'node:path';
import { makeCredentials } from '../config/build/credentials.ts';
import { makeSingleConfig } from '../config/build/source-config.ts';
import { fillText } from '../config/environment.ts';
import { isAddress } from '../config/include.ts';
import type { SecretSettings } from '../config/read-secret.ts';
import { Secret } from '../config/read-secret.ts';
import { feedSchema, isSecretHeader } from '../config/schema/feed-schema.ts';
import type { InitAnswer, InitContext, SchemeSource } from '../config/scheme-sources.ts';
import { SCHEMES, schemeSourceOf } from '../config/scheme-sources.ts';
import { isSecretParameter, publicAddress, type SingleConfig } from '../feed/source/sources.ts';
import type { ProxySettings } from '../flow/proxy.ts';
import { formatFrom } from './preset-fit.ts';

/** How a source is reached: in the configuration, and now. */
export interface FeedAccess {
  /** For the configuration. */
  readonly source: string;
  /** Settings of the feed: headers and credentials. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Environment variables that the settings name, with the values that the person gave now. */
  readonly secrets: Readonly<Record<string, string>>;
  /** For reading it now. */
  readonly from: SingleConfig;
}

/** The address cannot be read: the message says why, and what is missing. */
export class AccessRefused extends Error {}

interface AccessOptions {
  readonly headers: readonly string[];
  /** Of the feed, for the names of variables. */
  readonly name: string;
  /** Of the configuration file. */
  readonly folder: string;
  /** Those of `init`, for sources with a scheme of their own. */
  readonly options: Readonly<Record<string, unknown>>;
  /** To web addresses; absent: directly. */
  readonly proxy?: ProxySettings | undefined;
}

/** @throws {AccessRefused} */
export async function readFeedAccess(
  address: string,
  { headers, name, folder, options, proxy }: AccessOptions,
): Promise<FeedAccess> {
  const prefix = name.toUpperCase().replaceAll('-', '_');
  const own = schemeSourceOf(address);
  if (own !== undefined) return schemeAccess(own, address, options, { prefix, folder, env: process.env });
  if (isAddress(address)) return webAccess(address, headers, prefix, proxy);
  const path = resolve(address);
  const short = relative(folder, path);
  return { source: short.startsWith('..') ? path : short, settings: {}, secrets: {}, from: { kind: 'file', path } };
}

/** Throws an `AccessRefused` that names everything that is missing. */
async function schemeAccess(
  { scheme, init }: SchemeSource,
  address: string,
  options: Readonly<Record<string, unknown>>,
  context: InitContext,
): Promise<FeedAccess> {
  if (!URL.canParse(address)) throw new AccessRefused(`${withoutSecrets(address)} is no address that can be read`);
  const answer = init.propose(address, options, context);
  const missing = answer.missing.filter((each) => each !== false);
  if (missing.length > 0) throw new AccessRefused(`init needs ${missing.join('; and ')}`);
  const { source, secrets, written } = answer;
  return {
    source,
    settings: { credentials: { [scheme]: written } },
    secrets,
    from: await openNow(scheme, answer, context),
  };
}

/** Makes the source as the loaded configuration would. */
async function openNow(
  scheme: string,
  { source, written, now, secrets }: InitAnswer,
  { folder, env }: InitContext,
): Promise<SingleConfig> {
  const complaints: string[] = [];
  const credentials = { [scheme]: { ...written, ...now } };
  const parsed = feedSchema.safeParse({ source, credentials, format: 'any', site: 'any' });
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) complaints.push(`${path.join('.')}: ${message}`);
  } else {
    const complain = (path: readonly string[], message: string) =>
      void complaints.push(`${path.join('.')}: ${message}`);
    const around: SecretSettings = {
      env: { ...env, ...secrets },
      folder,
      setting: 'credentials',
      complain,
      warn: () => undefined,
      absent(path, message) {
        if (message !== undefined) complain(path, message);
        return undefined;
      },
    };
    const made = parsed.data.credentials && (await makeCredentials(parsed.data.credentials, around));
    const format = formatFrom({ type: 'xml', records: 'any', key: 'any', fields: {} });
    if (complaints.length === 0)
      return makeSingleConfig(source, { ...around, name: 'any', feed: parsed.data, format, credentials: made, env });
  }
  throw new AccessRefused(`the feed cannot be read: ${complaints.join('; ')}`);
}

function webAccess(
  address: string,
  headers: readonly string[],
  prefix: string,
  proxy: ProxySettings | undefined,
): FeedAccess {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) {
    throw new AccessRefused(
      `${withoutSecrets(address)} is no address or file that can be read; use http, https, ${SCHEMES.join(' and ')} addresses, files, and - for standard input`,
    );
  }
  const url = new URL(address);
  const secrets: Record<string, string> = {};
  const credentials: Record<string, unknown> = {};
  const login =
    url.username === '' && url.password === ''
      ? undefined
      : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  if (login !== undefined) {
    secrets[`${prefix}_PASSWORD`] = login.password;
    credentials.basic = { user: login.user, password: `\${${prefix}_PASSWORD}` };
    url.username = '';
    url.password = '';
  }
  const { search, query } = queryAccess(url.search, prefix, secrets);
  if (query !== undefined) credentials.query = query;
  url.search = '';
  const written = Object.fromEntries(headers.map(readHeader));
  return {
    // Not by `url.search`, which would encode the braces of variables.
    source: `${url.href.replace(url.hash, '')}${search}${url.hash}`,
    settings: {
      ...(headers.length === 0 ? {} : { headers: written }),
      ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
    },
    secrets,
    from: {
      kind: 'http',
      url: address.replace(/^(https?:\/\/)[^/@]*@/i, '$1'),
      publicAddress: publicAddress(address),
      headers: sentHeaders(written, login),
      proxy,
      accept: 'application/json, application/xml;q=0.9, text/csv;q=0.9, */*;q=0.8',
      maxRedirects: 5,
      allowPrivateRedirects: false,
    },
  };
}

/**
 * The first secret parameter becomes the feed's key. Any other stays in the address, as the variable that holds its text
 * as the address has it. Adds the variables to `secrets`.
 */
function queryAccess(
  search: string,
  prefix: string,
  secrets: Record<string, string>,
): { readonly search: string; readonly query: object | undefined } {
  let query: object | undefined;
  const kept = search.slice(1).split('&').filter(Boolean);
  const written = kept.flatMap((parameter) => {
    const [[name = '', value = ''] = []] = new URLSearchParams(parameter);
    if (value === '' || !isSecretParameter(name)) return [parameter];
    if (query === undefined) {
      secrets[`${prefix}_KEY`] = value;
      query = { name, value: `\${${prefix}_KEY}` };
      return [];
    }
    const [written = ''] = parameter.split('=', 1);
    const variable = freeVariable(`${prefix}_${name.toUpperCase().replace(/\W+/g, '_')}`, secrets);
    secrets[variable] = parameter.slice(written.length + 1);
    return [`${written}=\${${variable}}`];
  });
  return { search: written.length === 0 ? '' : `?${written.join('&')}`, query };
}

function freeVariable(name: string, taken: Readonly<Record<string, string>>): string {
  let free = name;
  for (let nth = 2; free in taken; nth++) free = `${name}_${nth}`;
  return free;
}

/** The headers as they are sent, with the values of the variables. */
function sentHeaders(
  written: Readonly<Record<string, string>>,
  login: { readonly user: string; readonly password: string } | undefined,
): Readonly<Record<string, Secret>> {
  const texts = Object.entries(written).map(([header, text]) => [header, fillText(text, process.env)] as const);
  const basic = login === undefined ? '' : Buffer.from(`${login.user}:${login.password}`).toString('base64');
  const all = login === undefined ? texts : [...texts, ['Authorization', `Basic ${basic}`] as const];
  return Object.fromEntries(all.map(([header, text]) => [header, new Secret(text)]));
}

/** Without user, password and query. */
const withoutSecrets = (address: string): string => (address.split('?')[0] ?? '').replace(/\/\/[^/]*@/, '//');

function readHeader(text: string): readonly [string, string] {
  const [, header = '', value = ''] = /^([^:\s]+):\s*(.+)$/.exec(text) ?? [];
  if (header === '') throw new AccessRefused(`"${text}" is not a header; write 'Name: value'`);
  if (isSecretHeader(header) && !value.includes(`\${`)) {
    throw new AccessRefused(
      `the header ${header} is a secret, which does not belong in a configuration: put it into an environment variable, and write --header '${header}: \${NAME}'`,
    );
  }
  return [header, value];
}
