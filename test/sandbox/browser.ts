// A minimal browser for tests: keeps cookies, sends same-origin forms, and follows no redirects.
import { request } from 'undici';

export interface Shown {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly html: string;
}

export interface Browser {
  open(path: string): Promise<Shown>;
  /** Sends a form. @param headers added to those of a browser on the site's own page; an empty value removes one */
  submit(path: string, fields: Readonly<Record<string, string>>, headers?: Record<string, string>): Promise<Shown>;
}

export function openBrowser(url: string): Browser {
  const jar = new Map<string, string>();
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Shown> => {
    const answer = await request(url + path, {
      method,
      body,
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; '), ...headers },
    });
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return {
      status: answer.statusCode,
      location: answer.headers.location?.toString(),
      cookies,
      headers: answer.headers,
      html: await answer.body.text(),
    };
  };
  return {
    open: (path) => send('GET', path, {}),
    submit: (path, fields, headers = {}) => {
      const all = { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
      return send('POST', path, kept, new URLSearchParams(fields).toString());
    },
  };
}
