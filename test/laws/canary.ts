// Finds secrets in every form that they may take: plain, Base64 and URL-encoded, alone or inside a longer text.

/** One find, for people: the form, the place and the surrounding text. */
export interface Find {
  readonly where: string;
  readonly form: string;
  readonly around: string;
}

/** So many characters of a form are searched first: forms of several secrets begin alike. */
const BEGINNING = 6;

/** Searches bytes for secrets. The forms are listed here again, so that the code that removes secrets does not check itself. */
export function canarySearch(...secrets: readonly string[]): (where: string, content: string | Buffer) => Find[] {
  const forms = secrets.flatMap(formsOf);
  const beginnings = [...new Set(forms.map(({ text }) => text.slice(0, BEGINNING)))];
  return (where, content) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const begun = beginnings.filter((beginning) => bytes.includes(beginning));
    const possible = forms.filter(({ text }) => begun.some((beginning) => text.startsWith(beginning)));
    return possible.flatMap(({ name, text }) => {
      const at = bytes.indexOf(text);
      if (at === -1) return [];
      const around = bytes.subarray(Math.max(0, at - 60), at + text.length + 20).toString('latin1');
      return [{ where, form: name, around }];
    });
  };
}

function formsOf(secret: string): { name: string; text: string }[] {
  const plain = [
    ['plain', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in XML', secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (octet) => octet.toLowerCase())],
    ['form-encoded', new URLSearchParams({ x: secret }).toString().slice(2)],
    ['Base64', Buffer.from(secret).toString('base64')],
    ['Base64 of Basic credentials', Buffer.from(`${secret}:X`).toString('base64')],
    ['hexadecimal', Buffer.from(secret).toString('hex')],
  ] as const;
  // In the Base64 of a longer text the secret can start at one of three offsets in a group of three bytes; the characters
  // at its ends also hold bits of its neighbours.
  const inner = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
      .toString('base64')
      .replace(/=+$/, '');
    return [`Base64 after ${offset} bytes`, text.slice(offset === 0 ? 0 : offset + 1, -1)] as const;
  });
  const forms = [...plain, ...inner].flatMap(([name, text]) => [
    { name, text },
    { name: `${name}, for URLs`, text: text.replaceAll('+', '-').replaceAll('/', '_') },
  ]);
  return forms.filter(({ text }, at) => forms.findIndex((form) => form.text === text) === at);
}
