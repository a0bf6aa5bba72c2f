// A person with a browser that runs no scripts: reads pages, fills in their forms as they are, and sends them.
import { type Answer, PASSWORD, rawRequest, type Served } from './served.ts';

/** Values of fields; a list is a field that is sent several times. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

interface UploadedFile {
  readonly field: string;
  readonly name: string;
  readonly bytes: Buffer;
}

export interface FormVisitor {
  /** Asks for a page of ours; a redirect is followed. */
  get(path: string): Promise<Answer>;
  /** Presses a button of the page, with these fields instead of the values that the form has; a redirect is followed. */
  press(page: Answer, button: string | RegExp, fields?: Fields): Promise<Answer>;
  /** Sends a form with a file, as a browser does. */
  upload(path: string, fields: Readonly<Record<string, string>>, file: UploadedFile): Promise<Answer>;
  /** Sends any form, with the CSRF token unless it is given. */
  post(path: string, fields: Fields): Promise<Answer>;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

export async function visitorOf({ url }: Served, name: 'anna' | 'ben' | 'ada'): Promise<FormVisitor> {
  const entry = await rawRequest(url, {
    method: 'POST',
    path: '/sign-in',
    headers: { ...FORM, Origin: url },
    body: new URLSearchParams({ name, password: PASSWORD }).toString(),
  });
  const cookie = (entry.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  if (entry.status !== 303 || cookie === '') throw new Error(`signing in as ${name} was answered ${entry.status}`);
  const headers = { Cookie: cookie, Accept: 'text/html' };
  const get = async (path: string): Promise<Answer> => rawRequest(url, { path, headers });
  const csrf = attribute((await get('/')).text, /<input[^>]*name="csrf"[^>]*>/, 'value');

  async function send(path: string, fields: readonly (readonly [string, string])[]): Promise<Answer> {
    const body = new URLSearchParams(fields.map(([key, value]): [string, string] => [key, value])).toString();
    const answer = await rawRequest(url, { method: 'POST', path, headers: { ...headers, ...FORM, Origin: url }, body });
    return answer.status === 303 ? get(answer.headers.get('location') ?? '') : answer;
  }

  return {
    get,
    async upload(path, fields, { field, name: fileName, bytes }) {
      const form = new FormData();
      for (const [key, value] of Object.entries({ csrf, ...fields })) form.append(key, value);
      form.append(field, new Blob([new Uint8Array(bytes)]), fileName);
      const sent = new Response(form);
      const type = sent.headers.get('content-type') ?? '';
      const body = Buffer.from(await sent.arrayBuffer());
      const all = { ...headers, 'Content-Type': type, Origin: url };
      return rawRequest(url, { method: 'POST', path, headers: all, body });
    },
    post: (path, fields) => send(path, listOf({ csrf, ...fields })),
    async press(page, button, fields = {}) {
      for (const [form = '', attributes = '', inside = ''] of page.text.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
        const pressed = [...inside.matchAll(/<button([^>]*)>(.*?)<\/button>/gs)].find(([, , words = '']) =>
          typeof button === 'string' ? decoded(words) === button : button.test(decoded(words)),
        );
        if (pressed === undefined) continue;
        const own = [...fieldsOf(form), ...named(pressed[1] ?? '')].filter(([key]) => !Object.hasOwn(fields, key));
        const [, elsewhere] = /formaction="([^"]*)"/.exec(pressed[1] ?? '') ?? [];
        return send(decoded(elsewhere ?? attribute(attributes, /.*/s, 'action')), [...own, ...listOf(fields)]);
      }
      throw new Error(`the page has no form with the button ${button}: ${page.status} ${page.text}`);
    },
  };
}

const listOf = (fields: Fields): [string, string][] =>
  Object.entries(fields).flatMap(([key, value]) => [value].flat().map((each): [string, string] => [key, each]));

/** What a browser sends for a form that nobody has touched. */
const fieldsOf = (form: string): [string, string][] => [
  ...[...form.matchAll(/<input([^>]*)>/g)].flatMap(([, attributes = '']) => {
    const isBox = /type="(?:checkbox|radio)"/.test(attributes);
    return isBox && !/\bchecked\b/.test(attributes) ? [] : named(attributes);
  }),
  ...selectsOf(form),
  ...[...form.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)].map(
    ([, attributes = '', text = '']): [string, string] => [attribute(attributes, /.*/s, 'name'), decoded(text)],
  ),
];

/** The chosen option of each select, or its first. */
const selectsOf = (form: string): [string, string][] =>
  [...form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)].map(([, attributes = '', inside = '']): [string, string] => {
    const options = [...inside.matchAll(/<option([^>]*)>(.*?)<\/option>/gs)];
    const [, own = '', words = ''] = options.find(([, each = '']) => /\bselected\b/.test(each)) ?? options[0] ?? [];
    const value = /\bvalue="/.test(own) ? attribute(own, /.*/s, 'value') : words;
    return [attribute(attributes, /.*/s, 'name'), decoded(value)];
  });

const named = (attributes: string): [string, string][] => {
  const name = attribute(attributes, /.*/s, 'name');
  return name === '' ? [] : [[name, decoded(attribute(attributes, /.*/s, 'value'))]];
};

function attribute(html: string, within: RegExp, name: string): string {
  const [element = ''] = within.exec(html) ?? [];
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(element)?.[1] ?? '';
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decoded = (html: string): string => html.replace(/&(#?\w+);/g, (_, name: string) => ENTITIES[name] ?? '');

/** The values of the boxes that choose entries, in the order of the list. */
export const boxesOf = ({ text }: Answer): string[] =>
  [...text.matchAll(/<input[^>]*name="entry"[^>]*>/g)].map(([box]) => attribute(box, /.*/s, 'value'));
